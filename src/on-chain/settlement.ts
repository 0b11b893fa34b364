import type { Atomic } from '../money.ts';

/** Money that moved. */
export interface Transfer {
  /** Hash or signature of the chain's transaction. */
  readonly transaction: string;
  readonly amount: Atomic;
}

/**
 * How an attempt to move a payment's money ended, or what its chain says of it later. One type from the chain through
 * facilitator and rail to the store.
 */
export type Settlement<Found = Transfer> =
  | ({ readonly state: 'settled' } & Found)
  /**
   * Nothing moved, and nothing will. `spent`: the authorization was used before, perhaps by an attempt of ours whose
   * answer was lost.
   */
  | { readonly state: 'refused'; readonly reason: string; readonly spent?: true }
  /**
   * No answer in time, or none to rely on: the chain must be asked, now or later. `unused`: it was, and what was signed is
   * not used there yet. `held`: it is locked for us, to be taken or given back.
   */
  | { readonly state: 'unknown'; readonly reason: string; readonly unused?: true; readonly held?: true };

export const refused = (reason: string): Settlement => ({ state: 'refused', reason });
export const unknown = (reason: string): Settlement => ({ state: 'unknown', reason });
export const unused = (reason: string): Settlement => ({ state: 'unknown', reason, unused: true });
export const heldForUs = (reason: string): Settlement => ({ state: 'unknown', reason, held: true });

/** What a chain was asked, or why it could not be: a question about a settlement never throws. */
export async function orUnknown(question: Promise<Settlement>): Promise<Settlement> {
  try {
    return await question;
  } catch (error) {
    return unknown(error instanceof Error ? error.message : 'the chain could not be asked');
  }
}
