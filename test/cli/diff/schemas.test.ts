import fc from 'fast-check';
import t from 'tap';
import { openSchemaCompiler } from '../../../src/catalogue/schemas/ajv.ts';
import { compareSchemas } from '../../../src/catalogue-diff/schemas.ts';

const of = (before: unknown, after: unknown, fillsDefaults = true): string[] =>
  compareSchemas(before, after, { fillsDefaults }).map(({ path, what, before: old, after: now, direction }) =>
    [path, what, ...(old === undefined && now === undefined ? [] : [`${old ?? '-'} > ${now ?? '-'}`]), direction]
      .filter((part) => part !== '')
      .join(' '),
  );

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...more,
});
const text = { type: 'string' };
// A literal with a key `then` could be taken for a promise.
const where = (condition: object, demand: object): object =>
  Object.fromEntries([
    ['if', condition],
    ['then', demand],
  ]);

t.test('what says nothing about values makes no difference, and neither does the order of keys', async (t) => {
  const before = { type: 'string', title: 'A', description: 'B', examples: ['x'] };
  t.same(of(before, { description: 'C', deprecated: true, type: 'string' }), []);
});

t.test('a field that is gone narrows, one that is new widens, where no others are taken', async (t) => {
  t.same(of(object({ a: text, b: text }), object({ a: text })), ['b gone narrower']);
  t.same(of(object({ a: text }), object({ a: text, b: text })), ['b new wider']);
});

t.test('where others are taken a new field says less of them, and one that is gone may still come', async (t) => {
  const open = (properties: object) => ({ type: 'object', properties });
  t.same(of(open({}), open({ a: text })), ['a new narrower']);
  t.same(of(open({ a: text }), open({})), ['a gone unknown']);
  t.same(of(open({}), { ...open({ a: text }), patternProperties: {} }).slice(0, 1), ['a new narrower']);
  t.same(of({ ...open({}), additionalProperties: text }, { ...open({ a: text }), additionalProperties: text }), [
    'a new unknown',
  ]);
  t.same(of(open({}), open({ constructor: text })), ['constructor new narrower']);
});

t.test('a field that is required now narrows, unless its default stands for it', async (t) => {
  t.same(of(object({ a: text }), object({ a: text }, { required: ['a'] })), ['a is required now narrower']);
  t.same(of(object({ a: text }, { required: ['a'] }), object({ a: text })), ['a is no longer required wider']);
  const filled = object({ a: { ...text, default: 'x' } });
  t.same(of(filled, { ...filled, required: ['a'] }), []);
  t.same(of(filled, { ...filled, required: ['a'] }, false), ['a is required now narrower']);
  t.same(of({ ...filled, required: ['a'] }, object({ a: text }, { required: ['a'] })), [
    'a default x > - unknown',
    'a is required now narrower',
  ]);
});

t.test('another default is another call for who leaves the field out; of a result it says nothing', async (t) => {
  const [one, two] = [object({ a: { ...text, default: 'x' } }), object({ a: { ...text, default: 'y' } })];
  t.same(of(one, two), ['a default x > y both']);
  t.same(of(one, two, false), []);
});

t.test('types, values and bounds are compared, deep down', async (t) => {
  const cases: [object, object, string[]][] = [
    [{ type: 'string' }, { type: ['string', 'null'] }, ['type string > string, null wider']],
    [{ type: 'number' }, { type: 'integer' }, ['type number > integer narrower']],
    [{ type: 'string' }, { type: 'integer' }, ['type string > integer both']],
    [{}, { type: 'string' }, ['type - > string narrower']],
    [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }, ['enum loses a > - narrower', 'enum gains - > c wider']],
    [{ enum: ['a', 'b'] }, { const: 'a' }, ['enum loses b > - narrower']],
    [{ const: 'a' }, { type: 'string' }, ['enum a > - wider']],
    [{ minimum: 1 }, { minimum: 2 }, ['minimum 1 > 2 narrower']],
    [{ maximum: 1 }, { maximum: 2 }, ['maximum 1 > 2 wider']],
    [{}, { maxLength: 9 }, ['maxLength - > 9 narrower']],
    [{ minItems: 1 }, {}, ['minItems 1 > - wider']],
    [{ pattern: 'a' }, { pattern: 'b' }, ['pattern a > b unknown']],
    [{ format: 'uri' }, {}, ['format removed uri > - wider']],
    [{}, { uniqueItems: true }, ['uniqueItems added - > true narrower']],
    [{ items: { maxLength: 2 } }, { items: { maxLength: 1 } }, ['[] maxLength 2 > 1 narrower']],
    [{ additionalProperties: true }, { additionalProperties: false }, ['* is no longer taken narrower']],
    [{ anyOf: [text] }, { anyOf: [text, { type: 'null' }] }, ['anyOf gains a form wider']],
    [{ anyOf: [text, { type: 'null' }] }, { anyOf: [text] }, ['anyOf loses a form narrower']],
    [{ allOf: [text] }, { allOf: [text, { minLength: 1 }] }, ['allOf gains a form narrower']],
    [{ anyOf: [text] }, { anyOf: [{ type: 'null' }] }, ['type string > null both']],
    [{ oneOf: [text] }, { oneOf: [text, text] }, ['oneOf unknown']],
    [where(text, { minLength: 1 }), where(text, { minLength: 2 }), ['minLength 1 > 2 narrower']],
    [where(text, {}), where({ type: 'null' }, {}), ['if unknown']],
    [{ 'x-whole': true }, {}, ['x-whole true > - unknown']],
    [{ contains: text }, { contains: {} }, ['contains unknown']],
  ];
  for (const [before, after, expected] of cases) {
    t.same(of(before, after), expected, JSON.stringify([before, after]));
    t.same(
      of(object({ a: { type: 'array', items: before } }), object({ a: { type: 'array', items: after } })),
      expected.map((line) =>
        line.startsWith('[]') || line.startsWith('*') ? `a[]${line.startsWith('*') ? '.' : ''}${line}` : `a[] ${line}`,
      ),
      'the same inside of a list',
    );
  }
});

/** Schemas that differ in little, so that pairs of them are near each other, and values that they may take. */
const small = fc.constantFrom(0, 1, 2);
const leaf = fc.record(
  {
    type: fc.constantFrom('string', 'integer', 'number', ['string', 'null'], ['integer', 'string']),
    enum: fc.subarray(['a', 'bb', 1, 1.5, null], { minLength: 1 }),
    minimum: small,
    maximum: small,
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom('a', 'b'),
    multipleOf: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
);
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    leaf,
    fc.record(
      {
        type: fc.constant('object'),
        required: fc.subarray(['a', 'b']),
        additionalProperties: fc.boolean(),
        properties: fc.record({ a: tie('schema'), b: tie('schema') }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { items: tie('schema'), minItems: small, maxItems: small, uniqueItems: fc.boolean() },
      { requiredKeys: [] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.tuple(leaf, tie('schema')).map(([condition, demand]) => where(condition, demand)),
  ),
}));
const scalar = fc.constantFrom('', 'a', 'bb', 'aaa', 0, 1, 1.5, 2, null, true);
const value = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.record({ a: scalar, b: scalar, c: scalar }, { requiredKeys: [] }),
  fc.record({ a: fc.record({ a: scalar, c: scalar }, { requiredKeys: [] }) }),
);

t.test(
  'what is called no narrower takes all that was taken before, and what is no wider takes nothing else',
  async (t) => {
    const ajv = openSchemaCompiler({ strict: false, useDefaults: false });
    let judged = 0;
    fc.assert(
      fc.property(schema, schema, fc.array(value, { minLength: 20, maxLength: 20 }), (before, after, values) => {
        const directions = compareSchemas(before, after, { fillsDefaults: false }).map(({ direction }) => direction);
        const never = (wanted: string) => !directions.some((each) => ['both', 'unknown', wanted].includes(each));
        const [was, is] = [ajv.compile(structuredClone(before)), ajv.compile(structuredClone(after))];
        for (const each of values) {
          const [fitted, fits] = [was(each), is(each)];
          if (fitted !== fits) judged += 1;
          if (never('narrower') && fitted && !fits) throw new Error(`refuses ${JSON.stringify(each)}`);
          if (never('wider') && fits && !fitted) throw new Error(`takes ${JSON.stringify(each)}`);
        }
      }),
      { numRuns: 400, seed: 7 },
    );
    t.ok(judged > 500, `${judged} values were judged differently`);
  },
);
