/** How long, and how often, an answer is asked for that may have been paid for. */
import type { SaidProblem } from './problem.ts';

/** Before the first repeat; before each other, twice as long as before the last. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** A gateway's longest deadline is half an hour; settling comes on top. */
export const LONGEST_CALL_MS = 35 * 60_000;

/** Counts the attempts at one payment. `repeats`: those after the first. */
export function openPatience(repeats: number) {
  const until = Date.now() + LONGEST_CALL_MS;
  let lost = 0;
  return {
    /** Attempts without an answer, but for those that heard that it is worked on. */
    lost: () => lost,
    /** Milliseconds until the same payment is sent again; undefined where it is not. Takes what was said in place of a result. */
    pauseAfter({ code, retryAfter = 0 }: Partial<Pick<SaidProblem, 'code' | 'retryAfter'>> = {}): number | undefined {
      const pauseMs = Math.max(FIRST_PAUSE_MS * 2 ** lost, retryAfter * 1000);
      // Work may take longer than a connection is kept, and than all attempts.
      if (code !== 'payment_in_progress' || Date.now() >= until) lost += 1;
      return lost <= repeats ? Math.min(pauseMs, LONGEST_PAUSE_MS) : undefined;
    },
  };
}
