import { amount, duration, text } from './common.ts';

/** What every adapter's models may say; an adapter's `modelOptions` add to it. */
export const modelProperties = {
  id: text,
  cost: {
    type: 'object',
    required: ['input', 'output'],
    additionalProperties: false,
    properties: { input: amount, output: amount },
  },
  contextWindow: { type: 'integer', minimum: 1 },
  maxOutput: { type: 'integer', minimum: 1 },
  defaultOutput: { type: 'integer', minimum: 1 },
} as const;

/** Models by neutral name; checked against the adapter. */
const models = { type: 'object', additionalProperties: { type: 'object' } } as const;

/** Settings of the whole upstream; checked against the adapter. */
const settings = { type: 'object' } as const;

/** The name of an adapter. */
const adapterName = { ...text } as const;

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
      description: 'write an https URL without a / at its end',
    },
    keys: {
      type: 'object',
      description: 'write the variable of each secret, such as { key: NAME_OF_AN_ENVIRONMENT_VARIABLE }',
      additionalProperties: {
        type: 'string',
        pattern: '^[A-Z][A-Z0-9_]*$',
        description: 'write the name of an environment variable in capital letters',
      },
    },
    concurrency: { type: 'integer', minimum: 1 },
    spacing: duration,
    timeout: duration,
    sandbox: { const: 'real', description: 'In the sandbox too, the provider itself is asked' },
    models,
    settings,
  },
} as const;

/** `catalogue/upstreams.yaml`: name -> upstream. */
export const upstreamsFileSchema = { type: 'object', additionalProperties: upstreamFileSchema } as const;
