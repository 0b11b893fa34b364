/** Tokens, holders, trades and candles of many chains, from OKX's market API. */
import type { RequestReads } from '../../../catalogue/contracts.ts';
import type { Adapter } from '../../adapter.ts';
import { analyse } from './analysis.ts';
import { authorizeOkx } from './client.ts';
import { discover } from './discovery.ts';

type OkxOptions = {
  /** `discovery` finds tokens and traders, `market` looks into named tokens; the request's `action` says how. */
  readonly operation: 'discovery' | 'market';
  /** What this service calls the chain: one of the upstream's `chains`. */
  readonly chain: string;
};

const fieldsRead: Readonly<Record<OkxOptions['operation'], RequestReads['fields']>> = {
  discovery: {
    action: 'string',
    keyword: 'string?',
    limit: 'number?',
    timeFrame: 'string?',
    sortBy: 'string?',
    tokenAddress: 'string?',
    walletType: 'string?',
  },
  market: {
    action: 'string',
    tokenAddress: 'string?',
    tokenAddresses: 'string[]?',
    bar: 'string?',
    limit: 'number?',
    tagFilter: 'string?',
  },
};

export const okxDexMarket: Adapter<OkxOptions> = {
  name: 'okx-dex-market',
  secrets: ['key', 'secret', 'passphrase'],
  options: {
    type: 'object',
    required: ['operation', 'chain'],
    properties: {
      operation: {
        enum: ['discovery', 'market'],
        description: "Finding tokens and traders, or looking into named tokens; the request's action says how",
      },
      chain: {
        type: 'string',
        minLength: 1,
        'x-upstream-setting': 'chains',
        description: "One of the upstream's chains",
      },
    },
  },
  upstreamOptions: {
    type: 'object',
    required: ['chains'],
    properties: {
      chains: {
        type: 'object',
        minProperties: 1,
        additionalProperties: { type: 'string', pattern: '^[0-9]+$' },
        description: "What this service calls a chain: OKX's number of it",
      },
    },
  },
  answers: () => ['chain', 'action', 'data'],
  reads: ({ operation }) => ({ fields: fieldsRead[operation as OkxOptions['operation']] }),
  authorize: authorizeOkx,
  async call(input, binding, context) {
    const { operation, chain } = binding.options;
    const action = String(input.action);
    switch (operation) {
      case 'discovery':
        return { chain, action, data: await discover(input, chain, binding, context) };
      case 'market':
        return { chain, action, ...(await analyse(input, chain, binding, context)) };
    }
  },
};
