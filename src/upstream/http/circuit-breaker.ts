/** Stops asking an upstream that keeps failing, so that callers learn of it at once instead of after a time-out. */
export interface CircuitBreaker {
  /** False while the circuit is open. After the cool-down, true for one probe at a time. */
  allows(): boolean;
  /** How an allowed call ended; `abandoned` says nothing about the upstream. True when this failure opened the circuit. */
  report(outcome: 'success' | 'failure' | 'abandoned'): boolean;
}

export interface CircuitBreakerOptions {
  /** Failures in a row that open the circuit. */
  failures: number;
  coolDownMs: number;
  /** Milliseconds, from any start. */
  now(): number;
}

export function openCircuitBreaker({ failures, coolDownMs, now }: CircuitBreakerOptions): CircuitBreaker {
  let inARow = 0;
  let openSince: number | undefined;
  let probing = false;
  return {
    allows() {
      if (openSince === undefined) return true;
      if (probing || now() - openSince < coolDownMs) return false;
      probing = true;
      return true;
    },
    report(outcome) {
      probing = false;
      if (outcome === 'abandoned') return false;
      if (outcome === 'success') {
        inARow = 0;
        openSince = undefined;
        return false;
      }
      inARow += 1;
      if (inARow < failures) return false;
      const opened = openSince === undefined;
      openSince = now();
      return opened;
    },
  };
}
