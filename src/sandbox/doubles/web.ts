/** Stands in for the web: the sandbox reads callers' files here, whatever host they name. Equal addresses hold equal files. */
import { digest } from '../../examples/seed.ts';
import { type FilePlan, filePath, makeFile } from '../files/index.ts';
import { type DoubleAnswer, jsonAnswer } from './double.ts';

/** What the double is mounted as; no upstream has such a name. */
export const WEB_MOUNT = '~web';

/** Where the double keeps the file that is at `url` on the web. */
export const webPath = ({ host, pathname, search }: URL): string => `/${WEB_MOUNT}/${host}${pathname}${search}`;

/** Where a server that means harm would send the gateway: a cloud's metadata service. */
const PRIVATE_ADDRESS = 'https://169.254.169.254/latest/meta-data';

/**
 * A picture, a sound, a clip or a PDF, by the path's extension; a page for other extensions, a picture for none. Paths that
 * contain `missing` are 404, those that contain `redirect-to-private` lead to a private address, and sounds whose paths
 * contain `too-long` play for longer than three minutes.
 */
export async function answerWeb(path: string): Promise<DoubleAnswer> {
  if (path.includes('missing')) return jsonAnswer(404, { error: 'no such file' });
  if (path.includes('redirect-to-private')) return { status: 302, headers: { location: PRIVATE_ADDRESS }, body: '' };
  const plan = planOf(path);
  const file = plan && (await makeFile(filePath(plan)));
  if (!file) return { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>A page</p>' };
  return { status: 200, headers: { 'content-type': file.type }, body: file.bytes };
}

function planOf(path: string): FilePlan | undefined {
  const seed = digest(path);
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? 'png';
  switch (extension) {
    case 'png':
    case 'webp':
      return { kind: 'picture', seed, width: 640, height: 480, label: path, format: extension };
    case 'jpg':
    case 'jpeg':
      return { kind: 'picture', seed, width: 640, height: 480, label: path, format: 'jpg' };
    case 'mp3':
    case 'wav':
      return {
        kind: 'sound',
        seed,
        seconds: path.includes('too-long') ? 200 : 4,
        format: extension,
        sampleRate: 22_050,
      };
    case 'mp4':
      return { kind: 'clip', seconds: 4, ratio: 16 / 9 };
    case 'pdf':
      return { kind: 'document', text: path };
    default:
      return undefined;
  }
}
