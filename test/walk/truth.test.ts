import t from 'tap';
import { withOpenConditions } from '../../src/discovery/schemas.ts';
import { usd } from '../../src/money.ts';
import { startGateway } from '../gateway.ts';
import { mirrorsOf, pricesOf } from './row.ts';
import { allRows } from './rows/index.ts';
import { type ListingPrice, listings, networkNames, type Offer, offersIn } from './wire.ts';

const NETWORKS = ['chain-a', 'chain-c', 'chain-d', 'chain-e', 'chain-f', 'polygon', 'arbitrum', 'avalanche'];
const gateway = await startGateway({ networks: NETWORKS });
t.teardown(gateway.stop);

/** What listings call networks, and what is paid there. */
const LISTED: Readonly<Record<string, { readonly name: string; readonly asset: string }>> = {
  'chain-a': { name: 'chain-a-mainnet', asset: 'USDC' },
  'chain-c': { name: 'chain-c-mainnet', asset: 'USDC' },
  'chain-d': { name: 'chain-d', asset: 'USDG' },
  'chain-e': { name: 'chain-e', asset: 'USDT0' },
};

interface PaymentInfo {
  readonly protocols: readonly string[];
  readonly pricingMode: string;
  readonly price?: string;
  readonly minPrice?: string;
  readonly maxPrice?: string;
  readonly offers: readonly {
    readonly amount: string;
    readonly currency: string;
    readonly network: string;
    readonly payTo: string;
  }[];
}

interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: object }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >;
  readonly 'x-payment-info': PaymentInfo;
}

interface Live {
  readonly status: number;
  readonly accepts: readonly Offer[];
  readonly inputSchema: unknown;
  /** The entries of version 1. */
  readonly v1: readonly Offer[];
}

/** A schema without its prose, which a 402 may leave out to stay small. */
function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (typeof schema !== 'object' || schema === null) return schema;
  const rest = Object.entries(schema).filter(([name, value]) => name !== 'description' || typeof value !== 'string');
  return Object.fromEntries(
    rest.filter(([name]) => !name.startsWith('x-')).map(([name, value]) => [name, bare(value)]),
  );
}

const json = async (path: string) => (await fetch(gateway.url + path)).json();

const resources = await listings(gateway);
const wellKnown = (await json('/.well-known/x402')) as {
  version: number;
  resources: string[];
  ownershipProofs: unknown;
};
const openApi = (await json('/openapi/x402.json')) as { paths: Record<string, Record<string, Described>> };
const names = networkNames(gateway);

async function liveOf(path: string, method: string): Promise<Live> {
  const answer = await fetch(gateway.url + path, { method });
  const header = Buffer.from(answer.headers.get('payment-required') ?? '', 'base64').toString();
  const input = JSON.parse(header || '{}').extensions?.bazaar?.schema?.properties?.input?.properties ?? {};
  const { accepts } = (await answer.json()) as { accepts: Offer[] };
  if (header.length * (4 / 3) > 8192) throw new Error(`the challenge of ${path} is over 8 KB`);
  return {
    status: answer.status,
    accepts: offersIn(answer),
    inputSchema: input.body ?? input.queryParams,
    v1: accepts,
  };
}

const sorted = (prices: readonly ListingPrice[]): ListingPrice[] =>
  [...prices].sort((left, right) => left.network.localeCompare(right.network));

t.test('every document lists the same routes, and all the routes of the specification', async (t) => {
  const paths = [...resources.keys()].sort();
  t.same(wellKnown.resources.map((resource) => resource.replace(gateway.url, '')).sort(), paths);
  t.same(Object.keys(openApi.paths).sort(), paths);
  const specified = allRows.flatMap((row) => [row.path, ...mirrorsOf(row).map(({ path }) => path)]);
  t.same([...specified, '/v1/credits'].sort(), paths);
  t.equal(wellKnown.version, 1);
  t.ok(Array.isArray(wellKnown.ownershipProofs));
});

for (const [path, listing] of resources) {
  t.test(`${listing.method} ${path} asks for what the documents say`, async (t) => {
    const live = await liveOf(path, listing.method);
    t.equal(live.status, 402);

    // Above a dollar everything settles first, whatever the lists say of the network.
    const flowOf = ({ amount, extra }: Offer) => (BigInt(amount) > 1_000_000n ? undefined : extra?.paymentFlow);
    const asked = live.accepts.map((offer) => {
      const { network, amount } = offer;
      const id = names.get(network) ?? network;
      const { name, asset } = LISTED[id] ?? { name: id, asset: 'USDC' };
      const paymentFlow = flowOf(offer);
      return { amount: String(BigInt(amount)), asset, network: name, ...(paymentFlow && { paymentFlow }) };
    });
    const prices = [listing.pricing, ...(listing.networks ?? [])];
    // A call without a body is none of those that `upfrontWhere` is about.
    const listed = prices.map(({ paymentFlow, upfrontWhere: _, ...each }) => {
      const amount = usd(each.amount);
      return { ...each, amount: String(amount), ...(paymentFlow && amount <= 1_000_000n && { paymentFlow }) };
    });
    t.same(sorted(asked), sorted(listed), '/x402-resources has its prices, assets and networks');
    if (prices.some(({ paymentFlow, upfrontWhere }) => paymentFlow || upfrontWhere))
      t.notMatch(listing.description, /not charged/, 'does not promise what is not so where a payment settles first');

    const described = openApi.paths[path]?.[listing.method.toLowerCase()];
    const payment = described?.['x-payment-info'];
    t.match(payment, { protocols: ['x402'] });
    t.same(
      new Set(
        payment?.offers.map(({ amount, currency, network, payTo }) => ({ amount, asset: currency, network, payTo })),
      ),
      new Set(live.accepts.map(({ amount, asset, network, payTo }) => ({ amount, asset, network, payTo }))),
      '/openapi/x402.json has its offers',
    );
    for (const { network, payTo } of live.accepts)
      t.equal(payTo, gateway.state.payTo[names.get(network) ?? ''], 'pay-to');
    for (const { amount, asset, payTo } of live.v1) {
      t.ok(
        live.accepts.some((offer) => offer.amount === amount && offer.asset === asset && offer.payTo === payTo),
        'version 1',
      );
    }

    t.same(bare(live.inputSchema), bare(listing.input_schema), 'the 402 has the input schema');
    const fields = Object.fromEntries(
      (described?.parameters ?? []).filter((each) => each.in === 'query').map(({ name, schema }) => [name, schema]),
    );
    if (listing.method === 'GET') t.same(fields, listing.input_schema.properties ?? {}, 'so has the OpenAPI document');
    else
      t.same(
        described?.requestBody?.content['application/json'].schema,
        // The same, in the form that linters of OpenAPI take.
        withOpenConditions(listing.input_schema),
        'so has the OpenAPI document',
      );
    t.same(
      described?.responses['200']?.content['application/json']?.schema,
      listing.output_schema,
      'and the output schema',
    );
  });
}

t.test('every price of the specification is within what the OpenAPI document says', async (t) => {
  for (const row of allRows) {
    const method = (row.method ?? 'POST').toLowerCase();
    const routes = [{ path: row.path, prices: pricesOf(row.price) }, ...mirrorsOf(row)];
    for (const { path, prices } of routes) {
      const info = openApi.paths[path]?.[method]?.['x-payment-info'];
      const [min, max] = [Number(info?.minPrice ?? info?.price), Number(info?.maxPrice ?? info?.price)];
      for (const { price } of prices)
        t.ok(Number(price) >= min && Number(price) <= max, `${path}: ${price} in ${min} to ${max}`);
    }
  }
});

t.test('llms.txt names every endpoint', async (t) => {
  const text = await (await fetch(`${gateway.url}/llms.txt`)).text();
  for (const { path } of allRows) t.ok(text.includes(`${path}:`), path);
});
