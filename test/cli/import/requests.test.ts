import t from 'tap';
import type { JsonObject } from '../../../src/json.ts';
import { documentOf, importedText, jsonBody, propertiesOf } from './imported.ts';

const parameter = (place: string, name: string, schema: object, more: object = {}) => ({
  in: place,
  name,
  schema,
  required: place === 'path',
  ...more,
});

const answering = (schema: object) => ({
  responses: { 200: { description: 'Fine', content: { 'application/json': { schema } } } },
});

t.test('parameters and body stand side by side, and of two of a name the later is renamed', async (t) => {
  const operation = {
    operationId: 'updateThing',
    parameters: [
      parameter('header', 'X-Trace-Id', { type: 'string' }),
      parameter('query', 'id', { type: 'integer', minimum: 1 }),
      parameter('query', 'tags', { type: 'array', items: { type: 'string' } }, { explode: false }),
      parameter('query', 'kinds', { type: 'array', items: { type: 'string' } }),
      parameter('path', 'id', { type: 'string', pattern: '^.*$' }),
    ],
    ...jsonBody({ type: 'object', required: ['id'], properties: { id: { type: 'string' }, size: { type: 'number' } } }),
  };
  const text = documentOf(
    {},
    { paths: { '/things/{id}': { put: { ...operation, ...answering({ type: 'object' }) } } } },
  );
  const made = (await importedText(t, text)).endpoint('update-thing');
  t.match(made.request.required, ['id', 'body_id']);
  t.match(propertiesOf(made), {
    id: { type: 'string', format: 'path-segment' },
    query_id: { type: 'integer', minimum: 1 },
    X_Trace_Id: { type: 'string', pattern: '^[ -~]*$' },
    size: { type: 'number' },
  });
  t.same(made.upstream, {
    via: 'things',
    method: 'PUT',
    path: '/things/{id}',
    query: { id: 'query_id', tags: { from: 'tags', join: ',' }, kinds: 'kinds' },
    headers: { 'X-Trace-Id': 'X_Trace_Id' },
    body: { id: 'body_id', size: 'size' },
  });
});

t.test('a body alone is the request, and one that is no object of named fields stands under body', async (t) => {
  const cases = [
    [{ type: 'object', properties: { text: { type: 'string' } } }, 'input'],
    [{ type: 'array', items: { type: 'string' } }, { from: 'body' }],
    [{ type: 'object', additionalProperties: { type: 'string' } }, { from: 'body' }],
    [
      {
        oneOf: [
          { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
          { type: 'object', required: ['b'], properties: { b: { type: 'string' } } },
        ],
      },
      { from: 'body' },
    ],
    [{}, { from: 'body' }],
  ] as const;
  for (const [schema, body] of cases) {
    const made = (await importedText(t, documentOf(jsonBody(schema)))).endpoint('make');
    t.same(made.upstream.body, body, JSON.stringify(schema));
    if (body !== 'input') t.same(made.request.required, ['body']);
  }
});

t.test('fields that would be read as a mapping keep the body in one piece', async (t) => {
  const operation = {
    parameters: [parameter('query', 'dry', { type: 'boolean' })],
    ...jsonBody({ type: 'object', required: ['value'], properties: { value: { type: 'string' } } }),
  };
  const made = (await importedText(t, documentOf(operation))).endpoint('make');
  t.same(made.upstream.body, { from: 'body' });
});

t.test('examples are the ones of the document where they fit, else made from the schemas', async (t) => {
  const schema = {
    type: 'object',
    required: ['city', 'mail', 'days'],
    properties: {
      city: { type: 'string', example: 'Lisbon' },
      mail: { type: 'string', format: 'email' },
      days: { type: 'integer', minimum: 1, maximum: 14 },
      unit: { type: 'string', enum: ['c', 'f'], default: 'c' },
    },
  };
  const media = { examples: { one: { value: { city: 'Porto', mail: 'a@b.example', days: 3 } } } };
  const given = (await importedText(t, documentOf(jsonBody(schema, media)))).endpoint('make');
  t.same(given.example, { city: 'Porto', mail: 'a@b.example', days: 3 });
  const wrong = { example: { city: 'Porto', mail: 'nobody', days: 30 } };
  const { example } = (await importedText(t, documentOf(jsonBody(schema, wrong)))).endpoint('make');
  t.match(example, { city: 'Lisbon', mail: /@/, days: Number });
});

t.test('what cannot be sent is left out with its reason: the field, or the operation that needs it', async (t) => {
  const session = parameter('cookie', 'session', { type: 'string' });
  const filter = parameter('query', 'filter', { type: 'object', properties: { a: { type: 'string' } } });
  const rows = { in: 'query', name: 'rows', schema: { type: 'array', items: { type: 'object' } } };
  const loose = await importedText(t, documentOf({ parameters: [session, filter, rows] }));
  t.same(loose.outcome('make').kind, 'written');
  t.same(loose.outcome('make').notes, [
    'query.filter is an object: left out',
    'query.rows is a list of objects or lists: left out',
    'cookie.session is a cookie: left out',
  ]);
  const needed = await importedText(t, documentOf({ parameters: [{ ...session, required: true }] }));
  t.match(needed.outcome('make'), {
    kind: 'left out',
    notes: ['needs what cannot be carried over: cookie.session is a cookie'],
  });

  const bytes = { requestBody: { content: { 'application/octet-stream': { schema: { type: 'string' } } } } };
  const xml = { requestBody: { content: { 'application/xml': { schema: { type: 'object' } } } } };
  for (const [operation, reason] of [
    [bytes, 'takes a body of application/octet-stream alone'],
    [xml, 'takes a body of application/xml alone'],
    [{ responses: { 204: { description: 'Done' } } }, 'has no answer to sell'],
    [
      { responses: { 200: { description: 'A paper', content: { 'application/zip': {} } } } },
      'answers application/zip, which is not sold',
    ],
  ] as const) {
    const made = await importedText(t, documentOf(operation));
    t.match(made.outcome('make'), { kind: 'left out', notes: [reason] });
  }
});

t.test('an operation that the check refuses is left out with what the check says', async (t) => {
  const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer', minimum: 5, maximum: 3 } } };
  const { outcome } = await importedText(t, documentOf(jsonBody(schema)));
  t.match(outcome('make'), { kind: 'left out', notes: [/^line \d+: maximum is below minimum: nothing fits; /] });
});

t.test('words of a document keep nobody waiting, and a style that there is not is the usual one', async (t) => {
  const parameters = [
    { ...parameter('query', 'tags', { type: 'array', items: { type: 'string' } }), style: 'constructor' },
    { ...parameter('query', 'names', { type: 'array', items: { type: 'string' } }), style: 'pipeDelimited' },
  ];
  const responses = { 200: { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } };
  const description = `See [the list](https://pets.example/list) ${'['.repeat(500_000)}`;
  const get = { operationId: 'list', description, parameters, responses };
  const made = (await importedText(t, documentOf({}, { paths: { '/things': { get } } }))).endpoint('list');
  t.match(made.summary, /^See the list \[/);
  t.match(made.upstream, { query: { tags: { join: ',' }, names: { join: '|' } } });
});

t.test('a picture, a sound, a film or a PDF is a file of the media store', async (t) => {
  for (const [type, file] of [
    ['image/png', 'image'],
    ['application/pdf', 'document'],
  ] as const) {
    const get = { operationId: 'getCover', responses: { 200: { description: 'It', content: { [type]: {} } } } };
    const made = (await importedText(t, documentOf({}, { paths: { '/covers': { get } } }))).endpoint('get-cover');
    t.match(made.upstream, { method: 'GET', path: '/covers', result: { file } });
    t.same(made.result.required, [`${file}_url`, 'type', 'bytes']);
  }
});

t.test('a PDF beside other types is asked for as one, and a text is sold rather than it', async (t) => {
  for (const [types, upstream] of [
    [
      ['text/html', 'application/pdf'],
      { headers: { accept: { value: 'application/pdf' } }, result: { file: 'document' } },
    ],
    [['application/pdf', 'text/csv'], { headers: { accept: { value: 'text/csv' } }, result: undefined }],
  ] as const) {
    const content = Object.fromEntries(types.map((type) => [type, {}]));
    const get = { operationId: 'getReport', responses: { 200: { description: 'It', content } } };
    const made = (await importedText(t, documentOf({}, { paths: { '/reports': { get } } }))).endpoint('get-report');
    const { headers, result } = made.upstream;
    t.same({ headers, result }, upstream);
  }
});

t.test('a parameter of named values that says no type has theirs', async (t) => {
  const parameters = [
    parameter('path', 'version', { enum: [1, 2] }),
    parameter('query', 'page', { enum: [10, 20], default: 10 }),
    parameter('query', 'flag', { const: true }),
    parameter('query', 'sort', { enum: ['up', null] }),
  ];
  const responses = { 200: { description: 'Fine', content: { 'application/json': { schema: { type: 'object' } } } } };
  const made = await importedText(
    t,
    documentOf({}, { paths: { '/things/{version}': { get: { operationId: 'list', parameters, responses } } } }),
  );
  t.same(propertiesOf(made.endpoint('list')), {
    version: { type: 'number', enum: [1, 2] },
    page: { type: 'number', enum: [10, 20], default: 10 },
    flag: { type: 'boolean', const: true },
    sort: { type: ['string', 'null'], enum: ['up', null] },
  });
});

t.test('a field may have the name of something that every object inherits', async (t) => {
  const schema: JsonObject = {
    allOf: [
      { type: 'object', properties: { constructor: { type: 'string' } } },
      { type: 'object', properties: { season: { type: 'integer' } } },
    ],
  };
  const made = await importedText(t, documentOf(jsonBody(schema)));
  t.same(propertiesOf(made.endpoint('make')), { constructor: { type: 'string' }, season: { type: 'integer' } });
});

t.test('a parameter of several types, or of one that may be null, takes what any of them takes', async (t) => {
  const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
  const texts = { type: 'array', items: { type: 'string' } };
  const parameters = [
    parameter('path', 'id', { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    parameter('query', 'page', orNull({ type: 'integer', minimum: 1 })),
    parameter('query', 'tags', orNull(texts), { explode: false }),
    parameter('query', 'kind', { oneOf: [{ type: 'string' }, texts] }),
    parameter('query', 'rows', orNull({ type: 'array', items: { type: 'object' } })),
    parameter('header', 'X-Size', orNull({ type: 'integer' })),
  ];
  const get = { operationId: 'list', parameters, ...answering({ type: 'object' }) };
  const { endpoint, outcome } = await importedText(t, documentOf({}, { paths: { '/things/{id}': { get } } }));
  t.same(propertiesOf(endpoint('list')), {
    id: { type: 'string', format: 'path-segment' },
    page: orNull({ type: 'integer', minimum: 1 }),
    tags: orNull(texts),
    kind: { anyOf: [{ type: 'string' }, texts] },
    X_Size: { type: 'string', pattern: '^[ -~]*$' },
  });
  t.same(endpoint('list').upstream.query, { page: 'page', tags: { from: 'tags', join: ',' }, kind: 'kind' });
  t.same(outcome('list').notes, ['query.rows is a list of objects or lists: left out']);
});

t.test(
  'a body that a GET request need not have is left out, and one that it needs leaves the operation out',
  async (t) => {
    const body = (properties: object, required = false) => ({
      requestBody: { required, content: { 'application/x-www-form-urlencoded': { schema: { properties } } } },
    });
    const made = async (requestBody: object) => {
      const get = { operationId: 'list', ...requestBody, ...answering({ type: 'object' }) };
      return (await importedText(t, documentOf({}, { paths: { '/things': { get } } }))).outcome('list');
    };
    const limit = { limit: { type: 'integer' } };
    t.match(await made(body({})), { kind: 'written', notes: [] });
    t.match(await made(body(limit)), { kind: 'written', notes: ['the body of a GET request: left out'] });
    t.match(await made(body(limit, true)), { kind: 'left out', notes: ['has a body in a GET request'] });
  },
);

t.test('a list in the style of objects has the brackets in its name by which providers know it', async (t) => {
  const texts = { type: 'array', items: { type: 'string' } };
  const parameters = [
    parameter('query', 'expand', texts, { style: 'deepObject', explode: true }),
    parameter('query', 'ids[]', texts, { style: 'deepObject' }),
  ];
  const get = { operationId: 'list', parameters, ...answering({ type: 'object' }) };
  const made = await importedText(t, documentOf({}, { paths: { '/things': { get } } }));
  t.same(made.endpoint('list').upstream.query, { 'expand[]': 'expand', 'ids[]': 'ids' });
});

t.test('a request for an answer that streams is not taken, where another answer is what is sold', async (t) => {
  const properties = { text: { type: 'string' }, stream: { type: ['boolean', 'null'], description: 'As it comes' } };
  const body = jsonBody({ type: 'object', required: ['stream'], properties });
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  const content = { 'application/json': { schema }, 'text/event-stream': { schema: { type: 'string' } } };
  const either = await importedText(t, documentOf({ ...body, responses: { 200: { description: 'Fine', content } } }));
  t.same(propertiesOf(either.endpoint('make')).stream, {
    type: 'boolean',
    enum: [false],
    default: false,
    description: 'As it comes',
  });
  t.same(either.outcome('make').notes, ['body.stream: no answer is streamed, and false alone is taken']);
  const one = await importedText(t, documentOf({ ...body, ...answering(schema) }));
  t.match(propertiesOf(one.endpoint('make')).stream, { type: ['boolean', 'null'], enum: undefined });
});

t.test('an operation that takes a text of one of several forms has an example of it', async (t) => {
  const schema = { type: 'string', pattern: '^(SM|MM)[0-9a-f]{32}$', minLength: 34, maxLength: 34 };
  const parameters = [{ in: 'query', name: 'sid', required: true, schema }];
  const { outcome, endpoint } = await importedText(t, documentOf({ parameters }));
  t.equal(outcome('make').kind, 'written', outcome('make').notes.join());
  t.match(endpoint('make').example, { sid: /^(SM|MM)[0-9a-f]{32}$/ });
});

const get = {
  responses: { 200: { description: 'x', content: { 'application/json': { schema: { type: 'object' } } } } },
};
const inPath = (name: string) => ({ in: 'path', name, required: true, schema: { type: 'string' } });

t.test('a place in a path may be written with a colon', async (t) => {
  const paths = {
    '/owners/:ownerId/things/{thing-id}:find': {
      get: { ...get, operationId: 'find', parameters: [inPath('ownerId'), inPath('thing-id')] },
    },
    '/owners/{ownerId}/:all': { get: { ...get, operationId: 'all', parameters: [inPath('ownerId')] } },
  };
  const { endpoint } = await importedText(t, documentOf({}, { paths }));
  t.equal(endpoint('find').upstream.path, '/owners/{ownerId}/things/{thing_id}:find');
  t.equal(endpoint('all').upstream.path, '/owners/{ownerId}/:all');
});

t.test('what is left out of a request is told in the words of the document', async (t) => {
  const paths = {
    '/owners': {
      get: { ...get, operationId: 'placed', parameters: [inPath('ownerId')] },
      head: { ...get, operationId: 'head' },
    },
  };
  const { outcome } = await importedText(t, documentOf({}, { paths }));
  t.same(outcome('placed').notes, ['has a parameter ownerId in its path, which has no {ownerId}']);
  t.same(outcome('head').notes, ['is a HEAD request: only GET, POST, PUT, PATCH, DELETE are sold']);
});

const formBody = (type: string, schema: object, more: object = {}): object => ({
  requestBody: { required: true, content: { [type]: { schema, ...more } } },
});

t.test('a form is the request, with its lists as the document says', async (t) => {
  const schema = {
    type: 'object',
    required: ['to'],
    properties: {
      to: { type: 'string' },
      expand: { type: 'array', items: { type: 'string' } },
      tags: { type: 'array', items: { type: 'string' } },
      card: { type: 'object', properties: { number: { type: 'string' } } },
    },
  };
  const encoding = { expand: { style: 'deepObject', explode: true }, tags: { style: 'form', explode: false } };
  const type = 'application/x-www-form-urlencoded';
  const said = (await importedText(t, documentOf(formBody(type, schema, { encoding })))).endpoint('make');
  t.same(said.upstream, {
    via: 'things',
    method: 'POST',
    path: '/things',
    body: { to: 'to', 'expand[]': 'expand', tags: { from: 'tags', join: ',' }, card: 'card' },
    encoding: 'form',
  });
  const plain = (await importedText(t, documentOf(formBody(`${type}; charset=utf-8`, schema)))).endpoint('make');
  t.match(plain.upstream, { body: 'input', encoding: 'form' });
  const open = { type: 'object', additionalProperties: { type: 'string' } };
  t.match((await importedText(t, documentOf(formBody(type, open)))).endpoint('make').upstream, {
    body: { from: 'body' },
    encoding: 'form',
  });
});

t.test('JSON is preferred to a form, and an empty form is none', async (t) => {
  const schema = { type: 'object', properties: { to: { type: 'string' } } };
  const content = { 'multipart/form-data': { schema }, 'application/json': { schema } };
  const both = (await importedText(t, documentOf({ requestBody: { content } }))).endpoint('make');
  t.notOk('encoding' in both.upstream);
  const empty = { type: 'object', properties: {}, additionalProperties: false };
  const none = { requestBody: { content: { 'application/x-www-form-urlencoded': { schema: empty } } } };
  const made = (await importedText(t, documentOf(none))).endpoint('make');
  t.notOk('body' in made.upstream);
  t.same(propertiesOf(made), {});
});

t.test('files in a form are addresses that callers give', async (t) => {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/Upload' },
      {
        type: 'object',
        required: ['file', 'model'],
        properties: {
          model: { type: 'string' },
          pages: { type: 'array', maxItems: 2, items: { type: 'string', format: 'binary' } },
          others: { type: 'array', minItems: 12, items: { type: 'string', format: 'binary' } },
          notes: { type: 'object', properties: { by: { type: 'string' } } },
        },
      },
    ],
  };
  const components = {
    schemas: {
      Upload: {
        type: 'object',
        properties: {
          file: { type: 'string', format: 'binary', description: 'What is read.' },
          cover: { anyOf: [{ type: 'string', contentMediaType: 'application/octet-stream' }, { type: 'null' }] },
        },
      },
    },
  };
  const sold = await importedText(t, documentOf(formBody('multipart/form-data', schema), { components }));
  const made = sold.endpoint('make');
  t.match(made.upstream, {
    body: 'input',
    encoding: 'multipart',
    upload: { file: 'file', cover: 'cover', pages: 'pages', others: 'others' },
  });
  const address = { type: 'string', format: 'uri', pattern: '^https://' };
  t.match(propertiesOf(made), {
    file: { ...address, description: 'The https address of a file. What is read.' },
    cover: address,
    pages: { type: 'array', maxItems: 2, items: address },
    others: { type: 'array', minItems: 12, maxItems: 12, items: address },
  });
  t.notOk('notes' in propertiesOf(made));
  t.ok(
    sold.outcome('make').notes.includes('body.notes is a part with members: left out'),
    sold.outcome('make').notes.join(),
  );
  t.match(made.example, { file: /^https:\/\/example\.com\/./, model: /./ });
});

t.test('a body with a file is a form with parts, where the document offers one among others', async (t) => {
  const file = { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } };
  const text = { type: 'object', required: ['url'], properties: { url: { type: 'string' } } };
  const made = async (content: object) =>
    (await importedText(t, documentOf({ requestBody: { required: true, content } }))).endpoint('make');
  const [multipart, form, json] = ['multipart/form-data', 'application/x-www-form-urlencoded', 'application/json'];
  const asked = { encoding: 'multipart', upload: { file: 'file' } };
  t.match((await made({ [form]: { schema: file }, [multipart]: { schema: file } })).upstream, asked);
  t.match((await made({ [json]: { schema: file }, [multipart]: { schema: file } })).upstream, asked);
  const { upstream } = await made({ [multipart]: { schema: file }, [json]: { schema: text } });
  t.notOk('encoding' in upstream, 'JSON that has no file is still preferred');
});

t.test('a part is a file also by its encoding, and one that may be null', async (t) => {
  const schema = {
    type: 'object',
    required: ['picture'],
    properties: {
      picture: {},
      sound: { oneOf: [{ type: 'string', contentMediaType: 'audio/mpeg' }, { type: 'null' }] },
      title: { type: 'string' },
    },
  };
  const encoding = { picture: { contentType: 'image/png, image/jpeg' }, title: { contentType: 'text/plain' } };
  const made = await importedText(t, documentOf(formBody('multipart/form-data', schema, { encoding })));
  t.match(made.endpoint('make').upstream, { body: 'input', upload: { picture: 'picture', sound: 'sound' } });
  t.match(propertiesOf(made.endpoint('make')).title, { type: 'string', pattern: undefined });
});

t.test('a form asks for no answer that streams either', async (t) => {
  const stream = { anyOf: [{ type: 'boolean' }, { type: 'null' }] };
  const schema = { type: 'object', properties: { file: { type: 'string', format: 'binary' }, stream } };
  const answer = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
  const content = { 'application/json': { schema: answer }, 'text/event-stream': {} };
  const responses = { 200: { description: 'made', content } };
  for (const type of ['multipart/form-data', 'application/x-www-form-urlencoded']) {
    const made = await importedText(t, documentOf({ ...formBody(type, schema), responses }));
    t.match(propertiesOf(made.endpoint('make')), { stream: { type: 'boolean', enum: [false], default: false } });
    t.match(made.outcome('make').notes, ['body.stream: no answer is streamed, and false alone is taken']);
  }
});

t.test('a form that has no fields, or parts with members in every call, is left out', async (t) => {
  for (const [schema, why] of [
    [{ type: 'object', required: ['by'], properties: { by: { type: 'object' } } }, /body.by is a part with members/],
    [{ type: 'object', additionalProperties: { type: 'string' } }, /takes a form without fields of its own/],
  ] as const) {
    const { outcome } = await importedText(t, documentOf(formBody('multipart/form-data', schema)));
    t.match(outcome('make'), { kind: 'left out', notes: [why] });
  }
});

t.test('an answer in text is sold as one, and JSON of which nothing is said as whatever it holds', async (t) => {
  const answers = (content: object) => documentOf({ responses: { 200: { description: 'Rows', content } } });
  const rows = await importedText(t, answers({ 'text/csv': { example: 'a;b' }, 'text/html': {} }));
  t.same(rows.endpoint('make').result, { type: 'string', minLength: 1, examples: ['a;b'] });
  t.match(rows.endpoint('make').upstream.headers, { accept: { value: 'text/csv' } });
  const page = await importedText(t, answers({ 'text/html': {} }));
  t.match(page.outcome('make'), { kind: 'left out', notes: ['answers text/html, which is not sold'] });

  const unsaid = await importedText(t, answers({ 'application/json': { example: { id: 7 } } }));
  t.match(unsaid.endpoint('make').result, { examples: [{ id: 7 }] });
  t.match(unsaid.report.remarks.join(), /an error with status 200 would be sold/);
});
