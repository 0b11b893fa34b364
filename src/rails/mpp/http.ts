/** The `Payment` HTTP authentication scheme (draft 01) in headers: challenges, credentials, receipts. */
import { createHash } from 'node:crypto';
import { Problem } from '../../errors.ts';
import { toDecimal } from '../../money.ts';
import { paymentProblem } from '../../payment/payment-problem.ts';
import type { Challenge, Credential, HttpWire } from '../../payment/rail.ts';
import type { Receipt } from '../../store/store.ts';
import { type IssuedChallenge, writeChallenge } from './challenge.ts';
import { type PaymentCredential, readCredential } from './credential.ts';
import type { ChargeMethod } from './method.ts';

export interface MppCredential extends Credential {
  readonly credential: PaymentCredential;
  readonly method: ChargeMethod;
}

export interface MppChallenge extends Challenge {
  /** One for each method of payment that the caller accepts. */
  readonly issued: readonly IssuedChallenge[];
}

export const createHttpWire = (methods: readonly ChargeMethod[]): HttpWire<MppCredential, MppChallenge> => ({
  read({ headers }) {
    const credential = readCredential(headers);
    if (!credential) return undefined;
    const { challenge } = credential;
    const method = methods.find(({ name }) => name === challenge.method);
    if (!method) {
      const offered = methods.map(({ name }) => name).join(', ');
      throw new Problem('method_unsupported', `The payment method is not offered here: pay with ${offered}`);
    }
    const { id, shown } = method.identify(credential);
    // The chain shows the identity, and so it does the proof once that is settled. The challenge's id it does not.
    const fingerprint = createHash('sha256').update(`${challenge.id}|${shown.toLowerCase()}`).digest('hex');
    return { id, fingerprint, isPrivate: true, credential, method };
  },

  challenge({ id, quote, refusal, invalidParams, issued }) {
    const problem = paymentProblem(id, toDecimal(quote.amount), refusal, issued.length > 0);
    const { summary } = quote.route.endpoint;
    const upfront = new Set(methods.filter((method) => method.upfront(quote.route)).map(({ name }) => name));
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
