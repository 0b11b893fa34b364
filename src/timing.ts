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
