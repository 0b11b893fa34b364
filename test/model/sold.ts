/** What is sold in the model: one call at one price. */
import type { Route } from '../../src/catalogue/types.ts';
import { type Money, usd } from '../../src/money.ts';

export const PRICE = usd('0.01');

const listing = { price: PRICE, minPrice: undefined };
const text = { type: 'string' };
const request = { type: 'object', properties: { prompt: text }, required: ['prompt'], additionalProperties: false };
const result = { type: 'object', properties: { text }, required: ['text'], additionalProperties: false };

export const DEADLINE_MS = 300_000;

/** `use`: what a call costs in the end, where the price is an upper bound. */
export const soldBy = (rail: string, use?: Money): Route => ({
  id: 'model',
  kind: 'base',
  rail,
  methods: ['POST'],
  path: '/model',
  networks: ['model-chain'],
  requestOn: new Map(),
  price: {
    min: PRICE,
    max: PRICE,
    listed: PRICE,
    fixed: true,
    quote: () => PRICE,
    ...(use !== undefined && { actual: () => use }),
  },
  priceOptions: { rule: 'fixed' },
  listing,
  deadlineMs: DEADLINE_MS,
  bodyLimitBytes: 1_000,
  request,
  result,
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
});
