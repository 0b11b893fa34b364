import type { Test } from 'tap';
import t from 'tap';
import type { Route } from '../../src/catalogue/types.ts';
import { usd } from '../../src/money.ts';
import { loadWritten, oil, replaced, rightFiles } from './temporary-catalogue.ts';

const FILE = 'endpoints/image/oil.yaml';

function routesOf(t: Test, endpoint: string): Route[] {
  return [...loadWritten(t, { [FILE]: endpoint }).routes];
}

function only<Item>(items: readonly Item[]): Item {
  if (items.length !== 1) throw new Error(`${items.length} items`);
  return items[0] as Item;
}

t.test('an endpoint is sold at its path, by POST, on chain-a, unless it says otherwise', async (t) => {
  const route = only(routesOf(t, oil));
  t.match(route, {
    id: 'image/oil',
    kind: 'base',
    rail: 'x402',
    methods: ['POST'],
    path: '/image/oil',
    networks: ['chain-a'],
    deadlineMs: 45_000,
    envelope: undefined,
    example: { prompt: 'fog' },
    resultExample: { url: 'https://shop.example/1.png' },
    operation: undefined,
  });
  t.equal(route.endpoint.id, 'image/oil');
  t.equal(route.endpoint.group, 'image');
  t.equal(route.endpoint.description, 'A picture in oil');
  t.match(route.upstreams, [{ via: 'pictures', model: 'oil' }]);
});

t.test('the default network is the one that service.yaml names', async (t) => {
  const service = replaced(rightFiles['service.yaml'] as string, 'defaultNetwork: chain-a', 'defaultNetwork: chain-e');
  const { routes } = loadWritten(t, { 'service.yaml': service });
  t.same(only(routes).networks, ['chain-e']);
});

t.test('method, networks and deadline are taken from the file', async (t) => {
  const route = only(routesOf(t, `${oil}method: GET\nnetworks: [chain-e, chain-a]\ndeadline: 10m\n`));
  t.match(route, { methods: ['GET'], networks: ['chain-e', 'chain-a'], deadlineMs: 600_000 });
});

t.test('requests are closed objects, results open ones, and no reference is left', async (t) => {
  const { request, result } = only(routesOf(t, oil));
  t.match(request, { type: 'object', additionalProperties: false });
  t.same((request.properties as Record<string, unknown>).prompt, { type: 'string', minLength: 1 });
  t.match(result, { type: 'object', additionalProperties: true, required: ['url'] });
  t.notMatch(JSON.stringify([request, result]), '$ref');
});

t.test('what stands beside a reference wins over the fragment, properties one by one', async (t) => {
  const changed = oil.replace(
    '{ $ref: picture }',
    '{ $ref: picture, description: Ours, properties: { width: { type: integer } } }',
  );
  const { result } = only(routesOf(t, changed));
  t.equal(result.description, 'Ours');
  t.same(Object.keys(result.properties as object), ['url', 'width']);
  t.same(result.required, ['url']);
});

t.test('a dynamic price is listed as that of an empty request, with the lowest beside it', async (t) => {
  t.same(only(routesOf(t, oil)).listing, { price: usd('0.05'), minPrice: usd('0.05') });
  t.same(only(routesOf(t, oil.replace('default: small', 'default: large'))).listing, {
    price: usd('0.1'),
    minPrice: usd('0.05'),
  });
});

t.test('a fixed price is listed without a lowest one', async (t) => {
  const fixed = oil.replace(/price: .*/, 'price: { rule: fixed, amount: "0.07" }');
  t.same(only(routesOf(t, fixed)).listing, { price: usd('0.07'), minPrice: undefined });
});

t.test('listing says what is listed, whatever the price is', async (t) => {
  const route = only(routesOf(t, `${oil}listing: { price: "0.1", minPrice: "0.06" }\n`));
  t.same(route.listing, { price: usd('0.1'), minPrice: usd('0.06') });
  t.equal(route.price.quote({ prompt: 'fog', size: 'small' }), usd('0.05'));
});

t.test('a mirror is sold below its network prefix, on that network alone, like its endpoint', async (t) => {
  const [base, mirror] = routesOf(
    t,
    `${oil}listing: { price: "0.1", minPrice: "0.06" }\nmirrors: [{ network: chain-e }]\n`,
  );
  t.match(mirror, {
    id: 'chain-e/image/oil',
    kind: 'mirror',
    rail: 'x402',
    methods: ['POST'],
    path: '/chain-e/image/oil',
    networks: ['chain-e'],
  });
  for (const part of ['request', 'result', 'example', 'resultExample', 'listing', 'upstreams', 'deadlineMs'] as const) {
    t.same(mirror?.[part], base?.[part], part);
  }
  t.equal(mirror?.endpoint, base?.endpoint);
});

t.test('a mirror may have its own path, price, request, example, upstream and envelope', async (t) => {
  const [, mirror] = routesOf(
    t,
    `${oil}listing: { price: "0.1", minPrice: "0.06" }
mirrors:
  - network: chain-a
    path: /elsewhere
    price: { rule: fixed, amount: "0.2" }
    request: { required: [words], properties: { words: { $ref: prompt } } }
    example: { words: fog }
    upstream: { via: pictures, input: { text: words } }
    envelope: data
`,
  );
  t.match(mirror, {
    id: 'elsewhere',
    path: '/elsewhere',
    listing: { price: usd('0.2') },
    example: { words: 'fog' },
    envelope: 'data',
    resultExample: { success: true, data: { url: 'https://shop.example/1.png' } },
  });
  t.same(mirror?.listing.minPrice, undefined, 'a listing belongs to the price it was written for');
});

t.test('the flag envelope adds success to the result', async (t) => {
  const [, mirror] = routesOf(t, `${oil}mirrors: [{ network: chain-e, envelope: flag }]\n`);
  t.same(mirror?.resultExample, { success: true, url: 'https://shop.example/1.png' });
});

t.test('an MPP operation is sold below /mpp, by GET and POST, on no network of its own', async (t) => {
  const [, mpp] = routesOf(t, `${oil}mpp: { operationId: paint, tag: Pictures }\n`);
  t.match(mpp, {
    id: 'mpp/image/oil',
    kind: 'operation',
    rail: 'mpp',
    methods: ['GET', 'POST'],
    path: '/mpp/image/oil',
    networks: [],
    operation: { operationId: 'paint', tag: 'Pictures' },
  });
});

t.test('an MPP operation may have its own path and price', async (t) => {
  const [base, mpp] = routesOf(
    t,
    `${oil}mpp: { operationId: paint, tag: Pictures, path: /mpp/paint, price: { rule: fixed, amount: "0.2" } }\n`,
  );
  t.equal(mpp?.path, '/mpp/paint');
  t.equal(mpp?.price.quote({ prompt: 'fog' }), usd('0.2'));
  t.equal(base?.price.quote({ prompt: 'fog', size: 'small' }), usd('0.05'));
});

t.test('several upstreams are kept in their order', async (t) => {
  const start = oil.slice(0, oil.indexOf('upstream:'));
  const route = only(
    routesOf(
      t,
      `${start}upstream:
  - { via: pictures, model: oil, input: { text: prompt } }
  - { via: pictures, input: { text: prompt, format: size } }
`,
    ),
  );
  t.same(
    route.upstreams.map((upstream) => upstream.model),
    ['oil', undefined],
  );
});
