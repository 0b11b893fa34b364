/** The `Payment` HTTP authentication scheme (draft 01) in headers: challenges, credentials, receipts. */
import { type Problem, problems } from '../../errors.ts';
import { toDecimal } from '../../money.ts';
import { BASE, paymentProblem } from '../../payment/payment-problem.ts';
import type { Challenge, HttpWire } from '../../payment/rail.ts';
import type { Receipt } from '../../store/store.ts';
import { type IssuedChallenge, writeChallenge } from './challenge.ts';
import { readCredential } from './credential.ts';
import { identify, type MppCredential } from './identify.ts';
import type { ChargeMethod } from './method.ts';

export interface MppChallenge extends Challenge {
  /** One for each method of payment that the caller accepts. */
  readonly issued: readonly IssuedChallenge[];
}

/** Source: draft 01, "Problem Details"; those that it does not know are `about:blank` (RFC 9457). */
const problemType = ({ code, status }: Problem): string => {
  if (code === 'method_unsupported') return `${BASE}method-unsupported`;
  return status === 400 ? `${BASE}bad-request` : 'about:blank';
};

export const createHttpWire = (methods: readonly ChargeMethod[]): HttpWire<MppCredential, MppChallenge> => ({
  read({ headers }) {
    const credential = readCredential(headers);
    return credential && identify(methods, credential);
  },

  challenge({ id, quote, refusal, invalidParams, issued }) {
    const problem = paymentProblem(id, toDecimal(quote.amount), refusal, issued.length > 0);
    const { summary } = quote.route.endpoint;
    const upfront = new Set(methods.filter((method) => method.upfront(quote)).map(({ name }) => name));
    const description = (method: string) =>
      upfront.has(method) ? `${summary}. This payment settles before the work` : summary;
    return {
      status: 402,
      headers: {
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'www-authenticate': issued.map((challenge) => writeChallenge(challenge, description(challenge.method))),
      },
      body: JSON.stringify(invalidParams ? { ...problem, invalidParams } : problem),
    };
  },

  /** The shared error body stays in it, for who reads that everywhere. */
  problem(problem, shared) {
    const { status, message: detail, code } = problem;
    const type = problemType(problem);
    return {
      ...shared,
      headers: { ...shared.headers, 'content-type': 'application/problem+json' },
      body: JSON.stringify({ type, title: problems[code].title, status, detail, ...JSON.parse(String(shared.body)) }),
    };
  },

  /** Source: draft 01, "Payment-Receipt Header". */
  receipt: ({ transaction, settledAt, details: { method } }: Receipt) => {
    const timestamp = new Date(settledAt).toISOString();
    const receipt = { method, reference: transaction, status: 'success', timestamp };
    return {
      'payment-receipt': Buffer.from(JSON.stringify(receipt)).toString('base64url'),
      'cache-control': 'private',
    };
  },
});
