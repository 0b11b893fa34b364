import type { Route } from '../../../src/catalogue/types.ts';
import { usd } from '../../../src/money.ts';

/** An MPP route at a fixed price, enough for a rail. */
export function mppRoute(path: string, price = '0.05', deadlineMs = 1_000): Route {
  const amount = usd(price);
  return {
    id: path.slice(1),
    endpoint: {
      id: path.slice(1),
      group: 'test',
      file: '',
      summary: 'An image “in fog”',
      description: '',
      listing: { serviceName: 'Test', tags: ['test'], icon: undefined },
      secret: false,
      free: false,
      soldUntil: Number.POSITIVE_INFINITY,
      routes: [],
    },
    kind: 'operation',
    rail: 'mpp',
    methods: ['GET', 'POST'],
    path,
    networks: [],
    requestOn: new Map(),
    bodyLimitBytes: 1_048_576,
    price: { min: amount, max: amount, listed: amount, fixed: true, quote: () => amount },
    priceOptions: { rule: 'fixed', amount: price },
    listing: { price: amount, minPrice: undefined },
    deadlineMs,
    request: {},
    result: {},
    envelope: undefined,
    example: {},
    resultExample: {},
    upstreams: [],
    operation: undefined,
  };
}
