/** Bodies that are no JSON, to the field. */
import t from 'tap';
import { bodyFor } from '../../../src/upstream/providers/http/body.ts';
import type { HttpOptions } from '../../../src/upstream/providers/http/options.ts';

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
