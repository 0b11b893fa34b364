import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { openDownloader } from '../../../src/upstream/http/download.ts';
import { openDirectoryMediaStore, serveMedia } from '../../../src/upstream/media/directory.ts';
import { MediaNotStored, openMediaStore } from '../../../src/upstream/media/store.ts';
import { endingPauses } from '../../pauses.ts';
import { mediaContract, png } from './store-contract.ts';

t.test('the directory keeps the contract', (t) => {
  mediaContract(t, async (t, downloads) => {
    const directory = path.join(t.testdir(), 'made', 'on', 'demand');
    const publicUrl = 'https://gateway.example/media';
    return {
      store: openDirectoryMediaStore({ directory, publicUrl: `${publicUrl}/`, downloads }),
      publicUrl,
      async read(name) {
        t.equal(readdirSync(directory).length, 1, 'no drafts are left');
        return await readFile(path.join(directory, name)).catch(() => undefined);
      },
    };
  });
  t.end();
});

t.test('a file that is not taken at first is stored a moment later, or reported in the end', async (t) => {
  const downloads = openDownloader({ trustedOrigins: [] });
  t.teardown(() => downloads.close());
  let refusals = 2;
  const taken: string[] = [];
  const shelf = {
    async write(name: string) {
      refusals -= 1;
      if (refusals >= 0) throw new Error('the disk is full');
      taken.push(name);
    },
  };
  const store = openMediaStore({ shelf, publicUrl: 'https://gateway.example/media', downloads });
  const { url } = await store.put(await png(), 'image');
  t.same(taken, [url.split('/').at(-1)]);
  refusals = 99;
  await t.rejects(store.put(await png(), 'image'), MediaNotStored);
  t.equal(taken.length, 1);
});

t.test('what takes long to fail is given up while its call can still say so', async (t) => {
  endingPauses(t);
  const downloads = openDownloader({ trustedOrigins: [] });
  t.teardown(() => downloads.close());
  let now = 0;
  let tries = 0;
  t.intercept(performance, 'now', { value: () => now });
  const shelf = {
    async write() {
      tries += 1;
      now += 10_000;
      throw new Error('no answer');
    },
  };
  const store = openMediaStore({ shelf, publicUrl: 'https://gateway.example/media', downloads });
  await t.rejects(store.put(await png(), 'image'), { name: 'MediaNotStored', message: /no answer/ });
  t.equal(tries, 2);
});

const NAME = '0123456789abcdef0123456789abcdef.png';

t.test('serves what is there, by its exact name', async (t) => {
  const directory = t.testdir({ [NAME]: 'picture' });
  t.same(serveMedia(directory)(NAME), { path: path.join(directory, NAME), type: 'image/png', size: 7 });
});

t.test('serves nothing else: no path, no listing, no other file', async (t) => {
  const directory = t.testdir({ media: { 'secret.txt': 'x', '.part': 'x' }, [NAME]: 'outside' });
  const media = path.join(directory, 'media');
  const serve = serveMedia(media);
  const names = [
    '',
    '.',
    '..',
    '/',
    `../${NAME}`,
    `..%2f${NAME}`,
    'secret.txt',
    '.part',
    NAME,
    `${NAME}\0`,
    `${NAME}/`,
  ];
  for (const name of [...names, NAME.replace('png', 'html'), NAME.toUpperCase()])
    t.equal(serve(name), undefined, JSON.stringify(name));
});

t.test('serves no directory that has the name of a file', async (t) => {
  t.equal(serveMedia(t.testdir({ [NAME]: {} }))(NAME), undefined);
});
