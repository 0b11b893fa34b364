import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { instanceOf } from '../../src/examples/schema-instance.ts';

const schemas: Record<string, object> = {
  'numbers in bounds': {
    type: 'object',
    required: ['share', 'count', 'open', 'step'],
    properties: {
      share: { type: 'number', minimum: -1, maximum: 1 },
      count: { type: 'integer', minimum: 3, maximum: 5 },
      open: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      step: { type: 'number', minimum: 0, maximum: 10, multipleOf: 2 },
    },
  },
  'strings that are bounded, patterned or formatted': {
    type: 'array',
    prefixItems: [
      { type: 'string', minLength: 90, maxLength: 100 },
      { type: 'string', maxLength: 4 },
      { type: 'string', pattern: '^[A-Z0-9]{2,10}$' },
      { type: 'string', pattern: '^\\d{4}-\\d{2}$' },
      { type: 'string', pattern: '^#[0-9a-f]{6}$' },
      { enum: ['a', 'b'] },
      { const: 'fixed' },
    ],
  },
  'lists of exact length': { type: 'array', minItems: 3, maxItems: 3, items: { type: 'boolean' } },
  'choices, nullable types and references': {
    $defs: { node: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    type: 'object',
    required: ['either', 'perhaps', 'node'],
    properties: {
      either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      perhaps: { type: ['string', 'null'] },
      node: { $ref: '#/$defs/node' },
    },
  },
};

for (const [what, schema] of Object.entries(schemas)) {
  t.test(`fits ${what}, whatever the seed`, async (t) => {
    const ajv = new Ajv2020({ strict: false });
    for (let seed = 0; seed < 50; seed += 1) {
      const value = instanceOf(schema, String(seed));
      t.ok(ajv.validate(schema, value), `${ajv.errorsText()} in ${JSON.stringify(value)}`);
      t.same(instanceOf(schema, String(seed)), value, 'the same for the same seed');
    }
  });
}

t.test('is cut off, and fills no memory, where the schema has no end or wants a billion', async (t) => {
  const nested = { type: 'array', minItems: 1e9, items: { type: 'array', minItems: 1e9, items: { type: 'string' } } };
  const $defs = { left: { $ref: '#/$defs/right' }, right: { $ref: '#/$defs/left' } };
  const own = { $ref: '#' };
  const endless: Record<string, object> = {
    'a billion items': { type: 'array', minItems: 1e9, items: { type: 'string' } },
    'a billion lists of a billion items': nested,
    'a billion characters': { type: 'string', minLength: 1e9 },
    'a pattern of a billion characters': { type: 'string', pattern: '^a{1000000000}$' },
    'itself in its items': { type: 'array', minItems: 2, items: own },
    'itself in members that it requires': {
      type: 'object',
      required: ['left', 'right'],
      properties: { left: own, right: own },
    },
    'itself as its alternative': { anyOf: [own] },
    'references in a circle': { $defs, type: 'object', required: ['a'], properties: { a: { $ref: '#/$defs/left' } } },
    'itself alone': own,
  };
  for (const [what, schema] of Object.entries(endless)) {
    t.ok(JSON.stringify(instanceOf(schema, 'seed')).length < 4_000_000, what);
  }
});

t.test('an address that has to be https has a host as well', async (t) => {
  const schema = { type: 'string', format: 'uri', pattern: '^https://' };
  t.match(instanceOf({ properties: { file: schema } }, 'a'), { file: /^https:\/\/example\.com\/file\/\d+$/ });
  t.match(instanceOf({ ...schema, pattern: '^ftp://[a-z]+$' }, 'a'), /^ftp:\/\/[a-z]+$/);
  t.match(instanceOf({ ...schema, maxLength: 12 }, 'a'), /^https:\/\/.{0,4}$/);
});
