/** Bodies that are no JSON, to the field. */
import t from 'tap';
import type { Downloader } from '../../../src/upstream/http/download.ts';
import type { UpstreamRequest } from '../../../src/upstream/http/upstream-http.ts';
import { bodyFaults, bodyFor, withFiles } from '../../../src/upstream/providers/http/body.ts';
import type { HttpOptions } from '../../../src/upstream/providers/http/options.ts';
import { problemOf } from './contract.ts';

const formOf = (body: unknown, input: Parameters<typeof bodyFor>[1]) =>
  bodyFor({ path: '/', body, encoding: 'form' } as HttpOptions, input).form;

t.test('a form repeats the name of a list, and writes members in brackets behind what they belong to', async (t) => {
  const cases: [given: unknown, form: unknown][] = [
    [
      { a: 'x y', n: 1.5, yes: true },
      [
        ['a', 'x y'],
        ['n', '1.5'],
        ['yes', 'true'],
      ],
    ],
    [
      { to: ['a', 'b'] },
      [
        ['to', 'a'],
        ['to', 'b'],
      ],
    ],
    [
      { card: { number: '4', owner: { name: 'Ada' } } },
      [
        ['card[number]', '4'],
        ['card[owner][name]', 'Ada'],
      ],
    ],
    [
      { items: [{ price: 'p', n: 2 }, { price: 'q' }] },
      [
        ['items[0][price]', 'p'],
        ['items[0][n]', '2'],
        ['items[1][price]', 'q'],
      ],
    ],
    [
      { card: { tags: ['a', 'b'] } },
      [
        ['card[tags][]', 'a'],
        ['card[tags][]', 'b'],
      ],
    ],
    [
      { note: null, tags: [], left: undefined },
      [
        ['note', ''],
        ['tags', ''],
      ],
    ],
    [{ text: '' }, [['text', '']]],
  ];
  for (const [given, form] of cases) t.same(formOf('input', given as never), form, JSON.stringify(given));
});

t.test('what a request leaves out is no field of its form', async (t) => {
  const body = { 'to[]': 'to', from: { value: 'us' }, more: { size: 'size' } };
  t.same(formOf(body, { to: ['a'] }), [
    ['to[]', 'a'],
    ['from', 'us'],
  ]);
  t.same(formOf({ size: 'size' }, {}), []);
});

t.test('a file is a part of its own: its address is none beside it', async (t) => {
  const options: HttpOptions = { path: '/', body: 'input', encoding: 'multipart', upload: { file: 'picture' } };
  t.same(bodyFor(options, { picture: 'https://example.com/a.png', size: 2 }), {
    parts: [{ name: 'size', value: '2' }],
  });
  const { body: _left, ...alone } = options;
  t.same(bodyFor(alone, { picture: 'https://example.com/a.png' }), { parts: [] });
});

const MEGABYTE = 1024 * 1024;

/** A file of so many bytes at every address, and how many of them were read, and at a time. */
function filesOf(bytes: number) {
  const reading = { now: 0, most: 0, read: 0 };
  const downloads: Pick<Downloader, 'download'> = {
    async download() {
      reading.now += 1;
      reading.most = Math.max(reading.most, reading.now);
      await new Promise(setImmediate);
      reading.now -= 1;
      reading.read += 1;
      return Buffer.alloc(bytes);
    },
  };
  const context = { downloads: downloads as Downloader, caller: 'payer', signal: new AbortController().signal };
  const read = async (pages: readonly string[]) => {
    const options: HttpOptions = { path: '/', encoding: 'multipart', upload: { cover: 'cover', 'page[]': 'pages' } };
    return await withFiles<Pick<UpstreamRequest, 'parts'>>(
      {},
      options,
      { cover: 'https://example.com/cover', pages },
      'post',
      context,
    );
  };
  return { reading, context, read };
}

const pagesOf = (count: number) => Array.from({ length: count }, (_, page) => `https://example.com/${page}.txt`);

t.test(
  'a file that is left out is read from nowhere, whatever every object has under the name of its field',
  async (t) => {
    const options: HttpOptions = { path: '/', encoding: 'multipart', upload: { logo: 'constructor' } };
    const asked = (input: Parameters<typeof withFiles>[2]) =>
      withFiles<Pick<UpstreamRequest, 'parts'>>({}, options, input, 'post', filesOf(1).context);
    t.same(await asked({}), { parts: [] });
    t.match(await asked({ constructor: 'https://example.com/a' }), { parts: [{ name: 'logo' }] });
  },
);

t.test('the files of a call are read one after another, for so many at a time are read for a caller', async (t) => {
  const { reading, read } = filesOf(1);
  const { parts = [] } = await read(pagesOf(6));
  t.equal(reading.most, 1);
  t.same(
    parts.map(({ name, value }) => [name, typeof value === 'string' ? value : value.fileName]),
    [['cover', 'cover'], ...pagesOf(6).map((_, page) => ['page[]', `${page}.txt`])],
  );
});

t.test('they are so large together at most, and no more of them are read', async (t) => {
  const { reading, read } = filesOf(5 * MEGABYTE);
  t.match(await read(pagesOf(4)), { parts: { length: 5 } });
  const problem = await problemOf(read(pagesOf(20)));
  t.match(problem, { failure: 'invalid-input', publicMessage: /26214400 bytes together/ });
  t.equal(reading.read, 5 + 6);
});

t.test('a file that is no picture, sound or film is sent under the name that its address ends in', async (t) => {
  const options: HttpOptions = { path: '/', body: { kind: 'kind' }, encoding: 'multipart', upload: { paper: 'url' } };
  for (const [text, type, bare] of [
    ['%PDF-1.7', 'application/pdf', 'file.pdf'],
    ['a,b', 'application/octet-stream', 'file'],
  ] as const) {
    const bytes = Buffer.from(text);
    const downloads = { download: async () => bytes } as unknown as Downloader;
    const sent = async (url: string) => {
      const input = { url, kind: 'bill' };
      const context = { downloads, caller: 'payer', signal: new AbortController().signal };
      return await withFiles(bodyFor(options, input), options, input, 'post', context);
    };
    const file = (fileName: string) => ({
      parts: [
        { name: 'kind', value: 'bill' },
        { name: 'paper', value: { fileName, type, bytes } },
      ],
    });
    t.match(await sent('https://example.com/a/bill-7.pdf?key=1'), file('bill-7.pdf'));
    t.match(await sent('https://example.com/%22;x=%22'), file(bare));
    t.match(await sent('https://example.com/'), file(bare));
  }
});

t.test('a body that is the same in every call is a form, where it has fields', (t) => {
  const options = { path: '/', body: { value: { a: 1 } }, encoding: 'form' } as const;
  t.same(bodyFor(options, {}), { form: [['a', '1']] });
  t.same(bodyFaults(options, {}), []);
  t.match(bodyFaults({ ...options, body: { value: 'text' } }, {}), [{ path: ['body'] }]);
  const properties = { url: { enum: ['https://example.com/a.png', 'https://example.com/b.png'] } };
  t.same(bodyFaults({ path: '/', encoding: 'multipart', upload: { file: 'url' } }, { properties }), []);
  t.match(bodyFaults({ method: 'GET', path: '/', encoding: 'multipart', upload: { file: 'url' } }, { properties }), [
    { path: ['upload'], message: 'a GET request has no body' },
  ]);
  t.end();
});
