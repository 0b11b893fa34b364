import t from 'tap';
import { startDoubles } from '../../../src/sandbox/doubles/index.ts';
import { sniffMediaType } from '../../../src/upstream/media/type.ts';

const doubles = await startDoubles({ upstreams: [] });
t.teardown(() => doubles.close());
const read = (address: string) => fetch(doubles.webUrl(new URL(address)), { redirect: 'manual' });
const bytesAt = async (address: string) => Buffer.from(await (await read(address)).arrayBuffer());

t.test('has a real file for every host and path, by its extension', async (t) => {
  for (const [name, type] of [
    ['a.png', 'image/png'],
    ['a.JPG?v=1', 'image/jpeg'],
    ['photo', 'image/png'],
    ['dir.d/a.webp', 'image/webp'],
    ['a.mp3', 'audio/mpeg'],
    ['a.wav', 'audio/wav'],
    ['a.mp4', 'video/mp4'],
    ['a%20b.mp3', 'audio/mpeg'],
  ] as const) {
    t.equal(sniffMediaType(await bytesAt(`https://files.example.com:8443/${name}`))?.type, type, name);
  }
});

t.test('holds the same file at the same address', async (t) => {
  const bytes = await bytesAt('https://one.example.com/a.png');
  t.same(await bytesAt('https://one.example.com/a.png'), bytes);
  t.notSame(await bytesAt('https://two.example.com/a.png'), bytes);
});

t.test('lacks what is called missing, and leads where it is told to', async (t) => {
  t.equal((await read('https://one.example.com/missing.png')).status, 404);
  const redirect = await read('https://one.example.com/redirect-to-private.png');
  t.equal(redirect.status, 302);
  t.match(redirect.headers.get('location'), '169.254.169.254');
  t.match((await read('https://one.example.com/a.zip')).headers.get('content-type'), 'text/html');
  t.match(await (await read('https://one.example.com/a.pdf')).text(), /^%PDF-/);
});
