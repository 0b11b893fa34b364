/** OpenAPI of the door for API keys. Source of its formats: openai-openapi 2.3.0. */
import type { JsonSchema } from '../../catalogue/types.ts';
import type { AnyOperation, OwnOperations, PlacedOperation } from '../../discovery/openapi.ts';
import { problems } from '../../errors.ts';
import { CHAT_PATH, CREDITS_PATH, MODELS_PATH } from '../../paths.ts';
import { apiKeyProblems } from '../api-keys/problems.ts';
import { dollars, failures, inPath, json, listOf, moment, named, orNull, record, text } from './answers.ts';

const TAG = 'API keys';
const KEY = 'apiKey';

const count = { type: 'integer', minimum: 0 } as const;
const open = { type: 'object', additionalProperties: true } as const;

const apiKeyError = record({
  error: {
    ...record({
      message: { ...text, description: 'For people; it may change' },
      type: { ...text, description: 'Of the kinds that OpenAI has' },
      param: { type: ['string', 'null'], description: 'The parameter at fault' },
      code: {
        ...text,
        enum: [...Object.keys(apiKeyProblems), ...Object.keys(problems)],
        description: 'Stable; decide by it',
      },
    }),
    additionalProperties: true,
  },
});

const pricing = record(
  {
    currency: text,
    unit: text,
    input: dollars,
    output: dollars,
    long_prompt: {
      ...record({ above_tokens: count, input: dollars, output: dollars }),
      description: 'Of every token of a call whose prompt has more than above_tokens',
    },
  },
  ['long_prompt'],
);

const model = record(
  {
    id: text,
    object: { const: 'model' },
    created: { ...count, description: 'Seconds since the epoch' },
    owned_by: text,
    context_window: orNull({ ...count, description: 'Tokens' }),
    max_output_tokens: count,
    default_output_tokens: count,
    tokens_beyond_max: {
      ...count,
      description:
        'So many more it may think, whatever max_tokens says: held with each call, and paid for where it does',
    },
    pricing: { ...pricing, description: 'What a million tokens cost, as decimal strings in dollars' },
  },
  ['tokens_beyond_max'],
);

const limits = record({
  per_day_usd: orNull(dollars),
  per_call_usd: orNull(dollars),
  models: orNull(listOf(text)),
  expires_at: orNull(moment),
});

const entry = record({
  number: count,
  kind: text,
  amount_usd: dollars,
  balance_usd: dollars,
  reference: text,
  model: orNull(text),
  price_usd: orNull(dollars),
  note: orNull(text),
  at: moment,
});

const credits = record({
  object: { const: 'credits' },
  key: { ...text, description: 'The beginning of the key' },
  balance_usd: dollars,
  held_usd: { ...dollars, description: 'What calls under way may cost at most' },
  limits,
  entries: { ...listOf(entry), description: 'The newest fifty, newest first' },
});

const chatRequest = {
  type: 'object',
  required: ['model', 'messages'],
  properties: {
    model: { ...text, description: 'A name that GET /v1/models lists' },
    messages: { ...listOf(open), minItems: 1, description: "The conversation, as OpenAI's" },
    stream: { type: 'boolean', default: false, description: 'Answer in server-sent events' },
    stream_options: { ...record({ include_usage: { type: 'boolean' } }, ['include_usage']) },
    max_tokens: { ...count, description: 'Bounds the output, and with it what the call may cost' },
    max_completion_tokens: { ...count, description: 'The same under its newer name' },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    tools: { ...listOf(open), description: "The caller's own functions" },
  },
  additionalProperties: true,
} as const;

const completion = record({
  id: text,
  object: { const: 'chat.completion' },
  created: count,
  model: text,
  choices: listOf(open),
  usage: { ...open, description: 'Tokens, by which the call is charged' },
});

/** With an API key's error, and those that are answered before it is known who asks. */
const failed = (statuses: Readonly<Record<number, string>>): AnyOperation['responses'] => ({
  ...Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [status, json(description, named('ApiKeyError'))]),
  ),
  ...failures(431),
  503: json('The gateway is shutting down, or cannot use its database: send the same request again in a moment', {
    anyOf: [named('ApiKeyError'), named('Error')],
  }),
});

const noKey = 'The API key is missing, unknown, disabled or expired';
const tooMuch = 'Too much at a time: see Retry-After';

interface Parts extends Pick<AnyOperation, 'summary' | 'description' | 'responses'> {
  readonly parameters?: AnyOperation['parameters'];
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown };
  readonly isOpen?: boolean;
}

const operation = (operationId: string, { body, isOpen, parameters = [], ...parts }: Parts): AnyOperation => ({
  operationId,
  ...parts,
  tags: [TAG],
  security: isOpen ? [] : [{ [KEY]: [] }],
  parameters,
  ...(body && { requestBody: { required: true, content: { 'application/json': body } } }),
});

/** A model's name as the example's. */
const chatWith = (model: string): PlacedOperation => ({
  path: CHAT_PATH,
  method: 'POST',
  operation: operation('createChatCompletion', {
    summary: 'Text from a language model, paid from credits',
    description:
      'What the call may cost is held of the balance, and what it used is charged once it is answered. Where the balance is too small, the 402 asks for a top-up of the key in PAYMENT-REQUIRED (x402, version 2): the same call with the payment in PAYMENT-SIGNATURE buys it first',
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Names the call: sent again under the same name within a day it is neither made nor charged again, and has the same answer',
        schema: text,
      },
    ],
    body: {
      schema: chatRequest,
      example: { model, messages: [{ role: 'user', content: 'Why does fog scatter light?' }] },
    },
    responses: {
      200: {
        description: 'The completion, or its chunks where the request has stream',
        content: {
          'application/json': { schema: completion },
          'text/event-stream': { schema: { ...text, description: 'chat.completion.chunk objects, then [DONE]' } },
        },
      },
      ...failed({
        400: 'A parameter is missing, unknown or has a value that is not taken; nothing was charged',
        401: noKey,
        402: 'The balance is smaller than what the call may cost: PAYMENT-REQUIRED says how to pay for it. Or the payment that came along was not taken',
        403: 'The key is not for this model, or not for a call of this price',
        404: 'No model of that name is sold here',
        405: 'The path takes another method: see Allow',
        408: 'The request did not come to its end in time; nothing was charged',
        409: 'What is paid for does not count yet, or a call with the same Idempotency-Key has not ended: see Retry-After',
        410: 'A call with the same Idempotency-Key was charged, and its answer was too long to be kept',
        413: 'The body is too large; nothing was charged',
        429: `${tooMuch}, or the key has spent what it may in a day`,
        500: 'The call failed; nothing was charged',
      }),
    },
  }),
});

/** `models`: the names of those that are sold; without any, there is no chat. */
export const apiKeyOperations = (models: readonly string[]): OwnOperations => ({
  tags: [{ name: TAG, description: 'Chat completions in the format of OpenAI, paid from prepaid credits' }],
  security: {
    [KEY]: {
      type: 'http',
      scheme: 'bearer',
      description: 'An API key, as Authorization: Bearer <key>',
    },
  },
  schemas: { ApiKeyError: apiKeyError, Model: model },
  operations: [
    ...models.slice(0, 1).map(chatWith),
    {
      path: MODELS_PATH,
      method: 'GET',
      operation: operation('listModels', {
        summary: 'The models that are sold to API keys',
        description: 'With their prices and how much they take and write',
        isOpen: true,
        responses: {
          200: json('The models', record({ object: { const: 'list' }, data: listOf(named('Model')) })),
          ...failed({ 405: 'The path takes another method: see Allow' }),
        },
      }),
    },
    {
      path: `${MODELS_PATH}/{name}`,
      method: 'GET',
      operation: operation('getModel', {
        summary: 'One of the models that are sold to API keys',
        description: 'The same as its entry in the list',
        isOpen: true,
        parameters: [inPath('name', 'The id of the model')],
        responses: {
          200: json('The model', named('Model')),
          ...failed({ 404: 'No model of that name is sold here', 405: 'The path takes another method: see Allow' }),
        },
      }),
    },
    {
      path: CREDITS_PATH,
      method: 'GET',
      operation: operation('getCredits', {
        summary: 'What an API key has, and what it was spent on',
        description: 'Its balance, what calls under way hold of it, its limits, and the newest fifty entries',
        responses: { 200: json('Balance and entries', credits), ...failed({ 401: noKey, 429: tooMuch }) },
      }),
    },
  ],
});
