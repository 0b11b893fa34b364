/** What the operator said is too much or too little. */
import type { AlertsFile } from '../catalogue/types.ts';
import { type Money, rateToDecimal, rateToMoney, toDecimal, usd } from '../money.ts';
import type { Store } from '../store/store.ts';
import type { News } from './letter.ts';
import { DAY_MS, dayOf, startOf, type Tally } from './tally.ts';

/** What settled just before midnight is in the store by then. */
const DAY_OVER_MS = 600_000;

/** `spend.daily`: as soon as the day's spending has reached it. What was bought before midnight may be known after it. */
export function spendNews({ spendAbove }: AlertsFile, tally: Tally, now: number): News[] {
  if (spendAbove === undefined) return [];
  return [dayOf(now - DAY_MS), dayOf(now)].flatMap((day): News[] => {
    const spent = rateToMoney(tally.day(day).spent);
    if (spent < usd(spendAbove)) return [];
    return [{ type: 'spend.daily', about: day, data: { day, dollars: toDecimal(spent), threshold: spendAbove } }];
  });
}

/** `revenue.daily`: once the day is over, where the first sale was before it began. */
export async function revenueNews(
  { revenueBelow }: AlertsFile,
  tally: Tally,
  store: Pick<Store, 'sales'>,
  now: number,
): Promise<News[]> {
  const day = dayOf(now - DAY_MS);
  const { revenue } = tally.day(day);
  const isOver = now - startOf(dayOf(now)) >= DAY_OVER_MS;
  if (revenueBelow === undefined || !isOver || revenue >= usd(revenueBelow)) return [];
  const [first] = await store.sales({ since: 0, after: undefined, limit: 1 });
  if (!first || first.createdAt >= startOf(day)) return [];
  return [{ type: 'revenue.daily', about: day, data: { day, dollars: toDecimal(revenue), threshold: revenueBelow } }];
}

/** Whether as many of the endpoint's sales were counted as its margin is taken of. */
export const isMarginKnown = ({ marginOver = 0 }: AlertsFile, tally: Pick<Tally, 'sales'>, endpoint: string): boolean =>
  (tally.sales().get(endpoint)?.length ?? 0) >= marginOver;

/** `margin.negative` of the endpoints whose last sales were dearer than what was paid for them. */
export function marginNews({ marginOver = 0 }: AlertsFile, tally: Tally): News[] {
  if (marginOver === 0) return [];
  return [...tally.sales()].flatMap(([endpoint, all]): News[] => {
    if (all.length < marginOver) return [];
    const last = all.slice(-marginOver);
    const paid = last.reduce((sum, sale) => sum + sale.paid, 0n);
    const cost = last.reduce((sum, sale) => sum + sale.cost, 0n);
    if (rateToMoney(cost) <= paid) return [];
    const data = { endpoint, sales: marginOver, dollars: toDecimal(paid), cost: rateToDecimal(cost) };
    return [{ type: 'margin.negative', about: endpoint, data }];
  });
}

interface Key {
  readonly id: string;
  readonly label: string;
  readonly balance: Money;
  readonly held: Money;
  readonly entries: number;
  readonly expiresAt: number | undefined;
  readonly disabledAt: number | undefined;
}

/**
 * `credit.low` of the keys that can still be used. A call under way holds far more than it mostly costs: that is left as well.
 * What has never had anything does not run low: its payment is not there yet, or never comes, and whoever likes makes such keys.
 */
export function creditNews({ creditBelow }: AlertsFile, keys: readonly Key[], now: number): News[] {
  if (creditBelow === undefined) return [];
  const isOpen = ({ entries, expiresAt, disabledAt }: Key) =>
    entries > 0 && disabledAt === undefined && (expiresAt ?? now + 1) > now;
  return keys
    .filter((key) => isOpen(key) && key.balance + key.held < usd(creditBelow))
    .map(({ id, label, balance, held }) => {
      const data = { key: id, label, dollars: toDecimal(balance + held), threshold: creditBelow };
      return { type: 'credit.low', about: id, data };
    });
}
