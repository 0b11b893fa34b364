/** The schemas that all operations share. */
import { problems } from '../../errors.ts';

const text = { type: 'string' } as const;

const detail = {
  type: 'object',
  required: ['path', 'message'],
  properties: {
    path: { ...text, description: 'JSON pointer to the field' },
    message: { ...text, description: 'What is wrong with it' },
    expected: { ...text, description: 'What would be right' },
  },
} as const;

const invalidParams = {
  type: 'array',
  items: detail,
  description: 'What is wrong with the request, told before it is paid for',
} as const;

/** The body of every answer of 400 and 500. */
const errorBody = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'requestId'],
      properties: {
        code: { ...text, enum: Object.keys(problems), description: 'Stable; decide by it' },
        message: { ...text, description: 'For people; it may change' },
        details: { type: 'array', items: detail, description: 'One entry for each field at fault' },
        requestId: { ...text, description: 'To quote when asking for help; also in the header Request-Id' },
      },
    },
  },
} as const;

/** The body of a 402. Source: the Payment HTTP authentication scheme, draft 01, "Problem Details". */
const challenge = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'challengeId'],
  properties: {
    type: { ...text, format: 'uri', description: 'Kind of problem' },
    title: text,
    status: { type: 'integer', const: 402 },
    detail: { ...text, description: 'What to do, or why the payment was not taken' },
    challengeId: text,
    invalidParams,
  },
  additionalProperties: true,
} as const;

const acceptsEntry = {
  type: 'object',
  required: ['scheme', 'network', 'amount', 'maxAmountRequired', 'asset', 'payTo', 'maxTimeoutSeconds', 'resource'],
  properties: {
    scheme: text,
    network: { ...text, description: 'The network by its name in version 1' },
    amount: { ...text, description: 'Atomic units of the asset' },
    maxAmountRequired: { ...text, description: 'The same under its name in version 1' },
    asset: { ...text, description: 'Token address' },
    payTo: text,
    maxTimeoutSeconds: { type: 'integer' },
    resource: { ...text, format: 'uri' },
    description: text,
    mimeType: text,
    extra: { type: 'object', additionalProperties: true },
  },
} as const;

/** The problem together with the challenge of x402 version 1. Version 2 has its own in the header PAYMENT-REQUIRED. */
const x402Challenge = {
  ...challenge,
  required: [...challenge.required, 'x402Version', 'error', 'accepts'],
  properties: {
    ...challenge.properties,
    x402Version: { type: 'integer', const: 1 },
    error: text,
    accepts: { type: 'array', items: acceptsEntry },
  },
} as const;

export const componentSchemas = {
  mpp: { Error: errorBody, PaymentRequired: challenge },
  x402: { Error: errorBody, PaymentRequired: x402Challenge },
} as const;
