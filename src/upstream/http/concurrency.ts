import { onAbort } from '../../on-abort.ts';

/**
 * Bounds how many calls run at the same time and how close together they start, and shares the turns: callers that wait
 * are served by turns, and nobody holds as many turns as are free, so that one is always left for who holds none.
 * Source of the rule: dynamic thresholds of shared buffers (Choudhury and Hahne, 1998) with a factor of one.
 */
export interface Gate {
  /**
   * Waits for a turn; what it gives must be called once when the call is over. `caller` is whoever pays, or a key; calls
   * of nobody's are one caller that may hold all turns. Rejects with the signal's reason.
   */
  enter(signal: AbortSignal, caller?: string): Promise<() => void>;
}

type Caller = string | undefined;

interface Waiter {
  start(): void;
}

export function openGate({ concurrency, spacingMs }: { concurrency: number; spacingMs: number }): Gate {
  /** Each caller's in the order of arrival; the caller that was served longest ago first. */
  const waiting = new Map<Caller, Set<Waiter>>();
  const running = new Map<Caller, number>();
  let taken = 0;
  let nextStart = 0;
  let isScheduled = false;

  function mayStart(caller: Caller): boolean {
    return caller === undefined || (running.get(caller) ?? 0) < concurrency - taken;
  }

  /** Nobody waits who would come first, and nothing has to be waited for. */
  const isFree = (caller: Caller): boolean =>
    waiting.size === 0 && taken < concurrency && mayStart(caller) && nextStart <= performance.now();

  function nextInLine(): { caller: Caller; waiters: Set<Waiter>; waiter: Waiter } | undefined {
    if (taken >= concurrency) return undefined;
    for (const [caller, waiters] of waiting) {
      const [waiter] = waiters;
      if (waiter && mayStart(caller)) return { caller, waiters, waiter };
    }
    return undefined;
  }

  function advance(): void {
    for (;;) {
      const next = nextInLine();
      if (!next) return;
      const wait = nextStart - performance.now();
      if (wait > 0) {
        if (!isScheduled) setTimeout(onTime, wait);
        isScheduled = true;
        return;
      }
      next.waiters.delete(next.waiter);
      waiting.delete(next.caller);
      if (next.waiters.size > 0) waiting.set(next.caller, next.waiters);
      next.waiter.start();
    }
  }

  function onTime(): void {
    isScheduled = false;
    advance();
  }

  /** Takes a place; what it gives frees it, however often it is called. */
  function start(caller: Caller): () => void {
    taken += 1;
    running.set(caller, (running.get(caller) ?? 0) + 1);
    nextStart = performance.now() + spacingMs;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      taken -= 1;
      const others = (running.get(caller) ?? 1) - 1;
      if (others > 0) running.set(caller, others);
      else running.delete(caller);
      advance();
    };
  }

  function leaveQueue(caller: Caller, waiter: Waiter): void {
    const waiters = waiting.get(caller);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(caller);
  }

  return {
    async enter(signal, caller) {
      if (signal.aborted) throw signal.reason;
      if (isFree(caller)) return start(caller);
      return await new Promise((resolve, reject) => {
        const waiter: Waiter = {
          start() {
            letGo();
            resolve(start(caller));
          },
        };
        const letGo = onAbort(signal, () => {
          leaveQueue(caller, waiter);
          reject(signal.reason);
        });
        waiting.set(caller, (waiting.get(caller) ?? new Set()).add(waiter));
        advance();
      });
    },
  };
}
