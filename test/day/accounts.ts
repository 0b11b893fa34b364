/** What each of the places says that know of money: sums of atomic units, millionths of a dollar throughout. */
import type { Overview } from '../../src/console/figures.ts';
import { usd } from '../../src/money.ts';
import { type Console, TOKEN } from '../console/client.ts';

export interface Accounts {
  /** Network -> what came in, and what went back, as each of them has it. */
  readonly networks: ReadonlyMap<string, { readonly books: bigint; readonly chain: bigint; readonly back: bigint }>;
  /** Network -> how much less the payer has: on Tempo with the chain's fees. */
  readonly spent: ReadonlyMap<string, bigint>;
  readonly books: Sums;
  readonly console: Sums;
  readonly metrics: Pick<Sums, 'paid' | 'refunds'>;
  readonly owed: number;
}

interface Sums {
  /** All that was settled on chains, credits that were bought included. */
  readonly paid: bigint;
  readonly creditsSold: bigint;
  readonly creditsCharged: bigint;
  /** Sent on chains. */
  readonly refunds: bigint;
}

interface BookRow {
  readonly kind: string;
  readonly network: string;
  readonly dollars: string;
}

const DAY_MS = 86_400_000;

async function booksOf({ admin }: Console): Promise<BookRow[]> {
  const period = `from=${Date.now() - DAY_MS}&to=${Date.now() + 3 * DAY_MS}`;
  const answer = await fetch(`${admin}/console/api/export?${period}&format=jsonl`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const text = (await answer.text()).trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as BookRow);
}

const total = (rows: readonly BookRow[], ...kinds: string[]): bigint =>
  rows.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { dollars }) => sum + usd(dollars), 0n);

/** Counters are floats: their sums are right to the millionth. */
const counter = (metrics: string, name: string): bigint =>
  BigInt(
    Math.round(
      [...metrics.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
        (sum, [, value]) => sum + Number(value),
        0,
      ) * 1_000_000,
    ),
  );

/** Since `open`, where that is given. */
export async function accountsOf(shop: Console, networks: readonly string[], open?: Accounts): Promise<Accounts> {
  const { gateway, admin, get } = shop;
  const rows = await booksOf(shop);
  const period = `from=${Date.now() - DAY_MS}&to=${Date.now() + 3 * DAY_MS}`;
  const overview = await get<Overview>(`overview?${period}`);
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  const chainOf = (network: string): string =>
    network === 'tempo'
      ? `eip155:${gateway.state.tempo?.chainId}`
      : (gateway.state.evm[network]?.caip2 ?? gateway.state.solana?.caip2 ?? '');
  const all = [...networks, 'tempo'];
  const entries = all.map(async (network) => {
    const here = rows.filter((row) => row.network === chainOf(network));
    const chain = (await gateway.earned(network)) - (open?.networks.get(network)?.chain ?? 0n);
    return [network, { books: total(here, 'payment', 'credits bought'), chain, back: total(here, 'refund') }] as const;
  });
  const spent = all.map(
    async (network) =>
      [
        network,
        open ? (open.spent.get(network) ?? 0n) - (await gateway.spendable(network)) : await gateway.spendable(network),
      ] as const,
  );
  const charged = total(rows, 'credits charged');
  return {
    networks: new Map(await Promise.all(entries)),
    spent: new Map(await Promise.all(spent)),
    books: {
      paid: total(rows, 'payment', 'credits bought'),
      creditsSold: total(rows, 'credits bought'),
      creditsCharged: charged,
      refunds: total(rows, 'refund'),
    },
    console: {
      // Credits are revenue when they are spent.
      paid: usd(overview.totals.revenue) - usd(chatRevenue(overview)) + usd(overview.creditsSold),
      creditsSold: usd(overview.creditsSold),
      creditsCharged: usd(chatRevenue(overview)),
      refunds: usd(overview.totals.refunds),
    },
    metrics: {
      paid: counter(metrics, 'turnpike_revenue_usd_total'),
      refunds: counter(metrics, 'turnpike_refunds_usd_total'),
    },
    owed: overview.attention.owed.count,
  };
}

const chatRevenue = ({ doors }: Overview): string => doors.find(({ name }) => name === 'api-key')?.revenue ?? '0';
