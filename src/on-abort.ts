/** What is to be called, by the signal that it waits for. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` once the signal is aborted, and never where it is aborted already; what it answers lets go of it. All who wait for a
 * signal share one listener: to add and remove its own takes each of them longer than most of what it does meanwhile.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const acts = waiting.get(signal) ?? listen(signal);
  // One function may wait twice.
  const own = () => act();
  acts.add(own);
  return () => {
    if (acts.delete(own) && acts.size === 0) leave(signal);
  };
}

function listen(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  waiting.set(signal, acts);
  signal.addEventListener('abort', aborted, { once: true });
  return acts;
}

function leave(signal: AbortSignal): void {
  waiting.delete(signal);
  signal.removeEventListener('abort', aborted);
}

function aborted(this: AbortSignal): void {
  const acts = waiting.get(this);
  waiting.delete(this);
  for (const act of acts ?? []) act();
}
