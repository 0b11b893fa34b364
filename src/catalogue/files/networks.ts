import { duration, text } from './common.ts';

const binding = {
  type: 'object',
  required: ['caip2', 'asset'],
  additionalProperties: false,
  properties: {
    caip2: {
      type: 'string',
      pattern: '^(eip155:[1-9][0-9]*|solana:[1-9A-HJ-NP-Za-km-z]{32})$',
      description: 'write a CAIP-2 id such as eip155:8453 or solana: and the first 32 letters of the genesis hash',
    },
    v1Name: text,
    asset: {
      type: 'object',
      required: ['symbol', 'address', 'decimals'],
      additionalProperties: false,
      properties: {
        symbol: text,
        address: {
          type: 'string',
          pattern: '^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$',
          description: 'write a quoted EVM address (0x and 40 hexadecimal digits) or a Solana mint',
        },
        decimals: { type: 'integer', minimum: 0, maximum: 18 },
        name: text,
        version: text,
      },
    },
    rpcUrl: { type: 'string', format: 'uri' },
  },
} as const;

/** One entry of `catalogue/networks.yaml`: NetworkFile. */
const networkFileSchema = {
  type: 'object',
  required: ['family', 'listedAs', 'live', 'sandbox'],
  additionalProperties: false,
  properties: {
    family: { type: 'string', enum: ['evm', 'solana'] },
    listedAs: text,
    prefix: {
      type: 'string',
      pattern: '^[a-z0-9][a-z0-9-]*$',
      description: 'a prefix is one path segment of lower-case letters, digits and "-"',
    },
    authorizationLasts: duration,
    confirmations: { type: 'integer', minimum: 1, maximum: 1000 },
    live: binding,
    sandbox: binding,
  },
} as const;

/** `catalogue/networks.yaml`: neutral id -> network. */
export const networksFileSchema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: networkFileSchema,
} as const;
