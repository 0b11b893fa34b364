/** One at a time, in the order in which they came. */
import { onAbort } from './on-abort.ts';

/** Throws the signal's reason where it aborts before the turn has come; otherwise what the work throws. */
export type Turn = <Value>(work: () => Promise<Value>, signal?: AbortSignal) => Promise<Value>;

/** Resolves with the promise, or rejects when the signal aborts. */
function unlessAborted(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return before;
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    const leave = onAbort(signal, () => reject(signal.reason));
    void before.then(() => {
      leave();
      resolve();
    });
  });
}

export function openTurns(): Turn {
  let last: Promise<void> = Promise.resolve();
  return async (work, signal) => {
    const before = last;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // Who leaves early lets nobody pass those before it.
    last = before.then(() => ended);
    try {
      await unlessAborted(before, signal);
      return await work();
    } finally {
      end();
    }
  };
}

/** The same for each name by itself. */
export function openTurnsByName() {
  const open = new Map<string, { readonly turn: Turn; works: number }>();
  return async <Value>(name: string, work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> => {
    const own = open.get(name) ?? { turn: openTurns(), works: 0 };
    open.set(name, own);
    own.works += 1;
    try {
      return await own.turn(work, signal);
    } finally {
      own.works -= 1;
      if (own.works === 0) open.delete(name);
    }
  };
}
