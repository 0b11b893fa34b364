/** Payments of their own for as many calls. No chain looks at them, so nobody signs. */
import { randomBytes } from 'node:crypto';

interface Accepted {
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
}

/** What a 402 asks (x402 version 2, `PAYMENT-REQUIRED`). */
export interface PaymentRequired {
  readonly resource: object;
  readonly accepts: readonly Accepted[];
  readonly extensions?: object;
}

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;

/** `PAYMENT-SIGNATURE` headers as a client makes them: EIP-3009 authorizations of the first offer, each of another payer. */
export function makePayments({ resource, accepts, extensions }: PaymentRequired, count: number): string[] {
  const [accepted] = accepts;
  if (!accepted) throw new Error('the challenge offers nothing');
  const now = Math.floor(Date.now() / 1000);
  const common = {
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: String(now - 600),
    validBefore: String(now + accepted.maxTimeoutSeconds),
  };
  return Array.from({ length: count }, () => {
    const payload = { signature: hex(65), authorization: { ...common, from: hex(20), nonce: hex(32) } };
    const payment = { x402Version: 2, payload, resource, accepted, ...(extensions && { extensions }) };
    return Buffer.from(JSON.stringify(payment)).toString('base64');
  });
}
