import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import type { Network } from '../../src/catalogue/types.ts';
import { exposurePolicy } from '../../src/payment/exposure/policy.ts';
import { resourceList } from '../../src/rails/x402/documents/resources.ts';
import { wellKnownX402 } from '../../src/rails/x402/documents/well-known.ts';
import { networks, oil, parts, payTo, publicUrl, routesOf, service, sized, trend } from './samples.ts';

const payable = { networks, payTo, mode: 'live' } as const;
const { resources, ...list } = resourceList(parts.routes, payable, publicUrl, exposurePolicy());
const item = (slug: string) => resources.find((each) => each.slug === slug);

t.test('lists what the x402 rail sells, mirrors included, and nothing else', async (t) => {
  t.same(list, { x402_version: 'v2', count: 4 });
  t.same(
    resources.map(({ method, slug }) => `${method} ${slug}`),
    ['POST image/oil', 'POST stable/image/oil', 'POST image/sized', 'GET token/trend'],
  );
});

t.test('a price is a number, and a decimal string beside its asset and network', async (t) => {
  t.equal(item('image/oil')?.price, 0.05);
  t.same(item('image/oil')?.pricing, { amount: '0.05', asset: 'USDC', network: 'sol-main' });
  t.same(item('stable/image/oil')?.pricing, { amount: '0.06', asset: 'USDT0', network: 'stable-main' });
});

t.test('only a price that depends on the request has a lowest price', async (t) => {
  t.equal(item('image/sized')?.price, 0.1);
  t.equal(item('image/sized')?.minPrice, 0.06);
  t.notOk('minPrice' in (item('image/oil') ?? {}));
});

t.test('a resource names the service that sells it, what it is found under and a picture', async (t) => {
  const named = { serviceName: 'Corner shop', iconUrl: 'https://shop.example/icon.svg' };
  t.match(item('stable/image/oil'), { ...named, tags: ['image'] });
  t.match(item('token/trend'), { ...named, tags: ['token'] });
});

t.test('a route with several networks names the others', async (t) => {
  t.same(item('image/oil')?.networks, [{ amount: '0.05', asset: 'USDC', network: 'base-main' }]);
  t.notOk('networks' in (item('image/sized') ?? {}));
});

t.test('the output schema describes the answer as it is sent, envelope included', async (t) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  for (const route of routesOf(oil, sized, trend).filter(({ rail }) => rail === 'x402')) {
    const accepts = ajv.compile(item(route.path.slice(1))?.output_schema ?? false);
    t.ok(accepts(route.resultExample), route.path);
    t.equal(accepts({}), false, `${route.path} refuses an answer that lacks everything`);
  }
});

t.test('a route that no network pays for is not listed, nor a network without an address', async (t) => {
  const onlySolana = new Map([...networks].filter(([id]) => id === 'sol'));
  const withoutEvm = resourceList(parts.routes, { ...payable, networks: onlySolana }, publicUrl, exposurePolicy());
  t.same(
    withoutEvm.resources.map(({ slug }) => slug),
    ['image/oil', 'image/sized', 'token/trend'],
  );
  t.notOk('networks' in (withoutEvm.resources[0] ?? {}));
  const onlyBase = { ...payable, payTo: (network: Network) => (network.id === 'base' ? payTo(network) : undefined) };
  const unpaid = resourceList(parts.routes, onlyBase, publicUrl, exposurePolicy());
  t.same(
    unpaid.resources.map(({ slug, pricing }) => `${slug} ${pricing.network}`),
    ['image/oil base-main'],
  );
});

t.test('the well-known document has the address of every resource and the proofs of ownership', async (t) => {
  t.same(wellKnownX402(service, parts.routes, payable, publicUrl), {
    version: 1,
    resources: resources.map(({ slug }) => `https://shop.example/${slug}`),
    ownershipProofs: ['0xsigned'],
    instructions: 'Ask, pay, ask again.',
  });
  const { ownershipProofs: _, ...unproven } = service;
  t.same(wellKnownX402(unproven, [], payable, publicUrl).ownershipProofs, []);
});
