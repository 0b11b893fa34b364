/** What of YAML may stand in a catalogue's files: anchors and aliases, keys, tags and numbers. */
import t, { type Test } from 'tap';
import { oil, problemsOf, replaced, writeCatalogue } from './temporary-catalogue.ts';

const FILE = 'endpoints/image/oil.yaml';
const problemsIn = (t: Test, text: string) => problemsOf(writeCatalogue(t, { [FILE]: text }));

t.test('what has an anchor is named as often as it is needed', async (t) => {
  const sizes = Array.from({ length: 150 }, (_, at) => `f${at}: *size`).join(', ');
  const input = replaced(oil, '{ from: size } }', `&size { from: size }, ${sizes} }`);
  t.same(problemsIn(t, input), []);
});

t.test('an alias within what it stands for is refused at its place', async (t) => {
  t.same(problemsIn(t, replaced(oil, '{ from: size } }', '&size { from: *size } }')), [
    `${FILE}:14:48: *size stands within what it stands for; write out what is meant`,
  ]);
});

t.test('aliases of aliases that stand for more than a machine holds are refused', async (t) => {
  const lines = Array.from({ length: 9 }, (_, at) => `&l${at + 1} [${Array(10).fill(`*l${at}`).join(', ')}]`);
  const text = replaced(
    oil,
    'prompt: { $ref: prompt }',
    `prompt: { $ref: prompt, examples: [&l0 fog, ${lines.join(', ')}] }`,
  );
  t.same(problemsIn(t, text), [
    `${FILE}:1:1: there are more than 1000000 values in it, its aliases written out; write fewer`,
  ]);
});

t.test('keys that YAML 1.1 would merge are refused: nothing merges them', async (t) => {
  const merged = replaced(oil, '{ text: prompt, format: { from: size } }', '{ text: prompt, <<: { from: size } }');
  t.same(problemsIn(t, merged), [`${FILE}:14:26: YAML 1.2 has no key << that merges; write out its keys`]);
  const field = replaced(oil, '{ text: prompt, format: { from: size } }', '{ text: prompt, "<<": { from: size } }');
  t.same(problemsIn(t, field), [], 'in quotes it is a name');
});

t.test('a key that is there as a number and as a text is there twice', async (t) => {
  const twice = replaced(oil, '{ text: prompt, ', '{ text: prompt, 1: prompt, "1": prompt, ');
  t.same(problemsIn(t, twice), [`${FILE}:14:37: the key "1" is there twice; keep one of the two`]);
});

t.test('a tag that means nothing here is refused at its place, and one of JSON’s types is none of these', async (t) => {
  const of = (written: string) => problemsIn(t, replaced(oil, 'A picture in oil', written));
  const wrong = (tag: string) => [`${FILE}:1:${11 + tag.length}: the tag ${tag} means nothing here; leave it out`];
  t.same(of('!env SUMMARY'), wrong('!env'));
  t.same(of('!!binary aGVsbG8='), wrong('!!binary'));
  t.same(of('!!str 17'), []);
  t.same(of('! 17'), []);
});

t.test('a whole number that would be sent otherwise than it is written is refused', async (t) => {
  const of = (written: string) =>
    problemsIn(t, replaced(oil, '{ text: prompt, ', `{ text: prompt, more: ${written}, `));
  const wrong = (written: string, read: string) => [
    `${FILE}:14:32: ${written} is read as ${read}; write "${written}" for a text, or another number`,
  ];
  for (const [written, read] of [
    ['1234567890123456789', '1234567890123456800'],
    ['01234', '1234'],
    ['+351912345678', '351912345678'],
  ] as const) {
    t.same(of(written), wrong(written, read));
  }
  const limited = (most: string) =>
    problemsIn(
      t,
      replaced(oil, 'prompt: { $ref: prompt }', `prompt: { $ref: prompt, default: '01', maxLength: ${most} }`),
    );
  t.same(limited('9007199254740991'), []);
  t.same(limited('18446744073709552000'), []);
  t.same(limited('0x1F'), []);
});
