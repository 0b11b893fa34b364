/** Checks that several kinds of authorization have in common. All throw Refusal. */
import type { Atomic } from '../../money.ts';
import { sameAddress } from '../../on-chain/address.ts';
import { Refusal } from '../refusal.ts';

/** A payment moves exactly its price: one that was signed before the price was lowered is not taken for more. */
export function checkAmount(paid: Atomic, asked: Atomic): void {
  if (paid === asked) return;
  const words = `the payment is for ${paid}, the price is ${asked} atomic units`;
  if (paid < asked) throw new Refusal('payment-insufficient', words);
  throw new Refusal('verification-failed', `${words}: that is more than the call costs, sign a new one for its price`);
}

export function checkAsset(paid: string, asked: string): void {
  if (sameAddress(paid, asked)) return;
  throw new Refusal('verification-failed', `the payment is in ${paid}, asked is ${asked}`);
}

export function checkRecipient(paid: string, asked: string): void {
  if (sameAddress(paid, asked)) return;
  throw new Refusal('verification-failed', `the payment goes to ${paid}, asked is ${asked}`);
}
