import type { JsonObject } from '../../json.ts';
import type { OperationDeclaration, RailDeclaration } from '../rails.ts';
import { amount, anySchema, duration, endpointPath, networkName, text } from './common.ts';

/** A price names its rule; the rest is checked against the rule's own options. */
export const price = {
  type: 'object',
  required: ['rule'],
  properties: { rule: text },
  description: 'write a rule with its options, such as { rule: fixed, amount: "0.05" }',
} as const;

/** One use of an upstream or recipe, or several in order; checked against adapters and recipes. */
export const upstream = {
  type: ['object', 'array'],
  minItems: 1,
  items: { type: 'object' },
} as const;

const envelope = { type: 'string', enum: ['data', 'flag'] } as const;

const mirror = {
  type: 'object',
  required: ['network'],
  additionalProperties: false,
  properties: {
    network: networkName,
    path: endpointPath,
    price,
    request: anySchema,
    result: anySchema,
    example: { type: 'object' },
    envelope,
    upstream,
  },
} as const;

/** The same for every request, or by the value of a field: DeadlineByField. */
const deadline = {
  if: { type: 'object' },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
  then: {
    type: 'object',
    required: ['by', 'values'],
    additionalProperties: false,
    properties: { by: text, values: { type: 'object', minProperties: 1, additionalProperties: duration } },
  },
  else: duration,
} as const;

/** What the block of any rail's operation may say, besides the rail's own options: OperationOptions. */
const operation = { path: endpointPath, price, deadline, request: anySchema, example: { type: 'object' } };

const operationBlock = ({ options }: OperationDeclaration): JsonObject => ({
  type: 'object',
  required: options.required,
  additionalProperties: false,
  properties: { ...(options.properties as JsonObject), ...operation },
});

/** `catalogue/endpoints/<group>/<name>.yaml`: EndpointFile, and a block for each rail that sells by operation. */
export const endpointFileSchema = (rails: readonly RailDeclaration[]): JsonObject => ({
  type: 'object',
  required: ['summary', 'path', 'price', 'request', 'result', 'example', 'upstream'],
  additionalProperties: false,
  properties: {
    // Coinbase's facilitator refuses challenges with a longer description.
    summary: { ...text, maxLength: 500 },
    description: text,
    method: { type: 'string', enum: ['GET', 'POST'] },
    path: endpointPath,
    networks: { type: 'array', items: networkName, minItems: 1, uniqueItems: true },
    requestOn: { type: 'object', propertyNames: networkName, additionalProperties: anySchema },
    price,
    listing: {
      type: 'object',
      required: ['price', 'minPrice'],
      additionalProperties: false,
      properties: { price: amount, minPrice: amount },
    },
    deadline,
    request: anySchema,
    result: anySchema,
    envelope,
    secret: { type: 'boolean' },
    free: { type: 'boolean' },
    enabled: { type: 'boolean' },
    retire: {
      type: 'string',
      format: 'date',
      description: 'write the first day on which it is not sold, as 2027-01-31',
    },
    example: { type: 'object' },
    upstream,
    mirrors: { type: 'array', items: mirror },
    ...Object.fromEntries(
      rails.flatMap(({ operation }) => (operation ? [[operation.key, operationBlock(operation)]] : [])),
    ),
  },
});
