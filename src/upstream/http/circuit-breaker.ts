/**
 * Stops asking an upstream that keeps failing, so that callers learn of it at once instead of after a time-out. A caller
 * is whoever pays or a key: nobody closes an upstream to others by calls of its own alone.
 */
export interface CircuitBreaker {
  /** True from the failure that opened the circuit until a probe succeeds. */
  isOpen(): boolean;
  /** False while the circuit is open. After the cool-down, true for one probe at a time. */
  allows(caller?: string): boolean;
  /** How an allowed call ended; `abandoned` says nothing about the upstream. True when this failure opened the circuit. */
  report(outcome: Ended, caller?: string): boolean;
}

export type Ended = 'success' | 'failure' | 'abandoned';

export interface CircuitBreakerOptions {
  /** Callers whose calls failed, with no success in between, that open the circuit. Calls of nobody's count each. */
  failures: number;
  coolDownMs: number;
  /** A probe that has no answer by then gives its place to another caller. */
  probeMs: number;
  /** Milliseconds, from any start. */
  now(): number;
}

export function openCircuitBreaker({ failures, coolDownMs, probeMs, now }: CircuitBreakerOptions): CircuitBreaker {
  const failed = new Set<unknown>();
  let openSince: number | undefined;
  let probe: { caller: string | undefined; since: number } | undefined;
  /** Callers whose probes have no answer yet. */
  const probing = new Set<string>();
  /** The caller whose probe failed last: others come first. */
  let failedProber: string | undefined;

  function close(): void {
    failed.clear();
    openSince = undefined;
    probe = undefined;
    probing.clear();
    failedProber = undefined;
  }

  return {
    isOpen: () => openSince !== undefined,
    allows(caller) {
      if (openSince === undefined) return true;
      const isLast = caller !== undefined && caller === failedProber;
      if (now() - openSince < (isLast ? 2 : 1) * coolDownMs) return false;
      if (probe && now() - probe.since < probeMs) return false;
      if (caller !== undefined) {
        if (probing.has(caller)) return false;
        probing.add(caller);
      }
      probe = { caller, since: now() };
      return true;
    },
    report(outcome, caller) {
      if (caller !== undefined) probing.delete(caller);
      const ofProbe = probe?.caller === caller ? probe : undefined;
      const inTime = ofProbe !== undefined && now() - ofProbe.since < probeMs;
      if (ofProbe) probe = undefined;
      if (outcome === 'abandoned') return false;
      if (outcome === 'success') {
        close();
        return false;
      }
      if (openSince !== undefined) {
        if (!inTime) return false;
        openSince = now();
        failedProber = caller;
        return false;
      }
      failed.add(caller ?? Symbol());
      if (failed.size < failures) return false;
      openSince = now();
      return true;
    },
  };
}
