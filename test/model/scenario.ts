/** What a search goes through: who sends what, and what may go wrong. */
import type { Money } from '../../src/money.ts';
import type { SettlementAnswer } from './chain.ts';
import type { UpstreamAnswer } from './upstream.ts';

export interface Arrival {
  readonly name: string;
  readonly instance: string;
  /** Two with one payment bring the same proof; where calls are drawn from a channel, the name of a voucher. */
  readonly payment: string;
  readonly prompt: string;
  readonly idempotencyKey?: string;
  readonly identifier?: string;
  /** Comes once that one has got an answer, or its connection broke. */
  readonly after?: string;
  /** Comes together with a round of the reconciler. */
  readonly comesLate?: boolean;
}

interface Common {
  readonly name: string;
  readonly arrivals: readonly Arrival[];
  readonly upstream: readonly UpstreamAnswer[];
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

/** Payments settle one by one. */
export interface SettledScenario extends Common {
  /** True where they do before the work. */
  readonly isUpfront: boolean;
  readonly settlement: readonly SettlementAnswer[];
}

/** What becomes of a transaction that is sent: what has no answer lands at any time, or never. */
export type TransactionAnswer = 'lands' | 'is turned down' | 'has no answer';

export interface Voucher {
  /** Calls that it is good for, all before included. */
  readonly calls: number;
  /** Calls that it deposits for first. */
  readonly deposits?: number;
}

/** Calls are drawn from one channel. */
export interface ChannelScenario extends Common {
  readonly channel: {
    /** By name. */
    readonly vouchers: Readonly<Record<string, Voucher>>;
    /** Calls that were deposited for before the beginning. */
    readonly holds: number;
    readonly transactions: readonly TransactionAnswer[];
    /** What a call costs, where that is less than its price and known only after it. */
    readonly use?: Money;
    /**
     * What is begun besides, at any step, by an instance each: vouchers are claimed, or a payer for whom so many calls were
     * charged asks for what is left.
     */
    readonly besides?: readonly ('claim' | { readonly refundAfter: number })[];
  };
}

export type Scenario = SettledScenario | ChannelScenario;

export const arrival = (name: string, changes: Partial<Arrival> = {}): Arrival => ({
  name,
  instance: name,
  payment: 'p',
  prompt: 'x',
  ...changes,
});

export const quiet = { crashes: 0, sleeps: 0, silences: 0, reconciles: 0 };
