/** What a search goes through: who sends what, and what may go wrong. */
import type { SettlementAnswer } from './chain.ts';
import type { UpstreamAnswer } from './upstream.ts';

export interface Arrival {
  readonly name: string;
  readonly instance: string;
  /** Two with one payment bring the same proof. */
  readonly payment: string;
  readonly prompt: string;
  readonly idempotencyKey?: string;
  readonly identifier?: string;
  /** Comes once that one has got an answer, or its connection broke. */
  readonly after?: string;
}

export interface Scenario {
  readonly name: string;
  readonly arrivals: readonly Arrival[];
  /** True where payments settle before the work. */
  readonly isUpfront: boolean;
  readonly upstream: readonly UpstreamAnswer[];
  readonly settlement: readonly SettlementAnswer[];
  /** Instances that die, at any step. */
  readonly crashes: number;
  /** Instances that sleep for longer than a lease, from any step to any later one. */
  readonly sleeps: number;
  /** Questions to the chain that stay without an answer. */
  readonly silences: number;
  /** Rounds of another instance's reconciler, at any step. */
  readonly reconciles: number;
  /** Fewer interleavings than this would mean that the search has become emptier. */
  readonly least: number;
}
