/** What is sold in the model: one call at one price. */
import type { Route } from '../../src/catalogue/types.ts';
import { usd } from '../../src/money.ts';

export const PRICE = usd('0.01');

const listing = { price: PRICE, minPrice: undefined };
const text = { type: 'string' };

export const route: Route = {
  id: 'model',
  kind: 'base',
  rail: 'model',
  methods: ['POST'],
  path: '/model',
  networks: ['model-chain'],
  requestOn: new Map(),
  price: { min: PRICE, max: PRICE, listed: PRICE, fixed: true, quote: () => PRICE },
  priceOptions: { rule: 'fixed' },
  listing,
  deadlineMs: 300_000,
  bodyLimitBytes: 1_000,
  request: { type: 'object', properties: { prompt: text }, required: ['prompt'], additionalProperties: false },
  result: { type: 'object', properties: { text }, required: ['text'], additionalProperties: false },
  envelope: undefined,
  example: { prompt: 'x' },
  resultExample: { text: 'x' },
  upstreams: [],
  operation: undefined,
  endpoint: {
    id: 'model',
    group: 'model',
    file: 'model.yaml',
    summary: '',
    description: '',
    listing: { serviceName: 'Model', tags: ['model'], icon: undefined },
    secret: false,
    free: false,
    soldUntil: Number.POSITIVE_INFINITY,
    routes: [],
  },
};
