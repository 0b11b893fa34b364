import { setTimeout as sleep } from 'node:timers/promises';
import { LONGEST_TIMER_MS } from '../../timing.ts';

export const retryableStatuses: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

const RETRIES = 2;
const FIRST_DELAY_MS = 200;
/** An upstream that asks for a longer pause is not waited for: the caller would rather have an answer. */
const LONGEST_PAUSE_MS = 3_000;

/**
 * How long to wait before the next attempt, or undefined to give up. `attempt` counts from 0.
 * Jitter keeps callers that failed together from coming back together.
 */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  random = Math.random,
): number | undefined {
  if (attempt >= RETRIES) return undefined;
  if (retryAfterMs !== undefined && retryAfterMs > LONGEST_PAUSE_MS) return undefined;
  const backoff = FIRST_DELAY_MS * 2 ** attempt * (0.5 + random());
  return Math.max(backoff, retryAfterMs ?? 0);
}

/** An outage of half a minute. */
const JOB_RETRIES = 12;

/**
 * The same for a job that the upstream works on, and bills whether or not anybody asks for it: short outages are waited for, and
 * where it says when to ask again, it is asked then, however often and late. The request's signal ends all of that.
 */
export function jobDelay(attempt: number, retryAfterMs: number | undefined, random = Math.random): number | undefined {
  if (retryAfterMs === undefined && attempt >= JOB_RETRIES) return undefined;
  const backoff = Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + random());
  return Math.min(Math.max(backoff, retryAfterMs ?? 0), LONGEST_TIMER_MS);
}

const SILENT_MS = 30_000;
const MOST_DOUBLINGS = 3;

/**
 * How long nothing may come of how a job stands before it is asked for anew: the connection may be lost, and never closed. Longer
 * with each attempt, for a provider that is silent until there is something to say.
 */
export const jobSilence = (attempt: number): number => SILENT_MS * 2 ** Math.min(attempt, MOST_DOUBLINGS);

/** The `Retry-After` header (RFC 9110: seconds or a date) in milliseconds, or undefined where there is none. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Waits, unless the signal aborts: then rejects. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal });
}
