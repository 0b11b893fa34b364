/** What was sold at each endpoint, what it cost us, and what is left: over every rail and credits. */
import { type Money, type Rate, rate, rateToMoney, toDecimal } from '../../money.ts';
import { type Asset, fromAtomic } from '../../payment/assets.ts';
import type { CreditSales } from '../../store/credits/credit-store.ts';
import type { Sale, Store } from '../../store/store.ts';

const PAGE = 1_000;

interface Margin {
  /** The name of a rail, or `credits`. */
  readonly paidBy: string;
  /** The route, and the model where it tells calls apart. */
  readonly endpoint: string;
  readonly calls: number;
  readonly price: Money;
  /** Of the calls whose cost the provider reported; cost in trillionths of a dollar. */
  readonly known: { readonly calls: number; readonly price: Money; readonly cost: Rate };
}

interface Margins {
  /** By `paidBy` and endpoint. */
  readonly rows: readonly Margin[];
  /** Paid for credits, spent by now or not. */
  readonly creditsSold: Money;
}

/** Reads every settled payment since then, a page at a time. */
export async function readMargins(
  store: Pick<Store, 'sales' | 'credits'>,
  since: number,
  assetOf: (address: string) => Asset,
): Promise<Margins> {
  const rows = new Map<string, Margin>();
  let creditsSold = 0n;
  for await (const sale of salesSince(store, since)) {
    const price = fromAtomic(sale.amount, assetOf(sale.asset));
    // Credits are counted where they are spent, so their purchase is no sale.
    if (sale.keyId !== undefined) creditsSold += price;
    else add(rows, sale.rail, sale.route, price, costOf(sale));
  }
  const credits = (await store.credits.sales(since)).map(ofCredits);
  const byName = [...rows.values(), ...credits].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  return { rows: byName, creditsSold };
}

async function* salesSince(store: Pick<Store, 'sales'>, since: number): AsyncGenerator<Sale> {
  let after: Sale | undefined;
  for (;;) {
    const page = await store.sales({ since, after, limit: PAGE });
    if (page.length === 0) return;
    yield* page;
    after = page.at(-1);
  }
}

const costOf = ({ cost }: Sale): Rate | undefined => (cost === undefined ? undefined : rate(cost));

const nameOf = ({ paidBy, endpoint }: Margin): string => `${paidBy} ${endpoint}`;

function add(rows: Map<string, Margin>, paidBy: string, endpoint: string, price: Money, cost: Rate | undefined): void {
  const nothing: Margin = { paidBy, endpoint, calls: 0, price: 0n, known: { calls: 0, price: 0n, cost: 0n } };
  const before = rows.get(nameOf(nothing)) ?? nothing;
  const { calls, price: knownPrice, cost: knownCost } = before.known;
  rows.set(nameOf(nothing), {
    ...before,
    calls: before.calls + 1,
    price: before.price + price,
    known: cost === undefined ? before.known : { calls: calls + 1, price: knownPrice + price, cost: knownCost + cost },
  });
}

const ofCredits = ({ route, model, calls, price, known }: CreditSales): Margin => ({
  paidBy: 'credits',
  endpoint: `${route} ${model}`,
  calls,
  price,
  known,
});

const TITLES = ['paid by', 'endpoint', 'calls', 'sold', 'cost known of', 'for', 'cost', 'margin', ''] as const;

/** Columns of a table: what is known of the cost, and the margin on those calls alone. */
export function marginTable({ rows }: Margins): { head: readonly string[]; rows: string[][] } {
  return {
    head: TITLES,
    rows: rows.map(({ paidBy, endpoint, calls, price, known }) => {
      const counted = [paidBy, endpoint, String(calls), toDecimal(price), String(known.calls)];
      if (known.calls === 0) return [...counted, '-', '-', '-', '-'];
      const cost = rateToMoney(known.cost);
      const margin = known.price - cost;
      const percent = known.price === 0n ? '-' : `${((Number(margin) / Number(known.price)) * 100).toFixed(1)} %`;
      return [...counted, toDecimal(known.price), toDecimal(cost), signed(margin), percent];
    }),
  };
}

const signed = (money: Money): string => (money < 0n ? `-${toDecimal(-money)}` : toDecimal(money));
