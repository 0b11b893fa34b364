import { amount, anySchema, duration, endpointPath, text } from './common.ts';

/** The id of a network in `networks.yaml`. */
export const networkName = { ...text } as const;

/** A tag of `service.yaml`. */
export const tagName = { ...text } as const;

/** A price names its rule; the rest is checked against the rule's own options. */
export const price = { type: 'object', required: ['rule'], properties: { rule: text } } as const;

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

const mpp = {
  type: 'object',
  required: ['operationId', 'tag'],
  additionalProperties: false,
  properties: {
    operationId: {
      type: 'string',
      pattern: '^[A-Za-z][A-Za-z0-9_]*$',
      description: 'an operation id has letters, digits and "_"',
    },
    tag: tagName,
    path: endpointPath,
    price,
    deadline: duration,
    request: anySchema,
    example: { type: 'object' },
  },
} as const;

/** `catalogue/endpoints/<group>/<name>.yaml`: EndpointFile. */
export const endpointFileSchema = {
  type: 'object',
  required: ['summary', 'path', 'price', 'request', 'result', 'example', 'upstream'],
  additionalProperties: false,
  properties: {
    summary: text,
    description: text,
    method: { type: 'string', enum: ['GET', 'POST'] },
    path: endpointPath,
    networks: { type: 'array', items: networkName, minItems: 1, uniqueItems: true },
    price,
    listing: {
      type: 'object',
      required: ['price', 'minPrice'],
      additionalProperties: false,
      properties: { price: amount, minPrice: amount },
    },
    deadline: duration,
    request: anySchema,
    result: anySchema,
    envelope,
    secret: { type: 'boolean' },
    example: { type: 'object' },
    upstream,
    mirrors: { type: 'array', items: mirror },
    mpp,
  },
} as const;
