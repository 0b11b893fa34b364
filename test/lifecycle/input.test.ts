import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import type { JsonSchema, Route } from '../../src/catalogue/types.ts';
import { Problem } from '../../src/errors.ts';
import { demandFits, networksFor, priceOf, readInput, resultFault } from '../../src/lifecycle/input.ts';
import type { GatewayRequest } from '../../src/request/request.ts';
import { heapLeftBy } from '../heap.ts';
import { mppRoute } from '../payment/mpp/route.ts';

const routeOf = (request: JsonSchema, changes: Partial<Route> = {}): Route => ({
  ...mppRoute('/things'),
  request: { type: 'object', ...request },
  ...changes,
});

const requestOf = (body: unknown, changes: Partial<GatewayRequest> = {}): GatewayRequest => ({
  transport: 'http',
  method: 'POST',
  path: '/things',
  query: '',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  ...changes,
});

/** The problem that the work throws. */
function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('there is no problem');
}

/** What a caller learns of a body that does not fit. */
const faultsOf = (request: JsonSchema, body: unknown) =>
  problemOf(() => readInput(routeOf(request), requestOf(body))).details;

t.test('a value of another type is told which types are taken', async (t) => {
  const request = { properties: { size: { type: ['number', 'string'] }, flag: { type: 'boolean' } } };
  t.match(faultsOf(request, { size: [], flag: 1 }), [
    { path: '/size', expected: 'number or string' },
    { path: '/flag', expected: 'boolean' },
  ]);
});

t.test('who gives what is no amount is told what is one, and not the name that the catalogue has for it', async (t) => {
  const described = { type: 'string', format: 'amount', description: 'Dollars to buy: a decimal string such as 5' };
  const request = { properties: { dollars: described, bare: { type: 'string', format: 'amount' } } };
  const message = 'does not have the form that is asked for';
  t.same(faultsOf(request, { dollars: '$5', bare: '1.2345678' }), [
    { path: '/dollars', message, expected: described.description },
    { path: '/bare', message, expected: 'a decimal string such as "0.05", with at most 6 decimals' },
  ]);
});

t.test(
  'of a choice that failed only what is inside is told, and the choice itself where there is nothing inside',
  async (t) => {
    const inside = { anyOf: [{ properties: { size: { maximum: 5 } } }, { properties: { size: { minimum: 9 } } }] };
    t.same(
      faultsOf(inside, { size: 7 })?.map(({ path }) => path),
      ['/size', '/size'],
    );
    const without = { oneOf: [{ properties: { a: {} } }, { properties: { b: {} } }] };
    t.match(faultsOf(without, {}), [{ path: '/', message: /exactly one/ }]);
  },
);

const either = { oneOf: [{ required: ['prompt'] }, { required: ['messages'] }] };
const required = (path: string) => ({ path, message: 'is required' });

for (const [what, request, body, details] of [
  [
    'a field that is missing, by its own path',
    { required: ['box'], properties: { box: { required: ['size'] } } },
    { box: {} },
    [required('/box/size')],
  ],
  [
    'the values that are taken, whatever they are',
    { properties: { size: { enum: ['1k', null, { wide: 2 }] } } },
    { size: '4k' },
    [{ path: '/size', message: 'must be equal to one of the allowed values', expected: 'one of 1k, null, {"wide":2}' }],
  ],
  [
    'the values that are taken',
    { properties: { size: { enum: ['1k', '2k'] }, seed: { const: null } } },
    { size: '4k', seed: 7 },
    [
      { path: '/size', message: 'must be equal to one of the allowed values', expected: 'one of 1k, 2k' },
      { path: '/seed', message: 'must be equal to constant', expected: 'null' },
    ],
  ],
  [
    'the fields that there are, where one is not among them',
    { properties: { size: {}, seed: {} }, additionalProperties: false },
    { colour: 'red' },
    [{ path: '/colour', message: 'is not a field of this request', expected: 'one of the fields size, seed' }],
  ],
  [
    'that there are no fields at all',
    { additionalProperties: false },
    { colour: 'red' },
    [{ path: '/colour', message: 'is not a field of this request', expected: 'no fields at all' }],
  ],
  [
    'the form of a text in the words of its description, and else as the pattern',
    {
      properties: { ticker: { pattern: '^[A-Z]+$', description: 'A ticker such as AAPL' }, day: { pattern: '^\\d+$' } },
    },
    { ticker: 'two words', day: 'today' },
    [
      {
        path: '/ticker',
        message: 'does not have the form that is asked for',
        expected: 'A ticker such as AAPL',
      },
      { path: '/day', message: 'does not have the form that is asked for', expected: 'text that matches ^\\d+$' },
    ],
  ],
  [
    'the format of a text, and what the part of a path may not be',
    { properties: { id: { format: 'path-segment' }, at: { format: 'date' } } },
    { id: '..', at: 'today' },
    [
      { path: '/id', message: 'must not be empty, . or .., or hold a slash or half a character' },
      { path: '/at', message: 'must match format "date"' },
    ],
  ],
  [
    'the bound of a number',
    { properties: { size: { maximum: 5 } } },
    { size: 6 },
    [{ path: '/size', message: 'must be <= 5' }],
  ],
  [
    'a value that does not go with another',
    { if: { required: ['seed'] }, else: { properties: { size: false } } },
    { size: 2 },
    [{ path: '/size', message: 'is not taken with the other values of this request' }],
  ],
  [
    'a fault of the whole body at /',
    { minProperties: 1 },
    {},
    [{ path: '/', message: 'must NOT have fewer than 1 properties' }],
  ],
  [
    'a thing once, however often it is said',
    { allOf: [{ properties: { size: { maximum: 5 } } }, { properties: { size: { maximum: 5 } } }] },
    { size: 6 },
    [{ path: '/size', message: 'must be <= 5' }],
  ],
  [
    'that one field or another is needed, and of each nothing more',
    either,
    {},
    [{ path: '/', message: 'needs exactly one of prompt, messages: none of them is given' }],
  ],
  [
    'that one field or another is too much',
    { properties: { box: either } },
    { box: { prompt: 'fog', messages: [] } },
    [{ path: '/box', message: 'needs exactly one of prompt, messages: several are given' }],
  ],
  [
    'a choice first, and what is wrong besides',
    { ...either, properties: { size: { maximum: 5 } } },
    { size: 6 },
    [
      { path: '/', message: 'needs exactly one of prompt, messages: none of them is given' },
      { path: '/size', message: 'must be <= 5' },
    ],
  ],
  [
    'a choice that only some requests have, and not their condition',
    { if: { required: ['size'] }, else: either },
    {},
    [{ path: '/', message: 'needs exactly one of prompt, messages: none of them is given' }],
  ],
  [
    'each field that is missing, where one of several is enough',
    { anyOf: either.oneOf },
    {},
    [required('/prompt'), required('/messages')],
  ],
  [
    'each field that is missing, where a choice asks for two at once',
    { oneOf: [{ required: ['from', 'to'] }, { required: ['day'] }] },
    {},
    [required('/from'), required('/to'), required('/day')],
  ],
  [
    'what is wrong inside, where a choice asks for more than fields',
    { oneOf: [{ required: ['prompt'], properties: { size: { maximum: 5 } } }, { required: ['messages'] }] },
    { size: 6 },
    [required('/prompt'), { path: '/size', message: 'must be <= 5' }, required('/messages')],
  ],
] as const satisfies readonly [string, JsonSchema, object, readonly object[]][]) {
  t.test(`a caller is told ${what}`, async (t) => {
    t.strictSame(faultsOf(request, body), details);
  });
}

t.test('a problem names the first fault, and no more than twenty in all', async (t) => {
  const { code, message, details } = problemOf(() =>
    readInput(routeOf({ required: Array.from({ length: 21 }, (_, field) => `f${field}`) }), requestOf({})),
  );
  t.equal(code, 'invalid_request');
  t.equal(message, '/f0 is required');
  t.same(details?.length, 20);
});

t.test('of a request of more than 500 values only the first fault is told, of one of fewer all', async (t) => {
  const request = { properties: { size: { type: 'string' }, box: either } };
  // The request itself is a value, and so is each of its other fields.
  const ofValues = (count: number) => ({ size: 1, box: {}, pad: Array(count - 4).fill('') });
  t.same(
    faultsOf(request, ofValues(500))?.map(({ path }) => path),
    ['/box', '/size'],
  );
  t.strictSame(faultsOf(request, ofValues(501)), [{ path: '/size', message: 'must be string', expected: 'string' }]);
});

for (const [what, items, alike] of [
  ['numbers are equal however they are written', '[1, 2.0, 2]', [1, 2]],
  ['zero has no sign', '[-0, 0]', [0, 1]],
  ['members have no order', '[{"a": 1, "b": [2]}, {"b": [2], "a": 1.0}]', [0, 1]],
  ['elements have one', '[[1, 2], [2, 1], [1, 2]]', [0, 2]],
  ['any name is one of a member', '["__proto__", "__proto__"]', [0, 1]],
  ['what reads alike differs by its type', '[1, "1", null, "null", true, "true", [], {}, "[]", "{}"]', undefined],
  ['one member more is a difference', '[{"a": 1}, {"a": 1, "b": null}, {}]', undefined],
] as const) {
  t.test(`items that have to differ: ${what}`, async (t) => {
    const request = { properties: { items: { type: 'array', uniqueItems: true } } };
    const read = () => readInput(routeOf(request), requestOf(`{"items": ${items}}`));
    if (!alike) return t.ok(read());
    const message = `must NOT have duplicate items (items ## ${alike.join(' and ')} are identical)`;
    return t.strictSame(problemOf(read).details, [{ path: '/items', message }]);
  });
}

t.test('items need not differ where they do not have to', async (t) => {
  const request = { properties: { items: { type: 'array', uniqueItems: false } } };
  t.ok(readInput(routeOf(request), requestOf({ items: [{}, {}] })));
});

t.test('items that have to differ are looked at once each, those of a request and those of a result', async (t) => {
  const schema = { properties: { items: { type: 'array', uniqueItems: true, items: { type: 'object' } } } };
  let looks = 0;
  const items = Array.from({ length: 1000 }, (_, at) => ({
    get at() {
      looks += 1;
      return at;
    },
  }));
  demandFits(schema, () => ({ items }));
  t.equal(looks, items.length);
  t.equal(resultFault(routeOf({}, { result: schema }), { items }), undefined);
  t.equal(looks, 2 * items.length);
});

t.test('a schema may say what only others understand, and fills its defaults in', async (t) => {
  const request = { 'x-of-others': true, properties: { size: { type: 'string', default: '1k' } } };
  t.strictSame(readInput(routeOf(request), requestOf({})), { size: '1k' });
  t.equal(resultFault(routeOf({}, { result: { 'x-of-others': true } }), {}), undefined);
});

t.test('a number that is read as infinite is refused at its place: what it is sent on as is null', async (t) => {
  const request = {
    properties: { size: { type: 'number' }, box: {}, list: { type: 'array', items: { type: 'integer' } } },
  };
  const refused = (path: string) => [{ path, message: 'is larger than numbers can be' }];
  for (const [body, path] of [
    ['{"size": 1e999}', '/size'],
    ['{"size": 1, "box": {"deep": [null, {"far": -1e999}]}}', '/box/deep/1/far'],
  ] as const) {
    t.strictSame(faultsOf(request, body), refused(path));
  }
  const ask = (query: string) => readInput(routeOf(request), requestOf('', { method: 'GET', query }));
  t.strictSame(problemOf(() => ask('size=Infinity')).details, refused('/size'));
  t.strictSame(problemOf(() => ask('list=1&list=1e999')).details, refused('/list/1'));
  t.strictSame(ask('size=1e300'), { size: 1e300 });
});

t.test('a body has to be named JSON, or nothing', async (t) => {
  const read = (type: string | string[] | undefined) =>
    readInput(routeOf({}), requestOf({ a: 1 }, { headers: { 'content-type': type } }));
  for (const type of [undefined, 'application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json']) {
    t.strictSame(read(type), { a: 1 }, `${type}`);
  }
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonish',
    'text/application/json',
  ]) {
    t.match(
      problemOf(() => read(type)),
      {
        code: 'unsupported_media_type',
        message: `The body is ${type}: send application/json`,
      },
    );
  }
});

t.test('a query is read as an object: numbers out of texts, and what is repeated as a list', async (t) => {
  const request = { properties: { size: { type: 'number' }, tag: { type: 'array' }, one: { type: 'array' } } };
  const query = 'size=7&tag=a&one=c&tag=b&tag=c&word=';
  const body = Buffer.from('not JSON');
  t.strictSame(readInput(routeOf(request), requestOf('', { method: 'GET', query, body })), {
    size: 7,
    tag: ['a', 'b', 'c'],
    one: ['c'],
    word: '',
  });
  const details = problemOf(() =>
    readInput(routeOf(request), requestOf('', { method: 'GET', query: 'size=big' })),
  ).details;
  t.strictSame(details, [{ path: '/size', message: 'must be number', expected: 'number' }]);
});

t.test('the fields of a query are its own', async (t) => {
  const query = '__proto__=1&constructor=2&constructor=3';
  const input = readInput(routeOf({}), requestOf('', { method: 'GET', query }));
  t.strictSame(Object.entries(input), [
    ['__proto__', '1'],
    ['constructor', ['2', '3']],
  ]);
});

t.test(
  'a body is read where it is posted, and of a tool call always; nothing in it is taken for a number',
  async (t) => {
    const request = { properties: { size: { type: 'number' } } };
    for (const changes of [
      { method: 'POST', query: 'size=1' },
      { transport: 'mcp', method: 'GET' },
      { transport: 'mcp', method: 'POST' },
    ] as const) {
      t.strictSame(readInput(routeOf(request), requestOf({ size: 7 }, changes)), { size: 7 });
      t.match(
        problemOf(() => readInput(routeOf(request), requestOf({ size: '7' }, changes))),
        { code: 'invalid_request' },
      );
    }
  },
);

t.test('what is asked of a value from elsewhere is told in full, too', async (t) => {
  const schema = { required: ['a', 'b'], properties: { c: { default: 1 } } };
  t.strictSame(
    demandFits(schema, () => ({ a: 1, b: 2 })),
    { a: 1, b: 2, c: 1 },
  );
  const { details } = problemOf(() => demandFits(schema, () => ({})));
  t.strictSame(details, [required('/a'), required('/b')]);
});

t.test('a price is that of the request with its defaults, and there is none for one that is not valid', async (t) => {
  const request = { properties: { size: { type: 'number', default: 7 } } };
  const price = { ...mppRoute('/things').price, quote: ({ size }: { size?: unknown }) => BigInt(size as number) };
  const route = routeOf(request, { price });
  const asked = {};
  t.equal(priceOf(route, asked), 7n);
  t.strictSame(asked, {}, 'the request is left as it is');
  t.equal(priceOf(route, { size: 8 }), 8n);
  t.equal(priceOf(route, { size: 'big' }), undefined);
  t.throws(
    () => priceOf(route, { size: 1.5 }),
    RangeError,
    'a price that cannot be counted is no fault of the request',
  );
});

t.test('a request is payable on every network that takes it', async (t) => {
  const small = { properties: { size: { maximum: 5 }, seed: { default: 1 } } };
  const requestOn = new Map<string, JsonSchema>([
    ['chain-b', small],
    ['chain-c', { ...small, required: ['name'] }],
  ]);
  const route = routeOf({}, { networks: ['chain-a', 'chain-b', 'chain-c'], requestOn });
  t.strictSame(networksFor(route, { size: 5, name: 'fog' }), ['chain-a', 'chain-b', 'chain-c']);
  t.strictSame(networksFor(route, { size: 5 }), ['chain-a', 'chain-b']);
  const input = { size: 6 };
  t.strictSame(networksFor(route, input), ['chain-a']);
  t.strictSame(input, { size: 6 }, 'no network fills anything in');
  t.match(
    problemOf(() => networksFor({ ...route, networks: ['chain-b', 'chain-c'] }, input)),
    {
      code: 'invalid_request',
      details: [required('/name'), { path: '/size', message: 'must be <= 5' }],
    },
  );
});

t.test('what is paid in ways of its own has no networks, and takes every request', async (t) => {
  t.strictSame(networksFor(routeOf({}, { networks: [] }), { size: 6 }), []);
});

t.test(
  'a result is held to its schema and left as it is; what is wrong is told by the first place in the schema',
  async (t) => {
    const result = { required: ['text'], properties: { text: { type: 'string' }, size: { default: 1 } } };
    const route = routeOf({}, { result });
    const good = { text: 'fog' };
    t.equal(resultFault(route, good), undefined);
    t.strictSame(good, { text: 'fog' });
    t.equal(resultFault(route, { secret: 'name' }), "#/required must have required property 'text'");
    const several = { properties: { text: { type: 'string' }, size: { type: 'number' } } };
    t.equal(
      resultFault(routeOf({}, { result: several }), { size: 'secret', text: 7 }),
      '#/properties/text/type must be string',
    );
  },
);

t.test('a whole number of more digits than are kept is refused at its place, and none that is kept', async (t) => {
  const number = { type: 'number' };
  const schema = { properties: { id: number, list: { type: 'array', items: number }, text: { type: 'string' } } };
  const asked = (body: string) => readInput(routeOf(schema), requestOf(body));
  const queried = (query: string) => readInput(routeOf(schema), requestOf('', { method: 'GET', query }));
  const refused = (path: string, read: string) => [
    { path, message: `has more digits than a number keeps, and would be read as ${read}` },
  ];
  t.same(problemOf(() => asked('{"id": 1234567890123456789}')).details, refused('/id', '1234567890123456800'));
  t.same(problemOf(() => asked('{"list": [1, -9007199254740993]}')).details, refused('/list/1', '-9007199254740992'));
  t.same(problemOf(() => queried('id=9007199254740993')).details, refused('/id', '9007199254740992'));
  t.same(asked('{"id": 1000000000000000000}'), { id: 1e18 });
  t.same(asked('{"id": 0.12345678901234567890, "list": [1e300]}'), { id: 0.12345678901234568, list: [1e300] });
  t.same(asked('{"id": 5, "text": "1234567890123456789 0000000000000000005"}').id, 5);
  t.same(queried('text=1234567890123456789'), { text: '1234567890123456789' });
});

t.test('schemas of a catalogue that is no longer sold are not kept', async (t) => {
  const words = Array.from({ length: 10_000 }, (_, place) => `word-${place}`);
  const sell = (): void => {
    const route = routeOf({ properties: { word: { description: words.join(' ') } } }, { result: { enum: [...words] } });
    readInput(route, requestOf({ word: 'fog' }));
    resultFault(route, 'word-1');
  };
  sell();
  const left = await heapLeftBy(async () => {
    for (let reload = 0; reload < 400; reload += 1) {
      sell();
      // Weak references are let go of between turns.
      await nextTurn();
    }
  });
  t.ok(left < 15_000_000, `${left} bytes are left of 400 catalogues of 200 kB each`);
});
