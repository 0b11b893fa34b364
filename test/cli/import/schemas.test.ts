import t from 'tap';
import { asJsonObject, type JsonObject } from '../../../src/json.ts';
import { documentOf, importedText, jsonBody, propertiesOf } from './imported.ts';

/** The request's fields that a body of these properties becomes. */
async function fields(t: Parameters<typeof importedText>[0], properties: object, changes: object = {}) {
  const made = await importedText(t, documentOf(jsonBody({ type: 'object', properties }), changes));
  return { properties: propertiesOf(made.endpoint('make')), notes: made.outcome('make').notes };
}

t.test('schemas of OpenAPI 3.0 become JSON Schema 2020-12', async (t) => {
  const schemas = { Unit: { type: 'string', enum: ['c', 'f'] } };
  const { properties } = await fields(
    t,
    {
      name: { type: 'string', nullable: true, example: 'Ada' },
      share: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: false },
      unit: { nullable: true, allOf: [{ $ref: '#/components/schemas/Unit' }], description: 'In what' },
      kind: { type: 'string', enum: ['a'], nullable: true },
      either: { oneOf: [{ type: 'string' }, { type: 'integer' }], discriminator: { propertyName: 'x' } },
      secret: { type: 'string', readOnly: true },
    },
    { openapi: '3.0.3', components: { schemas } },
  );
  t.same(properties, {
    name: { type: ['string', 'null'], examples: ['Ada'] },
    share: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    unit: { type: ['string', 'null'], enum: ['c', 'f', null], description: 'In what' },
    kind: { type: ['string', 'null'], enum: ['a', null] },
    either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  });
});

t.test('values that YAML reads as numbers are texts where the document says so', async (t) => {
  const schemas = { Level: { type: 'string', enum: [1, 2, true] } };
  const { properties } = await fields(
    t,
    {
      level: { $ref: '#/components/schemas/Level' },
      size: { type: 'string', enum: ['a', null] },
      count: { type: 'integer', enum: ['1', 2] },
      none: { type: 'boolean', enum: ['yes'] },
    },
    { openapi: '3.0.3', components: { schemas } },
  );
  t.same(properties, {
    level: { type: 'string', enum: ['1', '2', 'true'] },
    size: { type: 'string', enum: ['a'] },
    count: { type: 'integer', enum: [2] },
    none: { type: 'boolean' },
  });
});

t.test('parts of allOf become one object', async (t) => {
  const schemas = {
    Base: { type: 'object', required: ['id'], properties: { id: { type: 'string' } }, additionalProperties: false },
  };
  const whole = {
    allOf: [{ $ref: '#/components/schemas/Base' }, { required: ['size'], properties: { size: { type: 'integer' } } }],
  };
  const { properties } = await fields(t, { whole }, { components: { schemas } });
  t.same(properties.whole, {
    type: 'object',
    required: ['id', 'size'],
    properties: { id: { type: 'string' }, size: { type: 'integer' } },
  });
});

t.test('a schema that contains itself is cut off at its second turn', async (t) => {
  const Node = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string' },
      children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
      parent: { $ref: '#/components/schemas/Node' },
    },
  };
  const node = { $ref: '#/components/schemas/Node' };
  const { properties, notes } = await fields(t, { node }, { components: { schemas: { Node } } });
  t.same(properties.node, {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string' },
      children: { type: 'array', items: { description: 'Node, as above: cut off here' } },
      parent: { description: 'Node, as above: cut off here' },
    },
  });
  t.same(notes, ['Node contains itself: cut off at its second turn']);
});

t.test('schemas that double at every level are cut off where they become too large', async (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `S${index}`);
  const schemas = Object.fromEntries(
    names.map((name, index) => {
      const next = index + 1 < names.length ? { $ref: `#/components/schemas/S${index + 1}` } : { type: 'string' };
      return [name, { type: 'object', properties: { left: next, right: next } }];
    }),
  );
  const { notes } = await fields(t, { all: { $ref: '#/components/schemas/S0' } }, { components: { schemas } });
  t.same(notes, ['body: too large, cut off 8 levels down']);
});

t.test('what the catalogue does not know is dropped, and patterns and defaults that do harm are listed', async (t) => {
  const { properties, notes } = await fields(t, {
    tag: { type: 'string', pattern: '^(a+)+$', format: 'tag', 'x-internal': true, xml: { name: 't' } },
    code: { type: 'string', pattern: '^[A-Z]{2}$' },
    page: { type: 'integer', default: 'one' },
    anything: {},
  });
  t.same(properties, {
    tag: { type: 'string' },
    code: { type: 'string', pattern: '^[A-Z]{2}$' },
    page: { type: 'integer' },
    anything: { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] },
  });
  t.match(notes, [
    /^body\.tag: the pattern \^\(a\+\)\+\$ is left out: the pattern backtracks catastrophically/,
    'body.page: the default "one" does not fit, and is left out',
  ]);
});

t.test('results ask for types and required members, and for no more than that', async (t) => {
  const schema: JsonObject = {
    type: 'object',
    additionalProperties: false,
    required: ['at', 'password'],
    properties: {
      at: { type: 'string', format: 'date-time', maxLength: 40 },
      count: { type: 'integer', minimum: 0 },
      password: { type: 'string', writeOnly: true },
    },
  };
  const responses = { 201: { description: 'It was made', content: { 'application/hal+json': { schema } } } };
  const { result } = (await importedText(t, documentOf({ responses }))).endpoint('make');
  t.match(result, { type: 'object', description: 'It was made', required: ['at'] });
  t.same(asJsonObject(result.properties), { at: { type: 'string' }, count: { type: 'integer' } });
  t.match(result.examples, [{ at: /^\d{4}-\d\d-\d\dT/ }]);
});

t.test(
  'a result is any of the good answers that the document names, and null where one of them is empty',
  async (t) => {
    const holding = (name: string) => ({
      description: 'Fine',
      content: {
        'application/json': {
          schema: { type: 'object', required: [name], properties: { [name]: { type: 'string', maxLength: 9 } } },
        },
      },
    });
    const loose = (name: string) => ({
      type: 'object',
      required: [name],
      properties: { [name]: { type: 'string' } },
    });
    const made = async (responses: object) => {
      const { endpoint, outcome } = await importedText(t, documentOf({ responses }));
      return { result: endpoint('make').result, notes: outcome('make').notes };
    };
    const several = await made({ 200: holding('id'), 201: holding('id'), 202: holding('job'), 404: holding('error') });
    t.same(several.result.anyOf, [loose('id'), loose('job')]);
    t.same(several.notes, []);
    const job = { description: 'Later', content: { 'application/json': { schema: { type: 'object' } } } };
    const { report } = await importedText(t, documentOf({ responses: { 200: holding('id'), 202: job } }));
    t.match(report.remarks, [/^an error with status 200 would be sold/], 'one of them asks for nothing');
    const orEmpty = await made({ 200: holding('id'), 204: { description: 'There is none' } });
    t.match(orEmpty.result, { type: ['object', 'null'], required: ['id'] });
    t.same(orEmpty.notes, ['an answer that is empty is sold as null']);
  },
);

t.test('results may be lists and plain values', async (t) => {
  for (const schema of [
    { type: 'array', items: { type: 'string' } },
    { type: 'integer' },
    { type: 'string', nullable: true },
  ]) {
    const responses = { 200: { description: 'Fine', content: { 'application/json': { schema } } } };
    const { result } = (await importedText(t, documentOf({ responses }))).endpoint('make');
    t.same([result.type].flat()[0], schema.type);
  }
});

t.test('what asks for a billion items or characters is left out, and of an answer it is let go', async (t) => {
  const reason = 'asks for so many items or characters that no example of it can be made';
  const things = { type: 'array', minItems: 1e9, items: { type: 'string' } };
  for (const a of [things, { type: 'string', minLength: 1e9 }]) {
    const { outcome } = await importedText(
      t,
      documentOf(jsonBody({ type: 'object', required: ['a'], properties: { a } })),
    );
    t.match(outcome('make'), { kind: 'left out', notes: [reason] });
  }
  const responses = { 200: { description: 'Fine', content: { 'application/json': { schema: things } } } };
  const { result } = (await importedText(t, documentOf({ responses }))).endpoint('make');
  t.match(result, { type: 'array', items: { type: 'string' } });
});

t.test('a member that is called $ref is no fault of the document', async (t) => {
  const schema = { type: 'object', properties: { $ref: { type: 'string' }, name: { type: 'string' } } };
  const { report, endpoint } = await importedText(t, documentOf(jsonBody(schema)));
  t.same(
    report.remarks.filter((remark) => remark.includes('not quite right')),
    [],
  );
  t.same(propertiesOf(endpoint('make')).$ref, { type: 'string' });
});
