/** Prices and tokens of Solana, as Jupiter answers them. */
import type { RequestReads } from '../../../catalogue/contracts.ts';
import type { Adapter } from '../../adapter.ts';
import { type JupiterRanking, prices, searchTokens, taggedTokens, topTokens } from './client.ts';

type JupiterOptions = { readonly operation: 'prices' | 'search' | 'top' | 'tagged' };

const fieldsRead: Readonly<Record<JupiterOptions['operation'], RequestReads['fields']>> = {
  prices: { mints: 'string[]|string' },
  search: { query: 'string' },
  top: { ranking: 'string', interval: 'string' },
  tagged: { tag: 'string' },
};

export const jupiterData: Adapter<JupiterOptions> = {
  name: 'jupiter-data',
  secrets: [],
  optionalSecrets: ['key'],
  options: {
    type: 'object',
    required: ['operation'],
    properties: {
      operation: { enum: ['prices', 'search', 'top', 'tagged'], description: 'What the provider is asked for' },
    },
  },
  reads: ({ operation }) => ({ fields: fieldsRead[operation as JupiterOptions['operation']] }),
  authorize: (_request, { key }) => (key === undefined ? {} : { headers: { 'x-api-key': key } }),
  async call(input, binding, context) {
    switch (binding.options.operation) {
      case 'prices': {
        const mints = Array.isArray(input.mints) ? input.mints.map(String) : String(input.mints).split(',');
        return { prices: Object.fromEntries(await prices(binding, mints, context)) };
      }
      case 'search':
        return { tokens: await searchTokens(binding, String(input.query), context) };
      case 'top':
        return {
          tokens: await topTokens(
            binding,
            String(input.ranking) as JupiterRanking,
            String(input.interval),
            100,
            context,
          ),
        };
      case 'tagged':
        return { tokens: await taggedTokens(binding, String(input.tag), context) };
    }
  },
};
