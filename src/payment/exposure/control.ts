/**
 * Exposure control: which payments have to settle before the work. A payment that settles after the result can still
 * be taken back while the provider works: moved away, cancelled, or signed by a wallet that says otherwise when it
 * counts. So what is open at any moment is bounded, and what was lost makes the next payments settle first.
 */
import type { NetworkId, Route } from '../../catalogue/types.ts';
import type { Log } from '../../log.ts';
import { atomicToMoney, type Money, toAtomic, toDecimal } from '../../money.ts';
import type { ExposureLimits, Loss, Store } from '../../store/store.ts';
import type { ExposurePolicy } from './policy.ts';

export interface ExposureControl {
  /** True where everybody's payment for this has to settle first: told before anybody signs. */
  settlesUpfront(route: Route, network: NetworkId, amount: Money): boolean;
  /** What bounds a payment besides; the store decides, together with the claim. */
  limits(decimals: number): ExposureLimits;
  readonly policy: ExposurePolicy;
  /** Grows whenever `settlesUpfront` changes, so that prepared challenges know when they are stale. */
  readonly version: number;
  /** Measures again what was lost. */
  refresh(): Promise<void>;
}

export interface ExposureParts {
  readonly policy: ExposurePolicy;
  readonly store: Pick<Store, 'losses'>;
  /** Of a network's asset, for losses as the store has them. */
  decimals(network: NetworkId): number;
  readonly log: Log;
  now(): number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

type Part = `network ${string}` | `route ${string}`;

export function createExposureControl({ policy, store, decimals, log, now }: ExposureParts): ExposureControl {
  let strict: ReadonlySet<Part> = new Set();
  let strangersFirst = false;
  let version = 0;

  /** Logs every change: an operator should know why payers settle first. */
  function apply(lost: ReadonlyMap<Part, Money>): void {
    const found = new Set([...lost].filter(([, money]) => money >= policy.lossLimit).map(([part]) => part));
    for (const part of found) {
      if (!strict.has(part)) {
        log.warn(
          { part, lost: toDecimal(lost.get(part) ?? 0n) },
          'settlements failed after the work: settles first now',
        );
      }
    }
    for (const part of strict) if (!found.has(part)) log.info({ part }, 'settles after the result again');
    if (found.size !== strict.size || [...found].some((part) => !strict.has(part))) version += 1;
    strict = found;
  }

  return {
    policy,
    get version() {
      return version;
    },
    settlesUpfront: (route, network, amount) =>
      amount > policy.settleUpfront.above || strict.has(`network ${network}`) || strict.has(`route ${route.id}`),
    limits: (places) => ({
      perPayer: toAtomic(policy.perPayer, places),
      newPayer: strangersFirst ? 0n : toAtomic(policy.newPayer, places),
      failures: policy.settleUpfront.afterFailures,
      failuresSince: now() - DAY_MS,
    }),
    async refresh() {
      const lost = new Map<Part, Money>();
      let total = 0n;
      const add = (part: Part, money: Money) => lost.set(part, (lost.get(part) ?? 0n) + money);
      for (const loss of await store.losses(now() - HOUR_MS)) {
        const money = worth(loss, decimals);
        total += money;
        add(`network ${loss.network}`, money);
        add(`route ${loss.route}`, money);
      }
      strangersFirst = total >= policy.perHour;
      apply(lost);
    },
  };
}

/** A network that is not of the catalogue any more has no payments to protect. */
function worth({ network, amount }: Loss, decimals: (network: NetworkId) => number): Money {
  try {
    return atomicToMoney(amount, decimals(network));
  } catch {
    return 0n;
  }
}
