/** What holds of any service is held here against the shipped catalogue. */
import t from 'tap';
import type { Route } from '../../src/catalogue/types.ts';
import type { OpenApiDocument, Operation } from '../../src/discovery/openapi.ts';
import { toDecimal } from '../../src/money.ts';
import type { ResourceList } from '../../src/rails/x402/documents/resources.ts';
import { loadSound } from '../load-catalogue.ts';
import { documentsOf, mppRail, mppRailOfTwo, read as readOf } from './samples.ts';

const { service, networks, routes } = loadSound();
const documents = documentsOf({ service, networks, routes });
const bodyOf = (path: string): Buffer => documents.get(path)?.body ?? Buffer.alloc(0);
const read = <Content>(path: string): Content => readOf(documents, path);

const sold = (rail: Route['rail']): Route[] => routes.filter((route) => route.rail === rail);

/** The first operation of each path. */
function operationsOf({ paths }: OpenApiDocument): Map<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) => {
      const [operation] = Object.values(item);
      return operation ? [[path, operation] as const] : [];
    }),
  );
}

t.test('published schemas have items for every array, and no words of the catalogue', async (t) => {
  const wrongIn = (node: unknown, at: string): string[] => {
    if (typeof node !== 'object' || node === null) return [];
    const { type, items, format } = node as Record<string, unknown>;
    const isWrong = ([type].flat().includes('array') && !items) || format === 'amount';
    const inside = Object.entries(node).flatMap(([key, value]) => wrongIn(value, `${at}/${key}`));
    return isWrong ? [at, ...inside] : inside;
  };
  for (const path of ['/openapi.json', '/openapi/x402.json', '/x402-resources']) {
    t.same(wrongIn(read(path), path), []);
    t.not(wrongIn({ paths: read(path), format: 'amount' }, path).length, 0, 'what is wrong is found');
  }
});

t.test('the document says what amounts the sale of credits takes', async (t) => {
  const { paths } = read<OpenApiDocument>('/openapi/x402.json');
  const body = paths['/v1/credits']?.post?.requestBody?.content['application/json']?.schema;
  const amount = { type: 'string', pattern: /^\^/, 'x-minimum': '1', 'x-maximum': '1000' };
  t.match(body, { properties: { amount_usd: amount } });
});

t.test('every method of every route is an operation', async (t) => {
  for (const [rail, path] of [
    ['mpp', '/openapi.json'],
    ['x402', '/openapi/x402.json'],
  ] as const) {
    const { paths } = read<OpenApiDocument>(path);
    for (const route of sold(rail)) {
      t.same(Object.keys(paths[route.path] ?? {}).sort(), route.methods.map((each) => each.toLowerCase()).sort());
    }
  }
});

t.test('every route is listed once, at the price that its listing says', async (t) => {
  const { resources, count } = read<ResourceList>('/x402-resources');
  t.equal(count, sold('x402').length);
  t.same(
    resources.map(({ slug, pricing, minPrice }) => [slug, pricing.amount, minPrice]),
    sold('x402').map(({ path, listing: { price, minPrice } }) => [
      path.slice(1),
      toDecimal(price),
      minPrice === undefined ? undefined : Number(toDecimal(minPrice)),
    ]),
  );
});

for (const [rail, path] of [
  ['mpp', '/openapi.json'],
  ['x402', '/openapi/x402.json'],
] as const) {
  t.test(`every ${rail} route is one operation of ${path}, at its price`, async (t) => {
    const operations = operationsOf(read<OpenApiDocument>(path));
    t.same(
      [...operations.keys()].sort(),
      sold(rail)
        .map((route) => route.path)
        .sort(),
    );
    const ids = [...operations.values()].map(({ operationId }) => operationId);
    t.same(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      'operation ids are unique',
    );
    for (const route of sold(rail)) {
      const info = operations.get(route.path)?.['x-payment-info'];
      if (info?.pricingMode === 'fixed') t.equal(info.price, toDecimal(route.listing.price), route.path);
      else {
        t.equal(info?.minPrice, toDecimal(route.price.min), route.path);
        t.equal(info?.maxPrice, toDecimal(route.price.max), route.path);
      }
    }
  });
}

t.test('MPP operations are tagged with tags of the service', async (t) => {
  for (const { tags } of operationsOf(read<OpenApiDocument>('/openapi.json')).values()) {
    t.ok(tags.length > 0 && tags.every((tag) => service.tags.includes(tag)), tags.join());
  }
});

t.test('no document is too large for those who read it', async (t) => {
  for (const [methods, rail] of Object.entries({ tempo: mppRail, 'tempo and evm': mppRailOfTwo })) {
    const { length } =
      documentsOf({ service, networks, routes }, new Map([['mpp', rail]])).get('/openapi.json')?.body ?? [];
    t.ok(length > 0 && length < 64 * 1024, `registries of MPP services read 64 KB: paid by ${methods}, ${length}`);
  }
  t.ok(bodyOf('/openapi/x402.json').length < 2_000_000);
  t.ok(String(bodyOf('/llms.txt')).split('\n').length < 200);
});
