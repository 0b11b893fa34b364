/** Sums of money and of calls, brought together by whatever the page shows them by. */
import { quantile } from '../metrics/buckets.ts';
import { type Money, type Rate, rateToDecimal, toDecimal } from '../money.ts';
import type { CallCount, MoneySum } from '../store/figures/figures-store.ts';
import type { Slice, Totals } from './figures.ts';
import type { Names } from './names.ts';

interface Sum {
  calls: number;
  failures: number;
  challenges: number;
  revenue: Money;
  cost: Rate;
  refunds: Money;
  readonly ms: Map<number, number>;
}

export type Moved = Pick<MoneySum, 'at' | 'route' | 'door' | 'network' | 'asset' | 'revenue' | 'cost' | 'refunds'>;

const nothing = (): Sum => ({
  calls: 0,
  failures: 0,
  challenges: 0,
  revenue: 0n,
  cost: 0n,
  refunds: 0n,
  ms: new Map(),
});

/** Trillionths of a dollar in a millionth. */
const RATE_PER_MONEY = 1_000_000n;

const signedRate = (sum: Rate): string => (sum < 0n ? `-${rateToDecimal(-sum)}` : rateToDecimal(sum));

export function totalsOf({ calls, failures, challenges, revenue, cost, refunds, ms }: Sum): Totals {
  const [p50, p95] = [quantile(ms, 0.5), quantile(ms, 0.95)];
  return {
    calls,
    failures,
    challenges,
    revenue: toDecimal(revenue),
    cost: rateToDecimal(cost),
    margin: signedRate(revenue * RATE_PER_MONEY - cost),
    refunds: toDecimal(refunds),
    ...(p50 !== undefined && { p50 }),
    ...(p95 !== undefined && { p95 }),
  };
}

/** Sums by a name. What is sold as credits is no revenue yet. */
export class Ledger<Name> {
  readonly #sums = new Map<Name, Sum>();
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  of(name: Name): Sum {
    const known = this.#sums.get(name) ?? nothing();
    this.#sums.set(name, known);
    return known;
  }

  addMoney(name: Name, { route, asset, revenue, cost, refunds }: Moved): void {
    const sum = this.of(name);
    const worth = (amount: bigint) => this.#names.worth({ amount, asset });
    if (!this.#names.sellsCredits(route)) sum.revenue += worth(revenue);
    sum.cost += cost;
    sum.refunds += worth(refunds);
  }

  addCalls(name: Name, { bucket, calls, failures, challenges }: CallCount): void {
    const sum = this.of(name);
    sum.calls += calls;
    sum.failures += failures;
    sum.challenges += challenges;
    if (calls > 0) sum.ms.set(bucket, (sum.ms.get(bucket) ?? 0) + calls);
  }

  /** The greatest revenue first, then the most calls. */
  slices(this: Ledger<string>): Slice[] {
    return [...this.#sums]
      .sort(([, one], [, other]) => Number(other.revenue - one.revenue) || other.calls - one.calls)
      .map(([name, sum]) => ({ name, ...totalsOf(sum) }));
  }
}
