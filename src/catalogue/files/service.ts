import type { JsonObject } from '../../json.ts';
import type { RailDeclaration } from '../rails.ts';
import { amount, networkName, text } from './common.ts';

/** One block for each rail that has options there. */
const railOptions = (rails: readonly RailDeclaration[]): JsonObject =>
  Object.fromEntries(
    rails.flatMap(({ name, serviceOptions }) =>
      serviceOptions ? [[name, { ...serviceOptions, type: 'object', additionalProperties: false }]] : [],
    ),
  );

const exposure = {
  type: 'object',
  additionalProperties: false,
  properties: {
    perPayer: {
      ...amount,
      description: 'What a payer may have under way before it settles first; "2.00" unless given',
    },
    new: {
      ...amount,
      description: 'What of that may go beyond what the payer settled before on the network; "0.50" unless given',
    },
    perHour: {
      ...amount,
      description: 'The same for all payers together, with the losses of the last hour; "2.00" unless given',
    },
    lossLimit: {
      ...amount,
      description: 'Losses of an hour on a network or at an endpoint after which it settles first; "5.00" unless given',
    },
    settleUpfront: {
      type: 'object',
      additionalProperties: false,
      properties: {
        above: { ...amount, description: 'Calls that cost more settle first; "1.00" unless given' },
        contracts: { type: 'boolean', description: 'Contract wallets settle first; true unless given' },
        afterFailures: {
          type: 'integer',
          minimum: 1,
          description: 'So many failed settlements in a day make a payer settle first; 2 unless given',
        },
      },
    },
  },
} as const;

/** `catalogue/service.yaml`: ServiceFile. */
export const serviceFileSchema = (rails: readonly RailDeclaration[]): JsonObject => ({
  type: 'object',
  required: ['name', 'description', 'tags', 'instructions', 'defaultNetwork'],
  additionalProperties: false,
  properties: {
    name: text,
    description: text,
    contact: {
      type: 'object',
      additionalProperties: false,
      properties: { name: text, url: { type: 'string', format: 'uri' }, email: { type: 'string', format: 'email' } },
    },
    security: {
      type: 'object',
      required: ['contact'],
      additionalProperties: false,
      description: 'Whom to tell of a weakness, in /.well-known/security.txt',
      properties: {
        contact: {
          type: 'array',
          items: { type: 'string', format: 'uri', pattern: '^(mailto|https|tel):' },
          minItems: 1,
          description: 'Addresses, the preferred one first: mailto:..., https://... or tel:...',
        },
        policy: { type: 'string', format: 'uri', pattern: '^https:', description: 'Where the rules for reports stand' },
      },
    },
    tags: { type: 'array', items: text, minItems: 1, uniqueItems: true },
    instructions: text,
    ownershipProofs: { type: 'array', items: text },
    defaultNetwork: networkName,
    highestPrice: {
      ...amount,
      description: 'What one call may cost at most, against slips of the pen; unbounded unless given',
    },
    exposure,
    openapi: {
      type: 'object',
      additionalProperties: false,
      properties: {
        x402: {
          type: 'boolean',
          description: 'List the x402 operations in /openapi.json as well, for clients that read nothing else',
        },
      },
    },
    rails: { type: 'object', additionalProperties: false, properties: railOptions(rails) },
  },
});
