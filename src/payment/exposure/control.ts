/**
 * Exposure control: which payments have to settle before the work. A payment that settles after the result can still
 * be taken back while the provider works: moved away, cancelled, or signed by a wallet that says otherwise when it
 * counts. So what is open at any moment is bounded, and what was lost makes the next payments settle first.
 */
import type { Route } from '../../catalogue/types.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { type Money, toAtomic, toDecimal } from '../../money.ts';
import type { ExposureLimits, Loss, Store } from '../../store/store.ts';
import { type ExposurePolicy, isAbove } from './policy.ts';

/**
 * Which payers settle first although the offer says otherwise, as challenges state it. Members in canonical order
 * (JCS); amounts in dollars.
 */
export interface UpfrontFor {
  /** Wallets that are contracts. */
  readonly contracts: boolean;
  /** Payers of whom so many settlements failed after the work, within a day. */
  readonly failedSettlements: number;
  /** Payers who have more than this under way beyond what they settled before on the network, this call included. */
  readonly unprovenAbove: string;
  /** The same while all payers together have more than this under way beyond it, or lost in an hour. */
  readonly unprovenTogetherAbove: string;
  /** Payers who have more than this under way, this call included. */
  readonly unsettledAbove: string;
}

export interface ExposureControl {
  /**
   * Why everybody's payment for this has to settle first: told before anybody signs. `network` is a neutral id, or CAIP-2.
   */
  upfront(route: Route, network: string, amount: Money): 'above' | 'loss' | undefined;
  readonly upfrontFor: UpfrontFor;
  /**
   * False where losses changed what is asked after the challenge was given: whoever signed it was told otherwise.
   * `isUnproven`: the payer has more under way than it has settled before.
   */
  wasTold(
    reason: 'loss' | 'exposure',
    offer: { readonly at: number; readonly route: Route; readonly network: string; readonly isUnproven: boolean },
  ): boolean;
  /** What bounds a payment besides: the store decides, together with the claim. Counts it as unproven until released. */
  reserve(amount: Money, decimals: number): Reservation;
  readonly policy: ExposurePolicy;
  /** Grows whenever what challenges say changes, so that prepared ones know when they are stale. */
  readonly version: number;
  /** Measures again what was lost. */
  refresh(): Promise<void>;
}

/** What a payment may take from what all payers together may have under way beyond what they settled before. Each function is called once at most. */
export interface Reservation {
  readonly limits: ExposureLimits;
  /** The payer's record covers it, or it settles first. */
  release(): void;
  /** The work is over: what came of it shows among the losses when they are measured next. */
  workEnded(): void;
}

export interface ExposureParts {
  readonly policy: ExposurePolicy;
  readonly store: Pick<Store, 'losses'>;
  /** A network as the catalogue names it. */
  idOf(network: string): string;
  worth(loss: Loss): Money;
  readonly metrics: Pick<Metrics, 'settlesFirst'>;
  readonly log: Log;
  now(): number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const UNPROVEN = 'payers without a record';
type Part = `network ${string}` | `route ${string}` | typeof UNPROVEN;

export function createExposureControl(parts: ExposureParts): ExposureControl {
  const { policy, store, idOf, worth, metrics, log, now } = parts;
  /** What settles first because of losses, and since when. */
  let strict: ReadonlyMap<Part, number> = new Map();
  let version = 0;
  /** Of all payers together, within the hour. */
  let lostInAll = 0n;
  /** Of payers without a record together, in this process; and what of it is worked for no more, but not measured yet. */
  let unprovenUnderWay = 0n;
  let unprovenEnded = 0n;

  const limitOf = (part: Part): Money => (part === UNPROVEN ? policy.perHour : policy.lossLimit);
  const partsOf = (route: Route, network: string): Part[] => [`network ${idOf(network)}`, `route ${route.id}`];

  /** Tells of every change: an operator should know why payers settle first. */
  function apply(lost: ReadonlyMap<Part, Money>): void {
    const before = strict;
    const found = [...lost].filter(([part, money]) => money >= limitOf(part)).map(([part]) => part);
    strict = new Map(found.map((part) => [part, before.get(part) ?? now()]));
    const begun = found.filter((part) => !before.has(part));
    const ended = [...before.keys()].filter((part) => !strict.has(part));
    for (const part of begun) {
      const details = { part, lost: toDecimal(lost.get(part) ?? 0n) };
      log.warn(details, 'settlements failed after the work: settles first now');
    }
    for (const part of ended) log.info({ part }, 'settles after the result again');
    for (const part of [...begun, ...ended]) metrics.settlesFirst(part, strict.has(part));
    if (begun.length + ended.length > 0) version += 1;
  }

  return {
    policy,
    get version() {
      return version;
    },
    upfront(route, network, amount) {
      if (isAbove(policy, route, amount)) return 'above';
      return partsOf(route, network).some((part) => strict.has(part)) ? 'loss' : undefined;
    },
    get upfrontFor() {
      const { contracts, afterFailures } = policy.settleUpfront;
      return {
        contracts,
        failedSettlements: afterFailures,
        unprovenAbove: strict.has(UNPROVEN) ? '0' : toDecimal(policy.unproven),
        unprovenTogetherAbove: toDecimal(policy.perHour),
        unsettledAbove: toDecimal(policy.perPayer),
      };
    },
    wasTold(reason, { at, route, network, isUnproven }) {
      const concerned = reason === 'loss' ? partsOf(route, network) : isUnproven ? [UNPROVEN as Part] : [];
      const since = concerned.map((part) => strict.get(part)).filter((time) => time !== undefined);
      return since.length === 0 || at >= Math.min(...since);
    },
    reserve(amount, places) {
      const left = strict.has(UNPROVEN) ? 0n : policy.perHour - lostInAll - unprovenUnderWay;
      const unproven = left < 0n ? 0n : left < policy.unproven ? left : policy.unproven;
      unprovenUnderWay += amount;
      return {
        limits: {
          perPayer: toAtomic(policy.perPayer, places),
          unproven: toAtomic(unproven, places),
          failures: policy.settleUpfront.afterFailures,
          failuresSince: now() - DAY_MS,
        },
        release() {
          unprovenUnderWay -= amount;
        },
        workEnded() {
          unprovenEnded += amount;
        },
      };
    },
    async refresh() {
      const lost = new Map<Part, Money>();
      const measured = unprovenEnded;
      const add = (part: Part, money: Money) => lost.set(part, (lost.get(part) ?? 0n) + money);
      for (const loss of await store.losses(now() - HOUR_MS)) {
        const money = worth(loss);
        add(`network ${idOf(loss.network)}`, money);
        add(`route ${loss.route}`, money);
        add(UNPROVEN, money);
      }
      lostInAll = lost.get(UNPROVEN) ?? 0n;
      unprovenUnderWay -= measured;
      unprovenEnded -= measured;
      apply(lost);
    },
  };
}
