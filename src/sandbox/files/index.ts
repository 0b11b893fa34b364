/** Files that doubles hand out. An address says what the file is; the file is made when somebody asks for it. */
import { type Clip, makeClip } from './mp4.ts';
import { type PdfDocument, writePdf } from './pdf.ts';
import { drawPicture, type Picture } from './png.ts';
import { makeSound, type Sound } from './sound.ts';

export type FilePlan =
  | ({ kind: 'picture' } & Picture)
  | ({ kind: 'clip' } & Clip)
  | ({ kind: 'sound' } & Sound)
  | ({ kind: 'document' } & PdfDocument);

const LARGEST_SIDE = 4096;
const LONGEST_SECONDS = 600;

function extensionOf(plan: FilePlan): string {
  if (plan.kind === 'clip') return 'mp4';
  return plan.kind === 'document' ? 'pdf' : plan.format;
}

/** The path below a double's mount: `/files/<plan>.png`. */
export const filePath = (plan: FilePlan): string =>
  `/files/${Buffer.from(JSON.stringify(plan)).toString('base64url')}.${extensionOf(plan)}`;

/** The file that a path stands for, or undefined where it stands for none. */
export async function makeFile(path: string): Promise<{ bytes: Buffer; type: string } | undefined> {
  const match = /^\/files\/([\w-]+)\.(png|jpg|webp|mp4|mp3|wav|pdf)$/.exec(path);
  const type = types[match?.[2] ?? ''];
  if (match?.[1] === undefined || type === undefined) return undefined;
  const plan = JSON.parse(Buffer.from(match[1], 'base64url').toString('utf8')) as FilePlan;
  return { bytes: await make(plan), type };
}

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp4: 'video/mp4',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  pdf: 'application/pdf',
};

async function make(plan: FilePlan): Promise<Buffer> {
  switch (plan.kind) {
    case 'picture':
      return await drawPicture({
        ...plan,
        width: within(plan.width, LARGEST_SIDE),
        height: within(plan.height, LARGEST_SIDE),
      });
    case 'clip':
      return await makeClip({ ...plan, seconds: within(plan.seconds, LONGEST_SECONDS) });
    case 'sound':
      return await makeSound({ ...plan, seconds: within(plan.seconds, LONGEST_SECONDS) });
    case 'document':
      return writePdf(plan);
  }
}

const within = (value: number, most: number): number => Math.min(Math.max(value, 1), most);

/** `16:9` as width / height; a square for named ratios such as `auto`. */
export function ratioOf(aspectRatio: unknown): number {
  const match = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(String(aspectRatio));
  const ratio = Number(match?.[1]) / Number(match?.[2]);
  return Number.isFinite(ratio) && ratio > 0 ? ratio : 1;
}
