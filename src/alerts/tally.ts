/** What was earned and spent on each day, and the last sales of each endpoint, counted as the store has them. */
import { MOST_SALES } from '../catalogue/files/alerts.ts';
import { type Money, type Rate, rate } from '../money.ts';
import type { LedgerEntry } from '../store/credits/credit-store.ts';
import { PAGE, pages, paidIn } from '../store/pages.ts';
import type { Paid, Payment, Store } from '../store/store.ts';

export interface Day {
  revenue: Money;
  /** What providers charged, where they say so. */
  spent: Rate;
}

export interface Sale {
  readonly paid: Money;
  readonly cost: Rate;
}

export interface Tally {
  /** Reads what has come since. */
  count(now: number): Promise<void>;
  /** `2026-11-22`, of UTC. */
  day(name: string): Day;
  /** Endpoint -> its last sales whose cost is known, the newest last. */
  sales(): ReadonlyMap<string, readonly Sale[]>;
}

interface TallyParts {
  readonly store: Pick<Store, 'paid' | 'find' | 'credits'>;
  worth(moved: Pick<Payment, 'amount' | 'asset'>): Money;
}

export const DAY_MS = 86_400_000;
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
export const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** How much later than its time a sale may be seen. */
const OVERLAP_MS = 600_000;
/** Long enough for what is told of yesterday. */
const KEPT_MS = 3 * DAY_MS;

type Sold = Pick<Paid, 'id' | 'route' | 'asset' | 'cost' | 'state' | 'receipt' | 'isAnswered'>;

/** What cannot be read counts as nothing. */
function costOf(cost: string | undefined): Rate | undefined {
  try {
    return cost === undefined ? undefined : rate(cost);
  } catch {
    return undefined;
  }
}

export function openTally({ store, worth }: TallyParts): Tally {
  const days = new Map<string, Day>();
  const sold = new Map<string, Sale[]>();
  /** Counted, and read again until its time is over: when, and whether its cost was known. */
  const recent = new Map<string, { readonly at: number; readonly hasCost: boolean }>();
  /** Paid first: the cost is known when the work is done, which may be half an hour later, or days where it is owed. */
  const open = new Set<string>();
  let from: number | undefined;

  function dayAt(name: string): Day {
    const day = days.get(name) ?? { revenue: 0n, spent: 0n };
    days.set(name, day);
    return day;
  }

  function add(id: string, at: number, route: string, earned: Money, sale: { paid: Money; cost: Rate | undefined }) {
    const known = recent.get(id);
    const { paid, cost } = sale;
    recent.set(id, { at, hasCost: cost !== undefined });
    const day = dayAt(dayOf(at));
    if (!known) day.revenue += earned;
    if (cost === undefined || known?.hasCost) return;
    day.spent += cost;
    const sales = sold.get(route) ?? [];
    sales.push({ paid, cost });
    if (sales.length > MOST_SALES) sales.shift();
    sold.set(route, sales);
  }

  function addSale({ id, route, asset, cost, state, receipt, isAnswered }: Sold): void {
    if (isAnswered || state === 'refunded') open.delete(id);
    else open.add(id);
    const paid = worth({ amount: receipt.amount, asset });
    add(id, receipt.settledAt, route, paid, { paid, cost: costOf(cost) });
  }

  return {
    async count(now) {
      const period = { from: from ?? startOf(dayOf(now - DAY_MS)), to: now + 1 };
      for (const id of open) {
        const payment = await store.find(id);
        if (payment?.receipt && payment.receipt.settledAt >= now - KEPT_MS)
          addSale({ ...payment, receipt: payment.receipt, isAnswered: payment.answer !== undefined });
        else open.delete(id);
      }
      for await (const sale of paidIn(store, period)) addSale(sale);
      const read = (after: LedgerEntry | undefined) => store.credits.movements({ ...period, after, limit: PAGE });
      for await (const { keyId, number, kind, route = '', price = 0n, cost, createdAt } of pages(read)) {
        // What credits are bought with was earned already.
        if (kind === 'settle') add(`${keyId} ${number}`, createdAt, route, 0n, { paid: price, cost });
      }
      from = now - OVERLAP_MS;
      for (const [id, { at }] of recent) if (at < from && !open.has(id)) recent.delete(id);
      for (const name of days.keys()) if (startOf(name) < now - KEPT_MS) days.delete(name);
    },
    day: (name) => days.get(name) ?? { revenue: 0n, spent: 0n },
    sales: () => sold,
  };
}
