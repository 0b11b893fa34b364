/** Assets, their variants and markets, as tokens.xyz answers them, in this service's words. */
import type { Adapter } from '../../adapter.ts';
import { askTokens, DEFAULT_CHAIN, operations, readsOf, type TokensOperation } from './client.ts';

type TokensOptions = { readonly operation: TokensOperation };

export const tokensXyz: Adapter<TokensOptions> = {
  name: 'tokens-xyz',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['operation'],
    properties: { operation: { enum: Object.keys(operations), description: 'What the provider is asked for' } },
  },
  reads: ({ operation }) => readsOf(operation as TokensOperation),
  upstreamOptions: {
    type: 'object',
    properties: {
      chain: { type: 'string', default: DEFAULT_CHAIN, description: 'What this service calls the chain' },
    },
  },
  authorize: (_request, { key }) => ({ headers: { 'x-api-key': `${key}` } }),
  call: (input, binding, context) => askTokens(binding.options.operation, input, binding, context),
};
