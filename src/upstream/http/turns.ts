/** Turns at a provider, and whether it is asked at all: a process has one of each for it, whatever catalogues it sells in turn. */
import { parseDuration } from '../../catalogue/duration.ts';
import type { Upstream } from '../../catalogue/types.ts';
import { type CircuitBreaker, openCircuitBreaker } from './circuit-breaker.ts';
import { type Gate, openGate } from './concurrency.ts';

export interface Turns {
  readonly concurrency: number;
  readonly gate: Gate;
  readonly circuit: CircuitBreaker;
}

type Bounds = Pick<Upstream, 'name' | 'concurrency' | 'spacing'>;

/** The same for the same bounds at the same address. */
export type TurnsAt = (upstream: Bounds, baseUrl: string) => Turns;

const DEFAULT_CONCURRENCY = 64;
const CIRCUIT = { failures: 10, coolDownMs: 5_000, probeMs: 2_000 };

/** `now`: milliseconds, for the circuit breakers; tests set it. */
export function openTurns(now: () => number = () => performance.now()): TurnsAt {
  const known = new Map<string, Turns>();
  return ({ name, concurrency = DEFAULT_CONCURRENCY, spacing }, baseUrl) => {
    const key = JSON.stringify([name, baseUrl, concurrency, spacing]);
    const found = known.get(key);
    if (found) return found;
    const spacingMs = spacing === undefined ? 0 : parseDuration(spacing);
    if (spacingMs === undefined) throw new Error(`upstream ${name}: spacing ${spacing} is not a duration`);
    const circuit = openCircuitBreaker({ ...CIRCUIT, now });
    const turns = { concurrency, gate: openGate({ concurrency, spacingMs }), circuit };
    known.set(key, turns);
    return turns;
  };
}
