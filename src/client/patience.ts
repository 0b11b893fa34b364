/** How long an answer is waited for that may have been paid for, in milliseconds. */

/** Before the first repeat; before each other, twice as long as before the last. */
export const FIRST_PAUSE_MS = 500;
export const LONGEST_PAUSE_MS = 30_000;

/** A gateway's longest deadline is half an hour; settling comes on top. */
export const LONGEST_CALL_MS = 35 * 60_000;
