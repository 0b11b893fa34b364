import * as fc from 'fast-check';
import t from 'tap';
import { createEventReader, type ServerEvent } from '../../../../src/upstream/providers/openai/server-events.ts';

function readAll(pieces: readonly Buffer[]): ServerEvent[] {
  const reader = createEventReader('chat');
  return [...pieces.flatMap((piece) => [...reader.read(piece)]), ...reader.end()];
}

const data = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\r\n]/.test(text));

t.test('finds the same events wherever the bytes were cut', async () => {
  fc.assert(
    fc.property(
      fc.array(data, { maxLength: 8 }),
      fc.constantFrom('\n', '\r\n'),
      fc.array(fc.nat(200), { maxLength: 20 }),
      (texts, newline, cuts) => {
        const bytes = Buffer.from(texts.map((text) => `data: ${text}${newline}${newline}`).join(''));
        const places = [...new Set([0, ...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
        const found = readAll(pieces);
        return JSON.stringify(found) === JSON.stringify(texts.map((text) => ({ kind: 'data', data: text })));
      },
    ),
  );
});

t.test('reads events as the standard has them', async (t) => {
  const cases: [string, ServerEvent[]][] = [
    ['data: a\ndata: b\n\n', [{ kind: 'data', data: 'a\nb' }]],
    ['data:a\n\n', [{ kind: 'data', data: 'a' }]],
    ['data:  a\n\n', [{ kind: 'data', data: ' a' }]],
    ['event: x\nid: 1\nretry: 5\ndata: a\n\n', [{ kind: 'data', data: 'a' }]],
    [': hello\n\n', [{ kind: 'comment' }]],
    ['\n\n\n', []],
    ['data\n\ndata:\n\nevent: x\ndata: \n\ndata: a\n\n', [{ kind: 'data', data: 'a' }]],
    [
      '\ufeffdata: a\n\ndata: \ufeffb\n\n',
      [
        { kind: 'data', data: 'a' },
        { kind: 'data', data: '\ufeffb' },
      ],
    ],
    ['data: no blank line', [{ kind: 'data', data: 'no blank line' }]],
  ];
  for (const [text, events] of cases) t.same(readAll([Buffer.from(text)]), events, JSON.stringify(text));
});

for (const [what, piece] of [
  ['line', Buffer.alloc(1024 * 1024, 'x')],
  ['list of lines', Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n`)],
  ['list of empty lines', Buffer.from('data:\n'.repeat(1024 * 256))],
] as const) {
  t.test(`gives up an event that never ends: a ${what}`, async (t) => {
    const reader = createEventReader('chat');
    t.throws(
      () => {
        for (let count = 0; count < 6; count += 1) [...reader.read(piece)];
      },
      { message: /without an end/ },
    );
  });
}

t.test('looks through a long event once, however small the pieces in which it comes', async (t) => {
  const reader = createEventReader('x');
  const piece = Buffer.from('z'.repeat(32));
  const pieces = 100_000;
  t.same([...reader.read(Buffer.from('data: '))], []);
  for (let count = 0; count < pieces; count += 1) for (const _ of reader.read(piece)) t.fail('it has not ended');
  t.same([...reader.read(Buffer.from('\n\n'))], [{ kind: 'data', data: 'z'.repeat(32 * pieces) }]);
});

t.test('goes on reading events that end, however many', async (t) => {
  const reader = createEventReader('chat');
  const piece = Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\ndata: x\n\n`);
  for (let count = 0; count < 6; count += 1) t.equal([...reader.read(piece)].length, 1);
});
