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
  let timer: NodeJS.Timeout | undefined;

  function advance(): void {
    for (const waiter of waiting) {
      if (running >= concurrency) return;
      const wait = nextStart - performance.now();
      if (wait > 0) {
        timer ??= setTimeout(() => {
          timer = undefined;
          advance();
        }, wait);
        return;
      }
      waiting.delete(waiter);
      running += 1;
      nextStart = performance.now() + spacingMs;
      waiter.start();
    }
  }

  function leaveOnce(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      advance();
    };
  }

  return {
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const abandon = () => {
          waiting.delete(waiter);
          reject(signal.reason);
        };
        const waiter: Waiter = {
          start() {
            signal.removeEventListener('abort', abandon);
            resolve(leaveOnce());
          },
        };
        signal.addEventListener('abort', abandon, { once: true });
        waiting.add(waiter);
        advance();
      });
    },
  };
}
