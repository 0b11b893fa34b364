/** What every media store promises. */
import type { Test } from 'tap';
import { filePath, makeFile } from '../../../src/sandbox/files/index.ts';
import { type Downloader, openDownloader } from '../../../src/upstream/http/download.ts';
import type { MediaStore } from '../../../src/upstream/media/store.ts';
import { deadlinesOf } from '../../deadlines.ts';
import { serve } from '../http/weather.ts';
import { problemOf } from '../providers/contract.ts';

interface OpenedMediaStore {
  store: MediaStore;
  publicUrl: string;
  /** The bytes that are kept under a name, or undefined. */
  read(name: string): Promise<Buffer | undefined>;
}

const picture = { kind: 'picture', seed: 'contract', width: 64, height: 48, label: 'contract', format: 'png' } as const;

export async function png(): Promise<Buffer> {
  const file = await makeFile(filePath(picture));
  if (file === undefined) throw new Error('no picture');
  return file.bytes;
}

export function mediaContract(t: Test, open: (t: Test, downloads: Downloader) => Promise<OpenedMediaStore>): void {
  const opened = async (t: Test, trustedOrigins: string[] = []) => {
    const downloads = openDownloader({ trustedOrigins });
    t.teardown(() => downloads.close());
    return await open(t, downloads);
  };

  t.test('keeps bytes under a name made of them, at a public address', async (t) => {
    const { store, publicUrl, read } = await opened(t);
    const bytes = await png();
    const stored = await store.put(bytes, 'image');
    t.match(stored.url, new RegExp(`^${publicUrl}/[0-9a-f]{32}\\.png$`));
    t.equal(stored.type, 'image/png');
    t.same(await read(stored.url.slice(publicUrl.length + 1)), bytes);
    t.equal((await store.put(bytes, 'image')).url, stored.url, 'the same bytes have the same address');
  });

  t.test('keeps the same bytes from many callers at once', async (t) => {
    const { store, publicUrl, read } = await opened(t);
    const bytes = await png();
    const all = await Promise.all(Array.from({ length: 10 }, () => store.put(bytes, 'image')));
    t.equal(new Set(all.map(({ url }) => url)).size, 1);
    t.same(await read(String(all[0]?.url.slice(publicUrl.length + 1))), bytes);
  });

  t.test('goes by the bytes, not by what they are called', async (t) => {
    const { store } = await opened(t);
    t.match(await problemOf(store.put(await png(), 'video')), { failure: 'malformed' });
    t.match(await problemOf(store.put(Buffer.from('<html>Sorry</html>'), 'image')), { failure: 'malformed' });
    t.match(await problemOf(store.put(Buffer.alloc(0), 'audio')), { failure: 'malformed' });
  });

  t.test('copies a file that an upstream handed out', async (t) => {
    const bytes = await png();
    const { origin } = await serve(t, (_request, response) => response.end(bytes));
    const { signal } = new AbortController();

    const { store } = await opened(t, [origin]);
    t.same((await store.copy(`${origin}/a`, 'image', { upstream: 'painter', signal })).bytes, bytes);
    const refused = problemOf(store.copy('https://10.0.0.1/a', 'image', { upstream: 'painter', signal }));
    t.match(await refused, { failure: 'malformed', upstream: 'painter' });
  });

  t.test('copies a file whose server fails now and then, and gives up one that is gone', async (t) => {
    const bytes = await png();
    const { origin } = await serve(t, (request, response, asked) => {
      if (request.url === '/gone') response.writeHead(404).end();
      else if (asked === 1) request.destroy();
      else if (asked === 2) response.writeHead(503).end();
      else response.end(bytes);
    });
    const { signal } = new AbortController();

    const { store } = await opened(t, [origin]);
    t.same((await store.copy(`${origin}/a`, 'image', { upstream: 'painter', signal })).bytes, bytes);
    const gone = problemOf(store.copy(`${origin}/gone`, 'image', { upstream: 'painter', signal }));
    t.match(await gone, { failure: 'failed', upstream: 'painter' });
  });

  t.test('copies a file once more where nothing comes on a connection that nobody has closed', async (t) => {
    const pass = deadlinesOf(t, 15_000, 30_000);
    const bytes = await png();
    const { origin } = await serve(t, (_request, response, asked) => {
      if (asked === 3) return response.end(bytes);
      if (asked === 2) response.writeHead(200).write(bytes.subarray(0, 99));
      pass();
    });
    const { signal } = new AbortController();

    const { store } = await opened(t, [origin]);
    t.same((await store.copy(`${origin}/a`, 'image', { upstream: 'painter', signal })).bytes, bytes);
  });
}
