/** The `Payment` scheme in tool calls. Source: draft-payment-transport-mcp-00. */
import { isJsonObject } from '../../json.ts';
import { toDecimal } from '../../money.ts';
import { paymentProblem } from '../../payment/payment-problem.ts';
import type { McpWire } from '../../payment/rail.ts';
import type { ToolCall } from '../../request/request.ts';
import type { IssuedChallenge } from './challenge.ts';
import { readToolCredential } from './credential.ts';
import type { MppChallenge } from './http.ts';
import { identify, type MppCredential } from './identify.ts';
import type { ChargeMethod } from './method.ts';

const CREDENTIAL = 'org.paymentauth/credential';
const RECEIPT = 'org.paymentauth/receipt';
const REQUIRED = 'org.paymentauth/payment-required';

const requestOf = ({ request }: IssuedChallenge): object => JSON.parse(Buffer.from(request, 'base64url').toString());

/** The id of the challenge that was paid: the payer shows it with every repetition. */
function paidChallenge({ meta }: ToolCall): unknown {
  const credential = meta[CREDENTIAL];
  const challenge = isJsonObject(credential) ? credential.challenge : undefined;
  return isJsonObject(challenge) ? challenge.id : undefined;
}

export const createMcpWire = (methods: readonly ChargeMethod[]): McpWire<MppCredential, MppChallenge> => ({
  // As draft-payment-transport-mcp-00 has it.
  capabilities: {
    payment: { methods: Object.fromEntries(methods.map(({ name }) => [name, { intents: ['charge'] }])) },
  },

  carries: ({ meta }) => meta[CREDENTIAL] !== undefined,

  read({ tool }) {
    const given = tool?.meta[CREDENTIAL];
    return given === undefined ? undefined : identify(methods, readToolCredential(given));
  },

  challenge({ id, quote, refusal, invalidParams, issued }) {
    const { summary } = quote.route.endpoint;
    const problem = paymentProblem(id, toDecimal(quote.amount), refusal, issued.length > 0);
    const challenges = issued.map((challenge) => ({
      ...challenge,
      request: requestOf(challenge),
      description: summary,
    }));
    return {
      meta: {
        [REQUIRED]: { httpStatus: 402, challenges, problem: invalidParams ? { ...problem, invalidParams } : problem },
      },
    };
  },

  offers: ({ issued }) =>
    issued.map((challenge) => ({ method: challenge.method, intent: challenge.intent, ...requestOf(challenge) })),

  receipt: ({ transaction, settledAt, details: { method } }, tool) => ({
    [RECEIPT]: {
      status: 'success',
      method,
      timestamp: new Date(settledAt).toISOString(),
      reference: transaction,
      challengeId: paidChallenge(tool),
    },
  }),
});
