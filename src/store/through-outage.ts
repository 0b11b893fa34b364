import { setTimeout as delay } from 'node:timers/promises';
import { isOutage } from './problem.ts';

/** Longer than a database takes to start again, shorter than a caller waits. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 500;

/**
 * Writes down what was paid for: an answer or a receipt outlasts an outage of the database that is short. The write must
 * be one that may happen twice, for the first may have got through. Throws what it throws at last.
 */
export async function throughOutage<Result>(write: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isOutage(error) || performance.now() > until) throw error;
      await delay(PAUSE_MS);
    }
  }
}
