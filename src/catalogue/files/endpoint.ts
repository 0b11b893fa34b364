import type { JsonObject } from '../../json.ts';
import type { OperationDeclaration, RailDeclaration } from '../rails.ts';
import { amount, anySchema, duration, endpointPath, networkName, text } from './common.ts';

/** A price names its rule; the rest is checked against the rule's own options. */
const price = {
  type: 'object',
  required: ['rule'],
  properties: { rule: { ...text, description: 'The name of the rule; its options stand beside it' } },
  'x-expected': 'write a rule with its options, such as { rule: fixed, amount: "0.05" }',
  'x-part': 'price',
} as const;

/** One use of an upstream or recipe, or several in order; checked against adapters and recipes. */
const upstream = {
  type: ['object', 'array'],
  minItems: 1,
  items: { type: 'object' },
  'x-part': 'upstream',
} as const;

/** Keys of an `upstream:` beside the options of its adapter or recipe. */
export const upstreamKeys = {
  via: { type: 'string', description: 'The upstream of upstreams.yaml that serves it' },
  model: { type: 'string', description: 'One of the models of that upstream' },
  recipe: { type: 'string', description: 'In place of via: a recipe that works with several upstreams' },
  uses: {
    type: 'object',
    properties: {},
    additionalProperties: true,
    description: "The recipe's roles: each role's upstream, with model and options as above",
  },
} as const;

const envelope = {
  type: 'string',
  enum: ['data', 'flag'],
  description: 'How a result is wrapped: { success: true, data: <the result> }, or success: true beside its own keys',
} as const;

/** A request, as callers send it. */
const example = { type: 'object', examples: [{ prompt: 'a lighthouse in fog' }] } as const;

const mirror = {
  type: 'object',
  required: ['network'],
  additionalProperties: false,
  properties: {
    network: { ...networkName, description: 'Where the mirror is paid' },
    path: { ...endpointPath, description: "Its path, where that is not the network's prefix and the endpoint's path" },
    price: { ...price, description: "Its price, where that is not the endpoint's" },
    request: { ...anySchema, description: "Its request, where that is not the endpoint's" },
    result: { ...anySchema, description: "Its result, where that is not the endpoint's" },
    example: { ...example, description: "Needed where its request refuses the endpoint's example" },
    envelope,
    upstream: { ...upstream, description: "Its upstream, where that is not the endpoint's" },
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
    properties: {
      by: { ...text, description: 'The request field that it depends on; it has an enum', examples: ['resolution'] },
      values: {
        type: 'object',
        minProperties: 1,
        additionalProperties: duration,
        description: 'How long for each value of the field',
        examples: [{ '1k': '1m', '4k': '2m' }],
      },
    },
  },
  else: duration,
} as const;

/** What the block of any rail's operation may say, besides the rail's own options: OperationOptions. */
const operation = {
  path: { ...endpointPath, description: "Its path, where that is not the rail's prefix and the endpoint's path" },
  price: { ...price, description: "Its price, where that is not the endpoint's" },
  deadline: {
    ...deadline,
    description: "A shorter one than the endpoint's, where the rail's payments are good for less time",
  },
  request: { ...anySchema, description: "Its request, where that is not the endpoint's" },
  example: { ...example, description: "Needed where its request refuses the endpoint's example" },
};

const operationBlock = (title: string, { options }: OperationDeclaration): JsonObject => ({
  type: 'object',
  description: `Sells the endpoint over ${title} as well`,
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
    summary: {
      ...text,
      maxLength: 500,
      'x-expected': 'write at most 500 characters, which is what facilitators take, and the rest in description',
      description: 'What a call gives, in one line',
    },
    description: { ...text, description: 'The same at length; the summary unless given' },
    method: { type: 'string', enum: ['GET', 'POST'], default: 'POST', description: 'How it is called' },
    path: { ...endpointPath, description: 'Where it is sold' },
    networks: {
      type: 'array',
      items: networkName,
      minItems: 1,
      uniqueItems: true,
      description: 'Where it can be paid; the defaultNetwork of service.yaml unless given',
    },
    requestOn: {
      type: 'object',
      propertyNames: networkName,
      additionalProperties: anySchema,
      description: 'Network: what a request has to fit besides to be offered there',
    },
    price: { ...price, description: 'What a call costs' },
    listing: {
      type: 'object',
      description: 'What resource listings say of a price that depends on the request; its own figures unless given',
      required: ['price', 'minPrice'],
      additionalProperties: false,
      properties: {
        price: { ...amount, description: 'The price to list' },
        minPrice: { ...amount, description: 'The lowest price to list' },
      },
    },
    deadline: {
      ...deadline,
      default: '45s',
      description: 'How long a call may take, 1s to 30m; the same for all, or by the value of a field',
    },
    request: { ...anySchema, description: 'What callers send; no fields but these are taken' },
    result: { ...anySchema, description: 'What they get, with an example in it or in its fragment' },
    envelope,
    secret: {
      if: { type: 'object' },
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword
      then: {
        type: 'object',
        required: ['unless'],
        additionalProperties: false,
        properties: {
          unless: {
            ...text,
            description: 'The request field with which the answer is no secret',
            examples: ['api_key'],
          },
        },
      },
      else: { type: 'boolean' },
      default: false,
      description:
        'The answer is a secret: given again only to who shows more than what the chain tells, and not drawn from a deposit',
    },
    free: {
      type: 'boolean',
      default: false,
      description: 'Requests may cost nothing, and are then answered without a payment',
    },
    enabled: {
      type: 'boolean',
      default: true,
      description: 'false: it is not sold, and what was bought of it can still be had',
    },
    retire: {
      type: 'string',
      format: 'date',
      description: 'The first day (UTC) on which it is not sold any more',
      'x-expected': 'write a day such as 2027-01-31',
      examples: ['2027-01-31'],
    },
    example: { ...example, description: 'A request that the schema accepts' },
    upstream: { ...upstream, description: 'Who serves it; of several, the next is asked when one fails' },
    mirrors: { type: 'array', items: mirror, description: 'The same on other networks, at paths of their own' },
    ...Object.fromEntries(
      rails.flatMap(({ title, operation }) => (operation ? [[operation.key, operationBlock(title, operation)]] : [])),
    ),
  },
});
