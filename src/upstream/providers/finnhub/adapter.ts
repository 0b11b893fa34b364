/** Single figures of US stocks, as Finnhub answers them. */
import type { Adapter } from '../../adapter.ts';
import { askFinnhub, type FinnhubOperation, operations } from './client.ts';

type FinnhubOptions = { readonly operation: FinnhubOperation };

export const finnhub: Adapter<FinnhubOptions, 'finnhub'> = {
  name: 'finnhub',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['operation'],
    properties: { operation: { enum: Object.keys(operations), description: 'What the provider is asked for' } },
  },
  reads: () => ({ fields: {}, passesOthers: true }),
  authorize: (_request, { key }) => ({ headers: { 'x-finnhub-token': `${key}` } }),
  async call(input, binding, context) {
    const query = Object.fromEntries(Object.entries(input).map(([field, value]) => [field, String(value)]));
    return { answer: await askFinnhub(binding.options.operation, query, binding, context) };
  },
};
