/** Bounds how many calls run at the same time and how close together they start. First come, first served. */
export interface Gate {
  /** Waits for a turn; what it gives must be called once when the call is over. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>;
}

interface Waiter {
  start(): void;
}

export function openGate({ concurrency, spacingMs }: { concurrency: number; spacingMs: number }): Gate {
  const waiting = new Set<Waiter>();
  let running = 0;
  let nextStart = 0;
  let isScheduled = false;

  function advance(): void {
    for (const waiter of waiting) {
      if (running >= concurrency) return;
      const wait = nextStart - performance.now();
      if (wait > 0) {
        if (!isScheduled) setTimeout(onTime, wait);
        isScheduled = true;
        return;
      }
      waiting.delete(waiter);
      waiter.start();
    }
  }

  function onTime(): void {
    isScheduled = false;
    advance();
  }

  /** Takes a place; what it gives frees it, however often it is called. */
  function start(): () => void {
    running += 1;
    if (spacingMs > 0) nextStart = performance.now() + spacingMs;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      advance();
    };
  }

  return {
    async enter(signal) {
      if (signal.aborted) throw signal.reason;
      if (waiting.size === 0 && running < concurrency && (spacingMs === 0 || nextStart <= performance.now()))
        return start();
      return await new Promise((resolve, reject) => {
        const abandon = () => {
          waiting.delete(waiter);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          start() {
            signal.removeEventListener('abort', abandon);
            resolve(start());
          },
        };
        signal.addEventListener('abort', abandon, { once: true });
        waiting.add(waiter);
        advance();
      });
    },
  };
}
