/**
 * What can be known of a payment without its chain. The facilitator checks all of it again, but it answers in codes,
 * not in sentences.
 */
import { Refusal } from '../rail.ts';
import type { Authorization } from './authorization.ts';
import type { PaymentPayload, Requirements } from './wire.ts';

const same = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** Version 2 echoes the entry it pays: says which part of it is not on offer. Throws Refusal. */
export function checkAccepted(payment: PaymentPayload, offer: Requirements): void {
  if (payment.x402Version === 1) return;
  const { amount, asset, payTo } = payment.accepted;
  if (amount !== offer.amount) {
    throw new Refusal(
      'payment-insufficient',
      `the payment accepts ${amount}, the price is ${offer.amount} atomic units`,
    );
  }
  if (!same(asset, offer.asset)) {
    throw new Refusal('verification-failed', `the payment is in asset ${asset}, asked is ${offer.asset}`);
  }
  if (!same(payTo, offer.payTo)) {
    throw new Refusal('verification-failed', `the payment goes to ${payTo}, asked is ${offer.payTo}`);
  }
}

function checkAmount(paid: bigint, offer: Requirements): void {
  if (paid === BigInt(offer.amount)) return;
  throw new Refusal('payment-insufficient', `the payment is for ${paid}, the price is ${offer.amount} atomic units`);
}

/** Throws Refusal. `nowMs` in milliseconds since the epoch. */
export function checkAuthorization(authorization: Authorization, offer: Requirements, nowMs: number): void {
  if ((authorization.kind === 'permit2') !== (offer.scheme === 'upto')) {
    throw new Refusal(
      'verification-failed',
      'the scheme upto is paid with a Permit2 permit, exact with an EIP-3009 authorization or a Solana transaction',
    );
  }
  switch (authorization.kind) {
    case 'solana': {
      checkAmount(authorization.amount, offer);
      if (authorization.mint === offer.asset) return;
      throw new Refusal('verification-failed', `the payment is in ${authorization.mint}, asked is ${offer.asset}`);
    }
    case 'permit2': {
      if (same(authorization.token, offer.asset)) return;
      throw new Refusal('verification-failed', `the permit is for ${authorization.token}, asked is ${offer.asset}`);
    }
    case 'eip3009': {
      const { value, to, validBefore, validAfter } = authorization;
      const now = BigInt(Math.floor(nowMs / 1000));
      checkAmount(value, offer);
      if (!same(to, offer.payTo)) {
        throw new Refusal('verification-failed', `the payment goes to ${to}, asked is ${offer.payTo}`);
      }
      if (validBefore <= now) throw new Refusal('payment-expired', 'the authorization has expired: sign a new one');
      if (validAfter <= now) return;
      throw new Refusal('verification-failed', 'the authorization is not valid yet: see validAfter');
    }
  }
}

/** What is left of an authorization has to cover the work and a settlement that takes its time. */
const SETTLE_MARGIN_MS = 15_000;

/**
 * True where this very authorization, whatever its network allows, would not outlive work of `deadlineMs`. A permit
 * that would not is refused: what it has to pay is known only after the work. Throws Refusal `payment-expired`.
 */
export function endsTooSoon(authorization: Authorization, deadlineMs: number, nowMs: number): boolean {
  const needed = nowMs + deadlineMs + SETTLE_MARGIN_MS;
  switch (authorization.kind) {
    case 'solana':
      return false;
    case 'eip3009':
      return Number(authorization.validBefore) * 1000 < needed;
    case 'permit2':
      if (Number(authorization.deadline) * 1000 >= needed) return false;
      throw new Refusal('payment-expired', 'the permit ends before the work may be done: sign a longer one');
  }
}
