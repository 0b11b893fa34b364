import { setTimeout as delay } from 'node:timers/promises';

/** Runs `task` again and again, never two at a time; `failed` hears of what it throws. Answers how to stop it. */
export function every(
  milliseconds: number,
  task: () => Promise<unknown>,
  failed: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const next = () => {
    timer = setTimeout(async () => {
      await task().catch(failed);
      if (!isStopped) next();
    }, milliseconds).unref();
  };
  next();
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

/**
 * A signal that aborts after a time, with a `TimeoutError`, or when `stopping` does. `done` lets go of both:
 * `AbortSignal.any` would keep a little of every call.
 */
export function deadline(milliseconds: number, stopping: AbortSignal): { signal: AbortSignal; done(): void } {
  const controller = new AbortController();
  const stop = () => controller.abort(stopping.reason);
  const late = () => controller.abort(new DOMException('the deadline has passed', 'TimeoutError'));
  const timer = setTimeout(late, milliseconds);
  stopping.addEventListener('abort', stop, { once: true });
  if (stopping.aborted) stop();
  return {
    signal: controller.signal,
    done() {
      clearTimeout(timer);
      stopping.removeEventListener('abort', stop);
    },
  };
}
