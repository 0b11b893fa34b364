/** A file of a kind, for doubles that are not told more. */
import { digest } from '../../examples/seed.ts';
import type { MediaKind } from '../../upstream/media/type.ts';
import { type FilePlan, filePath, makeFile } from './index.ts';

const plans: Readonly<Record<MediaKind, (seed: string) => FilePlan>> = {
  image: (seed) => ({ kind: 'picture', seed, width: 640, height: 480, label: 'sandbox', format: 'png' }),
  audio: (seed) => ({ kind: 'sound', seed, seconds: 2, format: 'mp3', sampleRate: 22_050 }),
  video: () => ({ kind: 'clip', seconds: 2, ratio: 16 / 9 }),
  document: (seed) => ({ kind: 'document', text: `sandbox ${seed}` }),
};

/** The same for the same seed. */
export async function sampleFile(kind: MediaKind, seed: string): Promise<{ bytes: Buffer; type: string }> {
  const file = await makeFile(filePath(plans[kind](digest(seed))));
  if (file === undefined) throw new Error(`no file of the kind ${kind} can be made`);
  return file;
}
