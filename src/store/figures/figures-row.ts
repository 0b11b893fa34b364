/** Rows of movements and of sums, as `figures.ts` adds them up. */
import { type Rate, rate } from '../../money.ts';
import type { Row } from '../engines/statement.ts';
import type { CallCount, ExchangeCount, MoneySum, PaidVisit, VisitStep } from './figures-store.ts';
import { SPANS, type Span } from './figures-store.ts';

const text = (value: Row[string] | undefined): string => String(value ?? '');

/** When the span that a moment is in begins. */
export const beginningOf = (span: Span, at: number): number => Math.floor(at / SPANS[span]) * SPANS[span];

/** What cannot be read counts as nothing: one damaged row must not be in the way of all sums. */
function readable<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

interface KeptReceipt {
  readonly amount: bigint;
  readonly transaction: string | undefined;
}

export function receiptIn(json: string): KeptReceipt {
  const receipt = readable(() => JSON.parse(json) as { amount?: unknown; transaction?: unknown } | null, null);
  return {
    amount: readable(() => BigInt(text(receipt?.amount as string)), 0n),
    transaction: typeof receipt?.transaction === 'string' ? receipt.transaction : undefined,
  };
}

/** Decimal dollars, as payments keep what providers said. */
const costIn = (row: Row): Rate => (row.cost === null ? 0n : readable(() => rate(text(row.cost)), 0n));

/** What is left to count of a movement; a row of kind `total` is a sum already. */
export function toSum(row: Row): MoneySum {
  const place = {
    at: Number(row.at),
    route: text(row.route),
    door: text(row.door),
    network: text(row.network),
    asset: text(row.asset),
  };
  const nothing = { settled: 0, revenue: 0n, cost: 0n, refunds: 0n };
  switch (row.kind) {
    case 'total':
      return {
        ...place,
        settled: Number(row.number),
        revenue: BigInt(text(row.amount)),
        cost: BigInt(text(row.cost)),
        refunds: BigInt(text(row.transaction_id)),
      };
    case 'refund':
      return { ...place, ...nothing, refunds: receiptAmount(row) };
    case 'entry':
      // What kind of entry it is stands where a payment has its transaction.
      if (row.transaction_id === 'refund') return { ...place, ...nothing, refunds: receiptAmount(row) };
      return { ...place, settled: 1, revenue: receiptAmount(row), cost: BigInt(text(row.cost)), refunds: 0n };
    default: {
      const isNew = Number(row.revenue_counted) === 0;
      return {
        ...place,
        ...nothing,
        ...(isNew && { settled: 1, revenue: receiptIn(text(row.amount)).amount }),
        ...(Number(row.cost_counted) === 0 && { cost: costIn(row) }),
      };
    }
  }
}

const receiptAmount = (row: Row): bigint => readable(() => BigInt(text(row.amount)), 0n);

/** What was counted of a payment, to be added: less than nothing. */
export function toTakenBack(row: Row): MoneySum {
  const whole = toSum({ ...row, revenue_counted: 0, cost_counted: 0 });
  const hasRevenue = Number(row.revenue_counted) === 1;
  return {
    ...whole,
    settled: hasRevenue ? -whole.settled : 0,
    revenue: hasRevenue ? -whole.revenue : 0n,
    cost: Number(row.cost_counted) === 1 ? -whole.cost : 0n,
  };
}

/** Of each span, route, door, network and asset one. */
export function summed(span: Span, sums: readonly MoneySum[]): MoneySum[] {
  const groups = new Map<string, MoneySum>();
  for (const each of sums) {
    const at = beginningOf(span, each.at);
    const name = JSON.stringify([at, each.route, each.door, each.network, each.asset]);
    groups.set(name, plus({ ...each, at }, groups.get(name)));
  }
  return [...groups.values()];
}

export const plus = (sum: MoneySum, other: MoneySum | undefined): MoneySum =>
  other === undefined
    ? sum
    : {
        ...sum,
        settled: sum.settled + other.settled,
        revenue: sum.revenue + other.revenue,
        cost: sum.cost + other.cost,
        refunds: sum.refunds + other.refunds,
      };

/** A row of `money_totals`. */
export const toMoney = (row: Row): MoneySum =>
  toSum({
    ...row,
    kind: 'total',
    number: row.settled ?? 0,
    amount: row.revenue ?? '0',
    transaction_id: row.refunds ?? '0',
  });

export const toCalls = (row: Row): CallCount => ({
  at: Number(row.at),
  endpoint: text(row.endpoint),
  door: text(row.door),
  network: text(row.network),
  bucket: Number(row.bucket),
  calls: Number(row.calls),
  failures: Number(row.failures),
  challenges: Number(row.challenges),
});

export const toExchanges = (row: Row): ExchangeCount => ({
  at: Number(row.at),
  upstream: text(row.upstream),
  bucket: Number(row.bucket),
  calls: Number(row.calls),
  failures: Number(row.failures),
  spend: BigInt(text(row.spend)),
});

export const toVisit = (row: Row): PaidVisit => ({
  paymentId: text(row.payment_id),
  requestId: text(row.request_id),
  at: Number(row.at),
  attempt: row.attempt === null ? undefined : Number(row.attempt),
  door: text(row.door),
  status: Number(row.status),
  steps: readable(() => JSON.parse(text(row.steps)) as VisitStep[], []),
});
