/** A small service to describe: every kind of route that documents tell apart. */
import type { Endpoint, Network, NetworkId, Price, Route, ServiceFile } from '../../src/catalogue/types.ts';
import type { Document } from '../../src/discovery/document.ts';
import { createDocuments } from '../../src/discovery/index.ts';
import type { DocumentParts } from '../../src/discovery/rail-documents.ts';
import { ownOperations } from '../../src/http/documents/index.ts';
import { usd } from '../../src/money.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { railDocuments } from '../../src/rails/documents.ts';
import { type MppOptions, openMppRail } from '../../src/rails/mpp/rail.ts';
import { noExposure } from '../payment/exposure/none.ts';

const binding = (caip2: string, symbol: string, address: string) => ({
  caip2,
  asset: { symbol, address, decimals: 6 },
});

function network(id: NetworkId, family: Network['family'], own: ReturnType<typeof binding>): Network {
  return { id, family, listedAs: `${id}-main`, prefix: id, authorizationLastsMs: undefined, live: own, sandbox: own };
}

export const networks: ReadonlyMap<NetworkId, Network> = new Map(
  [
    network(
      'sol',
      'solana',
      binding('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
    ),
    network('base', 'evm', binding('eip155:8453', 'USDC', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')),
    network('stable', 'evm', binding('eip155:988', 'USDT0', '0x779Ded0c9e1022225f8E0630b35a9b54bE713736')),
  ].map((each) => [each.id, each]),
);

const evmPayTo = '0x1111111111111111111111111111111111111111';

export const payTo = ({ family }: Network): string =>
  family === 'evm' ? evmPayTo : '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';

export const service: ServiceFile = {
  name: 'Corner shop',
  description: 'Sells pictures and prices',
  contact: { email: 'shop@example.com' },
  tags: ['Pictures', 'Prices'],
  instructions: 'Ask, pay, ask again.',
  ownershipProofs: ['0xsigned'],
  defaultNetwork: 'sol',
};

/** The price of every request, or lowest, listed and highest where the request decides. */
export function price(...amounts: [string] | [min: string, listed: string, max: string]): Price {
  const [min, listed, max] = amounts.length === 1 ? [amounts[0], amounts[0], amounts[0]] : amounts;
  return { min: usd(min), listed: usd(listed), max: usd(max), fixed: min === max, quote: () => usd(listed) };
}

const prompt = { type: 'string', minLength: 1, description: 'What to make' } as const;
const size = { type: 'string', enum: ['small', 'large'], default: 'small' } as const;
const pictureUrl = 'https://shop.example/media/1.png';

type RouteChanges = Partial<Omit<Route, 'endpoint'>> & Pick<Route, 'path'>;

/** An endpoint with its routes; what a route does not say is the same for all. */
export function endpoint(id: string, first: RouteChanges, ...others: readonly RouteChanges[]): Endpoint {
  const routes: Route[] = [];
  const made: Endpoint = {
    id,
    group: id.split('/')[0] ?? id,
    file: `${id}.yaml`,
    summary: `Sells ${id}`,
    description: `Sells ${id}, at length`,
    listing: { serviceName: 'Corner shop', tags: [id.split('/')[0] ?? id], icon: undefined },
    secret: false,
    free: false,
    soldUntil: Number.POSITIVE_INFINITY,
    routes,
  };
  for (const changes of [first, ...others]) {
    const ownPrice = changes.price ?? first.price ?? price('0.05');
    const result = {
      type: 'object',
      required: ['url'],
      properties: { url: { type: 'string', format: 'uri' } },
      additionalProperties: true,
      examples: [{ url: pictureUrl }],
    };
    routes.push({
      id: changes.path.slice(1),
      endpoint: made,
      kind: 'base',
      rail: 'x402',
      methods: ['POST'],
      requestOn: new Map(),
      bodyLimitBytes: 1_048_576,
      networks: ['sol'],
      price: ownPrice,
      priceOptions: { rule: 'fixed' },
      listing: { price: ownPrice.listed, minPrice: ownPrice.fixed ? undefined : ownPrice.min },
      deadlineMs: 60_000,
      request: { type: 'object', required: ['prompt'], properties: { prompt, size }, additionalProperties: false },
      result,
      envelope: undefined,
      example: { prompt: "a lighthouse that's lit" },
      resultExample: { url: pictureUrl },
      upstreams: [],
      operation: undefined,
      ...changes,
    });
  }
  return made;
}

const mpp = { kind: 'operation', rail: 'mpp', methods: ['GET', 'POST'], networks: [] } as const;

export const oil = endpoint(
  'image/oil',
  { path: '/image/oil', networks: ['sol', 'base'] },
  {
    path: '/stable/image/oil',
    kind: 'mirror',
    networks: ['stable'],
    price: price('0.06'),
    envelope: 'data',
    resultExample: { success: true, data: { url: pictureUrl } },
  },
  { path: '/mpp/image/oil', ...mpp, operation: { operationId: 'mpp_image_oil', tag: 'Pictures' } },
);

export const sized = endpoint(
  'image/sized',
  {
    path: '/image/sized',
    price: price('0.06', '0.1', '0.15'),
    listing: { price: usd('0.1'), minPrice: usd('0.06') },
    envelope: 'flag',
    resultExample: { success: true, url: pictureUrl },
  },
  {
    path: '/mpp/image/sized',
    ...mpp,
    price: price('0.06', '0.1', '0.15'),
    operation: { operationId: 'mpp_image_sized', tag: 'Pictures' },
  },
);

const noFields = { type: 'object', properties: {}, additionalProperties: false } as const;
const query = {
  type: 'object',
  required: ['ticker'],
  properties: { ticker: { type: 'string', description: 'What to look up' }, limit: { type: 'integer', default: 5 } },
  additionalProperties: false,
} as const;

export const trend = endpoint(
  'token/trend',
  { path: '/token/trend', methods: ['GET'], price: price('0.1'), request: query, example: { ticker: 'ABC' } },
  {
    path: '/mpp/token/trend',
    ...mpp,
    request: noFields,
    example: {},
    operation: { operationId: 'mpp_trend', tag: 'Prices' },
  },
);

export const routesOf = (...endpoints: readonly Endpoint[]): Route[] => endpoints.flatMap(({ routes }) => routes);

export const publicUrl = 'https://shop.example';
export const tempo = '0x20c0000000000000000000000000000000000000';

export const parts: DocumentParts = {
  service,
  routes: routesOf(oil, sized, trend),
  networks,
  payTo,
  mode: 'live',
  publicUrl,
};

const mppOptions: MppOptions = {
  exposure: noExposure,
  secrets: ['a secret of the test that is long enough'],
  realm: 'shop.example',
  tempo: { rpcUrl: 'https://tempo.example', chainId: 4217, currency: tempo, recipient: evmPayTo },
};

/** MPP, paid on Tempo. */
export const mppRail = openMppRail(mppOptions);

const nobodyAsks = () => Promise.reject(new Error('documents ask no facilitator'));

/** The same, paid by EIP-3009 as well. */
export const mppRailOfTwo = openMppRail({
  ...mppOptions,
  evm: [
    {
      network: 'base',
      chainId: 8453,
      asset: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', decimals: 6, name: 'USD Coin', version: '2' },
      payTo: evmPayTo,
      rpcUrl: 'https://base.example',
      facilitator: { verify: nobodyAsks, settle: nobodyAsks },
    },
  ],
});

/** The sample service's documents, with other parts or rails where a test says so. */
export function documentsOf(
  changes: Partial<DocumentParts> = {},
  opened: ReadonlyMap<string, Rail> = new Map([['mpp', mppRail]]),
): ReadonlyMap<string, Document> {
  const all = { ...parts, ...changes };
  return createDocuments(
    all,
    railDocuments(all, opened),
    ownOperations({ models: ['vendor5-k3'], refunds: true, channels: false }),
  ).served;
}

/** The content of a JSON document. */
export const read = <Content>(documents: ReadonlyMap<string, Document>, path: string): Content =>
  JSON.parse(String(documents.get(path)?.body));
