/**
 * Sums of business by the hour and by the day of UTC, and what visits that paid went through. Money is counted once,
 * whatever crashes: whether a movement is counted stands in its own row, and is written together with the sum. What is not
 * counted yet is read from the movements themselves, so that every sum is exact at any time.
 */
import type { Rate } from '../../money.ts';
import type { Period } from '../period.ts';

export const SPANS = { hour: 3_600_000, day: 86_400_000 } as const;

export type Span = keyof typeof SPANS;

/** Sums of one span, of what was sold by one route at one door and paid on one network. */
export interface MoneySum {
  /** When the span begins, in milliseconds since the epoch. */
  readonly at: number;
  readonly route: string;
  /** The rail, `mcp`, or `api-key`. */
  readonly door: string;
  /** As payments have it; empty for what was paid with an API key. */
  readonly network: string;
  /** Address; empty for what was paid with an API key, in millionths of a dollar. */
  readonly asset: string;
  readonly settled: number;
  /** Atomic units. */
  readonly revenue: bigint;
  /** What providers charged for it, in trillionths of a dollar. */
  readonly cost: Rate;
  /** Atomic units, in the span in which they were sent. */
  readonly refunds: bigint;
}

export interface Money {
  readonly sums: readonly MoneySum[];
  /** False while more is uncounted than can be read at once: then the sums lack some of it. */
  readonly isWhole: boolean;
}

/** A part of a histogram: calls that took up to so many milliseconds, and more than the next lower bound. */
interface Bucket {
  readonly bucket: number;
  readonly calls: number;
  readonly failures: number;
}

/** Times are milliseconds since the epoch: any time when counts are added, the span's beginning when they are read. */
export interface CallCount extends Bucket {
  readonly at: number;
  readonly endpoint: string;
  readonly door: string;
  readonly network: string;
  readonly challenges: number;
}

export interface ExchangeCount extends Bucket {
  readonly at: number;
  readonly upstream: string;
  /** Trillionths of a dollar. */
  readonly spend: Rate;
}

/** What one who counts adds at once: one batch after the other, each until it is known to be added. */
export interface Batch {
  /** Names whoever counts. */
  readonly counter: string;
  readonly number: number;
}

/** Something that happened in a visit. */
export interface VisitStep {
  readonly at: number;
  readonly step: string;
  readonly ms?: number;
  /** In words. No signatures. */
  readonly detail?: string;
}

/** One request that came with a payment. */
export interface PaidVisit {
  readonly paymentId: string;
  readonly requestId: string;
  readonly at: number;
  /** Undefined where it got what was paid for before. */
  readonly attempt: number | undefined;
  readonly door: string;
  readonly status: number;
  readonly steps: readonly VisitStep[];
}

/** Of whole spans; `from` and `to` are in them. */
export type SpansOf = Period & { readonly span: Span };

export interface FiguresStore {
  /** Counts so many movements of each sort at most, in one transaction each. True where more may be uncounted. */
  count(limit: number): Promise<boolean>;
  money(spans: SpansOf): Promise<Money>;
  /** Adds to what is counted, so that several instances sum. The same batch again changes nothing. */
  addCalls(counts: readonly CallCount[], batch: Batch): Promise<void>;
  calls(spans: SpansOf): Promise<CallCount[]>;
  addExchanges(counts: readonly ExchangeCount[], batch: Batch): Promise<void>;
  exchanges(spans: SpansOf): Promise<ExchangeCount[]>;
  /** The same visit again changes nothing. */
  addVisits(visits: readonly PaidVisit[]): Promise<void>;
  /** In order of time. */
  visitsOf(paymentId: string): Promise<PaidVisit[]>;
  /** Drops visits, and sums by the hour (those by the day stay), from before then, a few at a time. */
  forget(before: { readonly visits: number; readonly hours: number }): Promise<void>;
}
