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

/** The body of every answer of 400 and 500. A rail may add to it. */
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

/** Answers that every operation can give besides 200 and 402, by status. */
const failures = {
  400: 'The request is not valid; nothing was charged',
  405: 'The path takes another method: see Allow',
  408: 'The request did not come to its end in time; nothing was charged',
  409: 'This payment is being worked on, or waits for its chain: send the same again in a moment. With code identifier_taken another payment came with this payment-identifier, and nothing was charged',
  410: 'Paid long ago: the answer is not kept any more',
  413: 'The body is too large; nothing was charged',
  415: 'The body is not application/json; nothing was charged',
  429: 'Too much at a time: see Retry-After; nothing was charged',
  431: 'More than 100 headers, or than 16 KB of them; nothing was charged',
  500: 'The call failed; nothing was charged unless the code is result_owed',
  503: 'The gateway is shutting down, or cannot use its database: send the same request again in a moment',
} as const;

const JSON_TYPE = 'application/json';

/** Given before it is known what is asked for: never in a form that a rail has of its own. */
const EARLY = ['431'];
/** Then and later. */
const ANYTIME = ['408', '503'];

const typesOf = (status: string, mediaTypes: readonly string[]): Iterable<string> =>
  EARLY.includes(status) ? [JSON_TYPE] : new Set([...(ANYTIME.includes(status) ? [JSON_TYPE] : []), ...mediaTypes]);

/** The statuses of failures. A query has no media type that could be wrong. */
export const failureStatuses = (method: 'GET' | 'POST'): readonly string[] =>
  Object.keys(failures).filter((status) => method === 'POST' || status !== '415');

/** The answers themselves, in the media types that the rails of a document have for them. */
export const failureResponses = (mediaTypes: readonly string[]) =>
  Object.fromEntries(
    Object.entries(failures).map(([status, description]) => {
      const schema = { $ref: '#/components/schemas/Error' };
      const content = [...typesOf(status, mediaTypes)].map((type) => [type, { schema }]);
      return [status, { description, content: Object.fromEntries(content) }];
    }),
  );

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
