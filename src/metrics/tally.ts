/**
 * Counts calls and exchanges in memory, and adds them to the store in the background: nobody who calls waits for it. A
 * process that is killed forgets the last few seconds of them; money is counted by the store itself.
 */
import { randomUUID } from 'node:crypto';
import { type Rate, rate } from '../money.ts';
import type { Visit } from '../request/visit.ts';
import type { Batch, CallCount, ExchangeCount, PaidVisit } from '../store/figures/figures-store.ts';
import type { Store } from '../store/store.ts';
import { inTurn } from '../timing.ts';
import { bucketOf } from './buckets.ts';
import type { Metrics } from './metrics.ts';

export interface Tally {
  ended(visit: Visit): void;
  /** The same metrics; what they hear of exchanges is counted here as well. */
  with(metrics: Metrics): Metrics;
  /** Adds what was counted to the store; what cannot be added now is added next time. Rejects as the store does. */
  flush(): Promise<void>;
}

/** Visits that wait to be written while the store cannot be; more are forgotten. */
const MOST_VISITS = 10_000;
const VISITS_AT_ONCE = 200;
const HOUR_MS = 3_600_000;
/** Of what has no time that is told. */
const UNTIMED = 0;

/**
 * Added to in place: this happens on every request, and was six per cent of an unpaid 402 when each made another, and four
 * when counts were spread into others.
 */
type Counting<Count> = { -readonly [Key in keyof Count]: Count[Key] };

/** By what most of them differ in, few by few: a name for each, made of all that it is counted by, was as much again. */
type Counts<Count> = Map<string, Counting<Count>[]>;

export function openTally(store: Pick<Store, 'figures' | 'now'>): Tally {
  const calls: Counts<CallCount> = new Map();
  const exchanges: Counts<ExchangeCount> = new Map();
  let visits: PaidVisit[] = [];
  const hour = () => Math.floor(store.now() / HOUR_MS) * HOUR_MS;

  function addCall(count: CallCount): void {
    const { at, endpoint, door, network, bucket } = count;
    const before = calls
      .get(endpoint)
      ?.find((one) => one.bucket === bucket && one.door === door && one.network === network && one.at === at);
    if (!before) {
      add(calls, endpoint, { ...count });
      return;
    }
    before.calls += count.calls;
    before.failures += count.failures;
    before.challenges += count.challenges;
  }

  function addExchange(count: ExchangeCount): void {
    const { at, upstream, bucket } = count;
    const before = exchanges.get(upstream)?.find((one) => one.bucket === bucket && one.at === at);
    if (!before) {
      add(exchanges, upstream, { ...count });
      return;
    }
    before.calls += count.calls;
    before.failures += count.failures;
    before.spend += count.spend;
  }

  function count({ endpoint, door, network, isPaying, isProbe, status, ms }: Visit): void {
    if (endpoint === undefined) return;
    const isChallenge = !isPaying && isProbe && status === 402;
    if (!isPaying && !isChallenge) return;
    addCall({
      at: hour(),
      endpoint,
      door,
      network: network ?? '',
      bucket: isPaying ? bucketOf(ms) : UNTIMED,
      calls: isPaying ? 1 : 0,
      failures: isPaying && status >= 400 ? 1 : 0,
      challenges: isPaying ? 0 : 1,
    });
  }

  function keep(visit: Visit): void {
    const { paymentId, requestId, attempt, door, status, steps, beganAt: at } = visit;
    if (paymentId === undefined || visits.length >= MOST_VISITS) return;
    const ms = Math.round(visit.ms);
    const detail = `${status}${visit.isReplayed ? ', once more' : ''}${visit.isCut ? ', and its caller had left' : ''}`;
    const answered = { at: at + ms, step: 'answered', ms, detail };
    visits.push({ paymentId, requestId, at, attempt, door, status, steps: [...steps, answered] });
  }

  async function flushVisits(): Promise<void> {
    while (visits.length > 0) {
      const some = visits.slice(0, VISITS_AT_ONCE);
      await store.figures.addVisits(some);
      visits = visits.slice(some.length);
    }
  }

  const flushCalls = flushing(calls, store.figures.addCalls);
  const flushExchanges = flushing(exchanges, store.figures.addExchanges);

  return {
    ended(visit) {
      count(visit);
      keep(visit);
    },
    with: (metrics) => ({
      ...metrics,
      exchange(upstream, status, ms) {
        metrics.exchange(upstream, status, ms);
        const failures = status === undefined || status >= 400 ? 1 : 0;
        addExchange({ at: hour(), upstream, bucket: bucketOf(ms), calls: 1, failures, spend: 0n });
      },
      cost(labels, dollars) {
        metrics.cost(labels, dollars);
        const { upstream } = labels;
        addExchange({ at: hour(), upstream, bucket: UNTIMED, calls: 0, failures: 0, spend: rateOf(dollars) });
      },
    }),
    flush: inTurn(async () => {
      await flushVisits();
      await flushCalls();
      await flushExchanges();
    }),
  };
}

/** Adds what was counted. What the store may have added already, for its word of it was lost, stays the batch that it was. */
function flushing<Count>(
  counts: Counts<Count>,
  write: (counts: readonly Count[], batch: Batch) => Promise<void>,
): () => Promise<void> {
  const counter = randomUUID();
  let number = 0;
  let open: readonly Count[] = [];
  async function addOpen(): Promise<void> {
    if (open.length > 0) await write(open, { counter, number });
    open = [];
  }
  return async () => {
    await addOpen();
    open = [...counts.values()].flat();
    number += 1;
    counts.clear();
    await addOpen();
  };
}

function add<Count>(counts: Counts<Count>, name: string, count: Counting<Count>): void {
  const others = counts.get(name);
  if (others) others.push(count);
  else counts.set(name, [count]);
}

/** What a provider says and is no amount is counted as nothing: its call is sold all the same. */
function rateOf(dollars: string): Rate {
  try {
    return rate(dollars);
  } catch {
    return 0n;
  }
}
