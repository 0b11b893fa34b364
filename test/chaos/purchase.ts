/** One thing that somebody wants to buy: what is asked for, every payment that was signed for it, every answer. */
import type { Method, Proof, Wallet } from './chains.ts';
import type { DoorName } from './doors.ts';
import type { Answer } from './send.ts';

export interface Received {
  readonly proof: Proof;
  readonly answer: Answer;
  readonly at: number;
}

export interface Purchase {
  /** Part of the request, so that the world knows it at the provider too. */
  readonly mark: string;
  readonly door: DoorName;
  /** As it is over HTTP. */
  readonly path: string;
  readonly body: object;
  /** What its payer asks for besides, with the same payment. */
  readonly otherBody: object;
  readonly method: Method;
  readonly wallet: Wallet;
  readonly habit: Habit;
  readonly idempotencyKey: string | undefined;
  readonly identifier: string | undefined;
  readonly proofs: Proof[];
  readonly received: Received[];
}

export const habits = {
  /** Sends until there is an answer that stays. */
  patient: 40,
  /** Leaves in the middle, and comes back with the same payment. */
  returning: 15,
  /** Leaves in the middle for good. */
  leaving: 8,
  /** Sends another request with the payment. */
  changing: 8,
  /** Sends several times at once. */
  doubling: 12,
  /** Leaves, and pays anew under the same Idempotency-Key. */
  'with a key': 12,
  /** Pays anew under the same payment-identifier. */
  'with an identifier': 5,
};
export type Habit = keyof typeof habits;

/** What nobody has to ask again: an answer, or a refusal that would be the same. */
export function isFinal({ status, code }: Answer): boolean {
  if (status === 402) return !/at the moment|in a moment|cannot be checked now|could not be read/.test(code);
  return status === 200 || status === 400 || status === 410 || code === 'identifier_taken';
}

/** The answer that stays, if it came. */
export const endOf = ({ received }: Purchase, proof: Proof): Answer | undefined =>
  received.find((each) => each.proof === proof && isFinal(each.answer))?.answer;
