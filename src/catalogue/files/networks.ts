import { duration, text } from './common.ts';

const binding = {
  type: 'object',
  required: ['caip2', 'asset'],
  additionalProperties: false,
  properties: {
    caip2: {
      type: 'string',
      pattern: '^(eip155:[1-9][0-9]*|solana:[1-9A-HJ-NP-Za-km-z]{32})$',
      description: 'The CAIP-2 id of the chain',
      'x-expected': 'write a CAIP-2 id such as eip155:8453 or solana: and the first 32 letters of the genesis hash',
    },
    v1Name: { ...text, description: 'What x402 version 1 calls it; without one, its clients are not offered it' },
    asset: {
      type: 'object',
      description: 'The stablecoin that is paid',
      required: ['symbol', 'address', 'decimals'],
      additionalProperties: false,
      properties: {
        symbol: { ...text, description: 'As people know it' },
        address: {
          type: 'string',
          pattern: '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$',
          description: "The token's contract, or its mint on Solana",
          'x-expected': 'write a quoted EVM address (0x and 40 hexadecimal digits) or a Solana mint',
        },
        decimals: { type: 'integer', minimum: 0, maximum: 18, description: 'Decimals of its amounts' },
        name: { ...text, description: 'Name of its EIP-712 domain, which an EVM asset needs' },
        version: { ...text, description: 'Version of its EIP-712 domain, which an EVM asset needs' },
      },
    },
    rpcUrl: { type: 'string', format: 'uri', description: 'The node that is asked what became of payments' },
    walletFactories: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      uniqueItems: true,
      items: {
        type: 'string',
        pattern: '^0x[0-9a-fA-F]{40}$',
        'x-expected': 'write a quoted EVM address: 0x and 40 hexadecimal digits',
      },
      description:
        'Contracts whose wallets may pay before they exist (ERC-6492), where a key of yours settles: it deploys them, at your cost; none unless given',
      examples: [['0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842']],
    },
  },
} as const;

/** One entry of `catalogue/networks.yaml`: NetworkFile. */
const networkFileSchema = {
  type: 'object',
  required: ['family', 'listedAs', 'live', 'sandbox'],
  additionalProperties: false,
  properties: {
    family: { type: 'string', enum: ['evm', 'solana'], description: 'What sort of chain it is' },
    listedAs: { ...text, description: 'Its name in resource listings' },
    prefix: {
      type: 'string',
      pattern: '^[a-z0-9][a-z0-9-]*$',
      description: 'First segment of the paths of mirrors on it',
      'x-expected': 'a prefix is one path segment of lower-case letters, digits and "-"',
    },
    authorizationLasts: {
      ...duration,
      description: 'How long a signed payment is good; as long as the challenge asks unless given',
    },
    confirmations: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 1,
      description: 'How many blocks deep a payment lies before credits bought with it can be spent',
      examples: [12],
    },
    live: { ...binding, description: 'The network in live mode' },
    sandbox: { ...binding, description: 'The network in the sandbox' },
  },
} as const;

/** `catalogue/networks.yaml`: neutral id -> network. */
export const networksFileSchema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: networkFileSchema,
} as const;
