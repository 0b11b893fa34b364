/**
 * Offers of x402's scheme `auth-capture` on EVM: an escrow locks the amount until the gateway has answered, and whoever paid
 * has back what was not taken by the deadline, without asking anybody. Source: x402 specification, version 1.1.
 */
import { isAddress } from 'viem';
import type { JsonObject } from '../json.ts';

/** What the scheme's client reads from `extra`, besides the token's name. */
export interface HoldTerms {
  /** Who locks, takes and gives back. */
  readonly captureAuthorizer: string;
  readonly feeRecipient: string;
  /** Until when it can be taken, in seconds since the epoch. */
  readonly captureDeadline: number;
  /** Until when the receiver can give back what was taken. */
  readonly refundDeadline: number;
  readonly minFeeBps: 0;
  readonly maxFeeBps: 0;
}

/** Nothing is locked for longer, whatever is asked. */
const LONGEST_HOLD_SECONDS = 86_400;

/** With these somebody else would have a say in what becomes of the money. */
const OTHER_TERMS = ['receiverAuthorizer', 'policy', 'authCaptureEscrow'];

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);

/** Undefined for terms by which anybody but the recipient could be paid, or that lock money for longer than a day. */
export function readHold(extra: JsonObject): HoldTerms | undefined {
  const { captureAuthorizer, feeRecipient, captureDeadline, refundDeadline, minFeeBps, maxFeeBps } = extra;
  if (typeof captureAuthorizer !== 'string' || !isAddress(captureAuthorizer)) return undefined;
  if (typeof feeRecipient !== 'string' || !isAddress(feeRecipient)) return undefined;
  if (!isTime(captureDeadline) || !isTime(refundDeadline)) return undefined;
  if (captureDeadline > Date.now() / 1000 + LONGEST_HOLD_SECONDS) return undefined;
  if (minFeeBps !== 0 || maxFeeBps !== 0 || OTHER_TERMS.some((name) => extra[name] !== undefined)) return undefined;
  return { captureAuthorizer, feeRecipient, captureDeadline, refundDeadline, minFeeBps, maxFeeBps };
}
