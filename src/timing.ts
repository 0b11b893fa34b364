import { setTimeout as delay } from 'node:timers/promises';
import { onAbort } from './on-abort.ts';
import { openTurns } from './turns.ts';

/** A timer of more milliseconds ends at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `task` again and again, never two at a time; `failed` hears of what it throws. The first run is `firstMs` from now.
 * Answers how to stop it.
 */
export function every(
  milliseconds: number,
  task: () => Promise<unknown>,
  failed: (error: unknown) => void,
  firstMs = milliseconds,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const runIn = (waitMs: number) => {
    timer = setTimeout(async () => {
      await task().catch(failed);
      if (!isStopped) runIn(milliseconds);
    }, waitMs).unref();
  };
  runIn(firstMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Waits for the promise, but no longer than that. */
export async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const waited = delay(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([promise, waited]);
  over.abort();
}

/** What waits a little longer each time, for so many milliseconds from now on in all; false once they have passed. */
export function waitingFor(milliseconds: number, now: () => number): () => Promise<boolean> {
  const until = now() + milliseconds;
  let pause = 20;
  return async () => {
    if (now() >= until) return false;
    await delay(pause);
    pause = Math.min(pause * 2, 250);
    return true;
  };
}

/** The promise's value; rejects with what `reason` gives once the signal is aborted, if that is sooner. */
export function unlessAborted<Value>(
  signal: AbortSignal,
  promise: Promise<Value>,
  reason: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(reason());
    if (signal.aborted) stop();
    const letGo = onAbort(signal, stop);
    promise.then(
      (value) => {
        letGo();
        resolve(value);
      },
      (error: unknown) => {
        letGo();
        reject(error);
      },
    );
  });
}

/** Whether what a signal gives as its reason is that the time was over. */
export const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError';

/**
 * A signal that aborts after a time, with a `TimeoutError`, or when one of `others` does. `done` lets go of all:
 * `AbortSignal.any` would keep a little of every call.
 */
export function deadline(milliseconds: number, ...others: AbortSignal[]): { signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const late = () => controller.abort(new DOMException('the deadline has passed', 'TimeoutError'));
  const timer = setTimeout(late, milliseconds);
  const letGo = others.map((other) => {
    const stop = () => controller.abort(other.reason);
    if (other.aborted) stop();
    return onAbort(other, stop);
  });
  return {
    signal: controller.signal,
    done() {
      clearTimeout(timer);
      for (const each of letGo) each();
    },
  };
}

/** Runs of the task one after the other, however often it is asked for. */
export function inTurn<Given extends unknown[], Value>(
  task: (...given: Given) => Promise<Value>,
): (...given: Given) => Promise<Value> {
  const turn = openTurns();
  return (...given) => turn(() => task(...given));
}

/** Asks again only once the last answer is so old. */
export function afterAWhile<Value>(milliseconds: number, ask: () => Promise<Value>): () => Promise<Value> {
  let last: { readonly at: number; readonly value: Value } | undefined;
  return async () => {
    if (last && performance.now() - last.at < milliseconds) return last.value;
    last = { value: await ask(), at: performance.now() };
    return last.value;
  };
}
