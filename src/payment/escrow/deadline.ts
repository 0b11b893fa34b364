/** Until when what is locked can be taken. In steps, so that what challenges say changes once an hour. */

const STEP_SECONDS = 3_600;
const LEAST_STEPS = 2;
/** Finding out that an instance died at its work, and the chain itself, take no longer. */
const MARGIN_SECONDS = 1_800;

/** The longest work whose payment can be taken afterwards. */
export const LONGEST_HELD_WORK_MS = (LEAST_STEPS * STEP_SECONDS - MARGIN_SECONDS) * 1000;

/** Of a challenge that is given now. Seconds since the epoch; `now` in milliseconds. */
export const captureDeadlineAt = (now: number): number => (stepOf(now) + LEAST_STEPS + 1) * STEP_SECONDS;

/** Changes whenever `captureDeadlineAt` does. */
export const stepOf = (now: number): number => Math.floor(now / 1000 / STEP_SECONDS);

/** Whether a challenge may have said so that is still good, and the work fits before it. */
export const isCaptureDeadline = (seconds: number, { now, deadlineMs }: { now: number; deadlineMs: number }): boolean =>
  seconds % STEP_SECONDS === 0 &&
  seconds <= captureDeadlineAt(now) &&
  seconds * 1000 >= now + deadlineMs + MARGIN_SECONDS * 1000;
