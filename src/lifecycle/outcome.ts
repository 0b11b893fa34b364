/** What becomes of a request, as data: each transport puts it into its own words. */
import type { Problem } from '../errors.ts';
import type { Challenge } from '../payment/rail.ts';
import type { Receipt } from '../store/store.ts';
import type { StoredAnswer } from '../store/stored-answer.ts';

export type Ending =
  | { readonly kind: 'challenge'; readonly rail: string; readonly challenge: Challenge }
  | {
      readonly kind: 'result';
      readonly rail: string;
      readonly answer: StoredAnswer;
      /** Undefined where nothing had to be paid. */
      readonly receipt: Receipt | undefined;
      /** The same payment got this answer before. */
      readonly replayed: boolean;
    }
  | {
      readonly kind: 'problem';
      readonly problem: Problem;
      /** Of what is sold at the path, if anything is. */
      readonly rail?: string | undefined;
      /** Where it was paid for all the same. */
      readonly receipt?: Receipt | undefined;
    };

/** Where an answer is passed on while it comes. */
export interface LiveAnswer {
  /** Once, before the first part. */
  begin(head: Omit<Extract<Ending, { kind: 'result' }>, 'kind'> & { readonly requestId: string }): void;
  /** Waits for nobody: who reads slowly, or not at all, must not hold up work that would be owed again. */
  write(text: string): void;
}

/** `isClaimed`: a payment was taken for it, whatever came of it. */
export type Outcome = Ending & { readonly requestId: string; readonly isClaimed: boolean };
