/** Every movement of money in a period, in order of time, read from the store a page at a time. */
import type { Network } from '../catalogue/types.ts';
import { atomicToDecimal, rateToDecimal, toDecimal } from '../money.ts';
import { assetsOf } from '../payment/assets.ts';
import type { LedgerEntry } from '../store/credits/credit-store.ts';
import { PAGE, pages, paidIn } from '../store/pages.ts';
import type { Period } from '../store/period.ts';
import type { Refund } from '../store/refunds/refund-store.ts';
import type { Paid, Store } from '../store/store.ts';

export const COLUMNS = [
  'id',
  'time',
  'kind',
  'endpoint',
  'rail',
  'network',
  'transaction',
  'payer',
  'asset',
  'amount',
  'decimals',
  'dollars',
  'upstream_cost',
  'state',
] as const;

export interface Movement {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** In the order of `COLUMNS`. */
  readonly cells: readonly string[];
}

type Books = Pick<Store, 'paid'> & {
  readonly credits: Pick<Store['credits'], 'movements'>;
  readonly refunds: Pick<Store['refunds'], 'sentIn'>;
};

/** What a network is called all over the world (CAIP-2), by that name or by our own. */
export function chainNames(networks: Iterable<Network>, mode: 'sandbox' | 'live'): (network: string) => string {
  const names = new Map([...networks].map((network) => [network.id, network[mode].caip2]));
  return (network) => names.get(network) ?? network;
}

/** In order of time; at the same moment payments come first, then credits. */
export async function* movementsIn(
  store: Books,
  period: Period,
  networks: readonly Network[],
  mode: 'sandbox' | 'live',
): AsyncGenerator<Movement> {
  const assetOf = assetsOf(networks);
  const chainOf = chainNames(networks, mode);

  function ofPayment({ id, rail, route, network, payer, asset, cost, state, receipt, keyId }: Paid): Movement {
    const { decimals } = assetOf(asset);
    const { amount, transaction, settledAt } = receipt;
    const kind = keyId === undefined ? 'payment' : 'credits bought';
    const dollars = atomicToDecimal(BigInt(amount), decimals);
    const paid = [payer, asset, amount, String(decimals), dollars, cost ?? '', state];
    return { at: settledAt, cells: [id, iso(settledAt), kind, route, rail, chainOf(network), transaction, ...paid] };
  }

  function ofRefund({
    paymentId,
    number,
    network,
    asset,
    payee,
    amount,
    transaction = '',
    updatedAt,
  }: Refund): Movement {
    const { decimals } = assetOf(asset);
    const dollars = atomicToDecimal(BigInt(amount), decimals);
    const given = [payee, asset, amount, String(decimals), dollars, '', 'sent'];
    const id = `${paymentId}#${number}`;
    return { at: updatedAt, cells: [id, iso(updatedAt), 'refund', '', '', chainOf(network), transaction, ...given] };
  }

  yield* inOrder([
    map(paidIn(store, period), ofPayment),
    map(
      pages<LedgerEntry>((after) => store.credits.movements({ ...period, after, limit: PAGE })),
      ofEntry,
    ),
    map(
      pages<Refund>((after) => store.refunds.sentIn({ ...period, after, limit: PAGE })),
      ofRefund,
    ),
  ]);
}

/** Several lists in order of time as one; at the same moment the first of them comes first. */
async function* inOrder(lists: readonly AsyncGenerator<Movement>[]): AsyncGenerator<Movement> {
  const heads = await Promise.all(lists.map(async (list) => ({ list, head: await list.next() })));
  for (;;) {
    const open = heads.filter(({ head }) => !head.done);
    const [first, ...others] = open;
    if (!first) return;
    const next = others.reduce((least, each) => (each.head.value.at < least.head.value.at ? each : least), first);
    yield next.head.value;
    next.head = await next.list.next();
  }
}

async function* map<From, To>(items: AsyncIterable<From>, change: (item: From) => To): AsyncGenerator<To> {
  for await (const item of items) yield change(item);
}

const iso = (at: number): string => new Date(at).toISOString();

function ofEntry({ kind, amount, price, cost, reference, route = '', keyId, createdAt }: LedgerEntry): Movement {
  const state = { grant: 'granted', refund: 'given back' }[kind as string] ?? 'charged';
  const moved = state === 'charged' ? (price ?? 0n) : amount;
  const upstream = cost === undefined ? '' : rateToDecimal(cost);
  const what = `credits ${state}`;
  const money = ['USD', moved.toString(), '6', toDecimal(moved), upstream, state];
  return { at: createdAt, cells: [reference, iso(createdAt), what, route, 'credits', '', '', keyId, ...money] };
}
