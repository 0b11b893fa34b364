/** The schemas that operations share. */
import { problems } from '../errors.ts';

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
export const errorBody = {
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

const failure = (description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

/** Answers that every operation can give, by status. */
export const sharedResponses = {
  400: failure('The request is not valid; nothing was charged'),
  405: failure('The path takes another method: see Allow'),
  409: failure('This payment is being worked on, or waits for its chain: send the same again in a moment'),
  410: failure('Paid long ago: the answer is not kept any more'),
  413: failure('The body is too large; nothing was charged'),
  415: failure('The body is not application/json; nothing was charged'),
  429: failure('Too much at a time: see Retry-After; nothing was charged'),
  431: failure('More than 100 headers; nothing was charged'),
  500: failure('The call failed; nothing was charged unless the code is result_owed'),
  503: failure('The gateway is shutting down: try again in a moment; nothing was charged'),
} as const;

/** The body of a 402, to which a rail may add. Source: the Payment HTTP authentication scheme, draft 01, "Problem Details". */
export const paymentRequired = {
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
