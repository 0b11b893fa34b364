/**
 * What one address, payer or API key may ask of the gateway: `limits` in `service.yaml`. Asked before anything is done or
 * paid, and never of a payment whose money may have moved. What is taken back is nobody's business but the caller's own:
 * nothing here is written down while a request waits.
 */
import type { LimitsFile } from '../catalogue/types.ts';
import { Problem } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type Bucket, openBucket } from './bucket.ts';
import { cut } from './cut.ts';
import { weightOf } from './weight.ts';

/** What came of a payment, or of a call with a key. */
export type CallEnd =
  /** It was paid for. */
  | 'paid'
  /** The provider refused it for good, and nothing was paid. */
  | 'failed'
  /**
   * Its settlement was refused when it was tried, or what was settled cannot be delivered and has to be given back, or is
   * less than its transactions are worth. Or its provider worked for it until the deadline and had nothing that could be charged.
   */
  | 'wasted'
  /** Nothing that its payer had a hand in. */
  | 'other';

/** One request's. Each function may throw Problem `rate_limited`, `waits`, `ended` and `over` excepted. */
export interface Gate {
  /** What it has to be counted for: see `weightOf`. */
  brings(body: Uint8Array): void;
  /** A price is asked, or something that costs nothing, or nobody looks at its payment. */
  asks(): void;
  /** It comes with a payment, a key or a proof that nobody has looked at. */
  arrives(): void;
  /** It comes with a payment that is worked on, and is kept until that ends: false where its address has too much under way. */
  waits(): boolean;
  /**
   * Whose it is, once that is sure. `hasPaid`: it has the gateway's money already, so it is counted and not turned away.
   * `depositor`: whose deposit it is drawn from, which takes no transaction and makes good what that took: no waste keeps it out.
   */
  identified(payer: string, hasPaid?: boolean, depositor?: string): void;
  /** A deposit of this payer's is to be given back. */
  returns(payer: string): void;
  /** It was, at our cost: such are counted by themselves, for what its payer buys makes none of them good. */
  returned(): void;
  /** The payment, the key or the proof was not good. */
  refused(): void;
  ended(how: CallEnd): void;
  /** The request is over. */
  over(): void;
}

/** What a request has counted against its address: each once, whoever it is shown to. */
export type Counted = Set<'unpaid' | 'refused'>;

export interface Limits {
  /** `address`: undefined where it stands for nobody in particular. `counted`: where others have a gate for the same request. */
  gate(address: string | undefined, counted?: Counted): Gate;
  /** Whatever may be shared with other instances. */
  readonly buckets: readonly Bucket[];
}

interface LimitsParts {
  readonly file: LimitsFile | undefined;
  readonly metrics: Pick<Metrics, 'limited'>;
  readonly log: Pick<Log, 'warn'>;
  now(): number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A signature costs as much as so many looks at a request. */
const LIGHTER = 10;

const after = (waitMs: number): string => String(Math.max(1, Math.ceil(waitMs / 1000)));

/** Some rails keep an EVM address with its capitals. */
const nameOf = (payer: string): string => (payer.startsWith('0x') ? payer.toLowerCase() : payer);

export function openLimits({ file = {}, metrics, log, now }: LimitsParts): Limits {
  const { unpaidPerMinute = 6_000, refusedPerMinute = 600, underWay: mostOfAddress = 1_000 } = file.address ?? {};
  const {
    failedPerMinute = 120,
    wastedPerHour = 30,
    wastedPerDay = 100,
    underWay: mostOfPayer = 200,
  } = file.payer ?? {};
  const bucket = (name: string, count: number, periodMs: number) => openBucket({ name, count, periodMs });
  const unpaid = bucket('unpaid', unpaidPerMinute, MINUTE_MS);
  const refused = bucket('refused', refusedPerMinute, MINUTE_MS);
  const failed = bucket('failed', failedPerMinute, MINUTE_MS);
  const wasted = [bucket('wasted', wastedPerHour, HOUR_MS), bucket('wasted-day', wastedPerDay, DAY_MS)];
  const returned = bucket('returned', wastedPerHour, HOUR_MS);
  const underWay = new Map<string, number>();
  /** An operator should know who is limited, and not a line for each time. */
  const told = openBucket({ name: 'told', count: 1, periodMs: MINUTE_MS }, 1_000);
  const toldInAll = openBucket({ name: 'told in all', count: 30, periodMs: MINUTE_MS });

  function limited(by: 'address' | 'payer', caller: string, what: string, waitMs: number, message: string): Problem {
    metrics.limited({ by, what });
    const moment = now();
    const who = by === 'address' ? cut(caller) : caller;
    if (told.wait(`${what} ${who}`, moment) === 0 && toldInAll.wait('', moment) === 0) {
      told.take(`${what} ${who}`, moment);
      toldInAll.take('', moment);
      log.warn({ by, who, what, retryAfter: Number(after(waitMs)) }, 'a caller is limited');
    }
    const words = `${message}; nothing was charged: come back in ${after(waitMs)} s`;
    return new Problem('rate_limited', words, { headers: { 'retry-after': after(waitMs) } });
  }

  function demand(by: 'address' | 'payer', caller: string, bucket: Bucket, message: string): void {
    const waitMs = bucket.wait(caller, now());
    if (waitMs > 0) throw limited(by, caller, bucket.name, waitMs, message);
  }

  const underWayOf = (by: 'address' | 'payer', caller: string): number => underWay.get(`${by} ${caller}`) ?? 0;

  /** Answers what lets go of it. */
  function occupy(by: 'address' | 'payer', caller: string, most: number): () => void {
    const name = `${by} ${caller}`;
    const count = underWayOf(by, caller);
    if (count >= most) {
      throw limited(by, caller, 'under-way', 1_000, `This ${by} has ${count} calls under way, as many as it may have`);
    }
    underWay.set(name, count + 1);
    return () => {
      const left = (underWay.get(name) ?? 1) - 1;
      if (left > 0) underWay.set(name, left);
      else underWay.delete(name);
    };
  }

  return {
    buckets: [unpaid, refused, failed, returned, ...wasted],
    gate(address, counted) {
      const held: (() => void)[] = [];
      let payer: string | undefined;
      let spender: string | undefined;
      let returning: string | undefined;
      let brought: Uint8Array | undefined;
      const weight = () => (brought ? weightOf(brought) : 1);
      return {
        brings(body) {
          brought = body;
        },
        asks() {
          if (address === undefined || counted?.has('unpaid')) return;
          demand('address', address, unpaid, 'This address asks for too much without paying');
          unpaid.take(address, now(), weight());
          counted?.add('unpaid');
        },
        arrives() {
          if (address === undefined || held.length > 0) return;
          // What counted a moment ago was let in before.
          if (!counted?.has('refused'))
            demand('address', address, refused, 'Too many payments, keys or proofs of this address were refused');
          held.push(occupy('address', address, mostOfAddress));
        },
        waits() {
          if (address === undefined || held.length > 0) return true;
          if (underWayOf('address', address) >= mostOfAddress) {
            metrics.limited({ by: 'address', what: 'under-way' });
            return false;
          }
          held.push(occupy('address', address, mostOfAddress));
          return true;
        },
        identified(given, hasPaid = false, depositor) {
          if (payer !== undefined) return;
          const name = nameOf(given);
          spender = depositor && nameOf(depositor);
          if (hasPaid) {
            payer = name;
            return;
          }
          demand('payer', name, failed, 'Providers refused too many calls of this payer');
          for (const each of depositor === undefined ? wasted : [])
            demand(
              'payer',
              name,
              each,
              'Too many calls or settlements of this payer came to nothing, or to less than they cost',
            );
          held.push(occupy('payer', name, mostOfPayer));
          payer = name;
        },
        returns(given) {
          returning = nameOf(given);
          demand('payer', returning, returned, 'Deposits of this payer were given back too often');
        },
        returned() {
          if (returning !== undefined) returned.take(returning, now());
        },
        refused() {
          if (address === undefined || counted?.has('refused')) return;
          refused.take(address, now(), Math.ceil(weight() / LIGHTER));
          counted?.add('refused');
        },
        ended(how) {
          if (payer === undefined) {
            // Nobody is known to have signed it.
            if (how === 'wasted' && address !== undefined) refused.take(address, now());
            return;
          }
          if (how === 'failed') failed.take(payer, now());
          if (how === 'wasted') for (const each of wasted) each.take(payer, now());
          // Who pays in the end has a share in what went wrong before, at most.
          if (how === 'paid') for (const each of wasted) each.take(spender ?? payer, now(), -1);
        },
        over() {
          for (const release of held.splice(0)) release();
        },
      };
    },
  };
}
