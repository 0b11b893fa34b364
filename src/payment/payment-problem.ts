/** Problem types of the 402, shared by both rails. Source: the Payment HTTP authentication scheme, draft 01. */
import type { Refusal, RefusalKind } from './refusal.ts';

export const BASE = 'https://paymentauth.org/problems/';

const titles: Record<RefusalKind, string> = {
  'payment-required': 'Payment required',
  'payment-insufficient': 'The payment is too small',
  'payment-expired': 'The payment has expired',
  'verification-failed': 'The payment could not be verified',
  'malformed-credential': 'The payment could not be read',
  'invalid-payload': 'The proof of the payment could not be read',
  'invalid-challenge': 'The payment does not answer an open challenge',
};

const PAYABLE = '. Pay one of the offers and send the same request again.';
const NOT_PAYABLE = ' and cannot be paid at the moment: no network settles it now. Ask again later.';

interface PaymentProblem {
  type: string;
  title: string;
  status: 402;
  detail: string;
  challengeId: string;
}

/** The problem part of a 402 body; `amount` is a decimal string in dollars. `isPayable`: something is offered for it. */
export function paymentProblem(
  challengeId: string,
  amount: string,
  refusal: Refusal | undefined,
  isPayable = true,
): PaymentProblem {
  const kind = refusal?.kind ?? 'payment-required';
  return {
    type: BASE + kind,
    title: titles[kind],
    status: 402,
    detail: refusal?.message ?? `This call costs ${amount} USD${isPayable ? PAYABLE : NOT_PAYABLE}`,
    challengeId,
  };
}
