import { amount, duration, text } from './common.ts';

const tokenCosts = {
  input: { ...amount, description: 'A million input tokens' },
  output: { ...amount, description: 'A million output tokens' },
} as const;

/** What every adapter's models may say; an adapter's `modelOptions` add to it. */
export const modelProperties = {
  id: { ...text, description: "The provider's own id of the model" },
  cost: {
    type: 'object',
    required: ['input', 'output'],
    additionalProperties: false,
    description: 'What a million tokens cost us, in dollars; prices by usage are made of it',
    properties: {
      ...tokenCosts,
      long: {
        type: 'object',
        required: ['above', 'input', 'output'],
        additionalProperties: false,
        description: 'Where the provider asks more for every token of a call with a long prompt',
        properties: {
          above: { type: 'integer', minimum: 1, description: 'A prompt of more tokens is long', examples: [200_000] },
          input: { ...tokenCosts.input, examples: ['20'] },
          output: { ...tokenCosts.output, examples: ['75'] },
        },
      },
    },
  },
  contextWindow: { type: 'integer', minimum: 1, description: 'Most tokens of input and output together' },
  maxOutput: { type: 'integer', minimum: 1, description: 'Most output tokens that it gives' },
  defaultOutput: { type: 'integer', minimum: 1, description: 'Output tokens where the caller names no bound' },
  digitsPerToken: {
    type: 'integer',
    minimum: 1,
    default: 3,
    description: 'How many digits its vocabulary joins: 1 where each is a token, and numbers are more of them',
  },
} as const;

/** Models by neutral name; checked against the adapter. */
const models = {
  type: 'object',
  additionalProperties: { type: 'object' },
  description: 'Neutral name: the model, with what its adapter must know of it',
} as const;

/** Settings of the whole upstream; checked against the adapter. */
const settings = { type: 'object', description: 'What the adapter must know of the whole upstream' } as const;

/** The name of an adapter. */
const adapterName = { ...text, description: 'The adapter that speaks to it' } as const;

/** One entry of `catalogue/upstreams.yaml`: UpstreamFile. */
export const upstreamFileSchema = {
  type: 'object',
  required: ['adapter', 'baseUrl'],
  additionalProperties: false,
  properties: {
    adapter: adapterName,
    baseUrl: {
      type: 'string',
      pattern: '^https?://[^/].*[^/]$',
      description: 'Where its API is; http for this machine alone',
      'x-expected': 'write an https URL without a / at its end',
    },
    keys: {
      type: 'object',
      description: 'Secret: the environment variable that holds it',
      'x-expected': 'write the variable of each secret, such as { key: NAME_OF_AN_ENVIRONMENT_VARIABLE }',
      additionalProperties: {
        type: 'string',
        pattern: '^[A-Z][A-Z0-9_]*$',
        // What stands here by mistake is the secret itself.
        writeOnly: true,
        'x-expected': 'write the name of an environment variable in capital letters',
      },
    },
    concurrency: { type: 'integer', minimum: 1, default: 64, description: 'Calls at the same time' },
    spacing: { ...duration, description: 'Least time between the starts of two calls' },
    timeout: { ...duration, description: "Longest wait for one answer; the endpoint's deadline unless given" },
    sandbox: { const: 'real', description: 'In the sandbox too, the provider itself is asked' },
    models,
    settings,
  },
} as const;

/** `catalogue/upstreams.yaml`: name -> upstream. */
export const upstreamsFileSchema = { type: 'object', additionalProperties: upstreamFileSchema } as const;
