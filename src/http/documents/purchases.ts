/** OpenAPI of what payers may ask about their payments: what they bought, and their money. */
import type { OwnOperations } from '../../discovery/openapi.ts';
import { CHANNELS_PATH, PURCHASES_PATH, REFUNDS_PATH } from '../../paths.ts';
import { refundRequestSchema } from '../../payment/refunds/requested.ts';
import { PROOF_HEADER } from '../purchases.ts';
import { failures, inPath, json, listOf, moment, named, record, text } from './answers.ts';

const TAG = 'Purchases';
const PROOF = 'walletProof';

const purchase = record(
  {
    answer: { ...text, format: 'uri', description: 'Where its answer can be had again; left out where there is none' },
    boughtAt: moment,
    endpoint: text,
    path: { ...text, description: 'Where it is sold; left out once it is not sold any more' },
    network: { ...text, description: 'By its CAIP-2 id' },
    amount: { ...text, description: 'A decimal string in units of the asset' },
    asset: { ...text, description: 'Its symbol' },
    transaction: text,
    state: {
      ...text,
      enum: ['settled', 'owed', 'refund_due', 'refunded', 'unknown', 'pending'],
      description: 'owed: send the call again with the same payment',
    },
  },
  ['answer', 'path', 'transaction'],
);

const proofRequired = {
  ...record({
    type: text,
    title: text,
    status: { const: 402 },
    detail: text,
    x402Version: { const: 2 },
    accepts: { type: 'array', maxItems: 0, items: {}, description: 'Nothing is to be paid' },
    extensions: {
      ...record({ 'sign-in-with-x': { type: 'object', additionalProperties: true } }),
      description: 'What to sign',
    },
  }),
  additionalProperties: true,
};

const askedToProve = {
  description: 'Not proved yet: what the wallet has to sign',
  headers: { 'PAYMENT-REQUIRED': { description: 'The same in base64', schema: text } },
  content: { 'application/problem+json': { schema: named('ProofRequired') } },
};

const shared = { tags: [TAG], security: [{ [PROOF]: [] }, {}] } as const;

const refundAnswer = record(
  {
    status: { ...text, enum: ['executed', 'pending', 'denied'] },
    amount: { ...text, description: 'Atomic units, decimal' },
    refundTxHash: text,
    denialReason: text,
  },
  ['refundTxHash', 'denialReason'],
);

/** Without `/v1/refunds` and `/v1/channels` where they are off. */
export const purchaseOperations = ({
  refunds,
  channels,
}: {
  readonly refunds: boolean;
  readonly channels: boolean;
}): OwnOperations => ({
  tags: [{ name: TAG, description: 'What a wallet bought, for who proves that it is theirs' }],
  security: {
    [PROOF]: {
      type: 'apiKey',
      in: 'header',
      name: PROOF_HEADER,
      description: 'extensions.sign-in-with-x.info of the 402, signed by the wallet that paid: base64 of JSON',
    },
  },
  schemas: { Purchase: purchase, ProofRequired: proofRequired },
  operations: [
    {
      path: PURCHASES_PATH,
      method: 'GET',
      operation: {
        operationId: 'listPurchases',
        summary: 'What a wallet bought',
        description: 'Newest first, page by page (x402 extension sign-in-with-x)',
        ...shared,
        parameters: [
          {
            name: 'limit',
            in: 'query',
            required: false,
            description: 'How many at most',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          },
          { name: 'before', in: 'query', required: false, description: 'next of the page before', schema: text },
        ],
        responses: {
          200: json(
            'A page of purchases',
            record({ payer: text, purchases: listOf(named('Purchase')), next: text }, ['next']),
          ),
          402: askedToProve,
          ...failures(400, 405, 429, 431, 503),
        },
      },
    },
    {
      path: '/v1/purchases/{id}',
      method: 'GET',
      operation: {
        operationId: 'getPurchase',
        summary: 'The answer of something that was bought',
        description: 'As the call itself was answered, with its receipt, at the address that the list names',
        ...shared,
        parameters: [inPath('id', 'The end of the address in the list')],
        responses: {
          200: json('The answer of the call', { description: 'What the endpoint answers' }),
          402: askedToProve,
          404: json('This wallet bought nothing of that name here', named('Error')),
          ...failures(400, 405, 409, 410, 429, 431, 500, 503),
        },
      },
    },
    ...(channels
      ? [
          {
            path: CHANNELS_PATH,
            method: 'GET' as const,
            operation: {
              operationId: 'giveBackDeposit',
              summary: 'Gives back what is left of a deposit',
              description:
                'Asked without a payment it says in which channels deposits can be; with a voucher of the type refund it gives back what is left (x402 batch-settlement)',
              tags: [TAG],
              security: [],
              parameters: [
                {
                  name: 'network',
                  in: 'query' as const,
                  required: false,
                  description: 'The only network that is asked about',
                  schema: text,
                },
                {
                  name: 'PAYMENT-SIGNATURE',
                  in: 'header' as const,
                  required: false,
                  description: 'The voucher: base64 of JSON',
                  schema: text,
                },
              ],
              responses: {
                200: json('It was given back', { type: 'object', additionalProperties: true }),
                402: {
                  description: 'A voucher is required, or was not good',
                  headers: { 'PAYMENT-REQUIRED': { description: 'The same in base64', schema: text } },
                  content: { 'application/problem+json': { schema: { type: 'object', additionalProperties: true } } },
                },
                ...failures(405, 409, 429, 431, 503),
              },
            },
          },
        ]
      : []),
    ...(refunds
      ? [
          {
            path: REFUNDS_PATH,
            method: 'POST' as const,
            operation: {
              operationId: 'requestRefund',
              summary: 'Gives back what was paid and is owed',
              description: 'Signed by who paid (draft x402 extension refund); what was delivered is not given back',
              tags: [TAG],
              security: [],
              parameters: [],
              requestBody: {
                required: true as const,
                content: { 'application/json': { schema: refundRequestSchema } },
              },
              responses: {
                200: json('What became of the request', refundAnswer),
                ...failures(400, 405, 408, 413, 429, 431, 503),
              },
            },
          },
        ]
      : []),
  ],
});
