/** With a great many payments, whatever the console asks for is found by an index: nothing reads them all. */
import type { Test } from 'tap';
import {
  entriesToCount,
  listMoney,
  listVisits,
  paymentsToCount,
  refundsToCount,
} from '../../../src/store/figures/figures-statements.ts';
import { SPANS, type SpansOf } from '../../../src/store/figures/figures-store.ts';
import { listPayments } from '../../../src/store/payments/payment-list-statements.ts';
import { listLosses, OLDEST_LATE, payerStanding, RECORD } from '../../../src/store/payments/payment-statements.ts';
import { openRefunds } from '../../../src/store/refunds/refund-statements.ts';
import type { PaymentFilter, Store } from '../../../src/store/store.ts';
import { written } from '../payments/payers.ts';
import { sampleFacts } from '../samples.ts';

/** Ten times as many give the same plans, and take ten times as long to write. */
export const MANY = 100_000;
/** The beginning of a day, after which they settled, a hundred in a second. */
const T = 20_000 * SPANS.day;

const AMOUNT = 123_456_789_012_345_678n;

/** As SQL that writes as many settled payments as `numbers`, a query of the column `n`, has rows; the first are counted. */
export const settledPayments = (
  numbers: string,
  { counted = MANY - 50, from = T }: { readonly counted?: number; readonly from?: number } = {},
): string => `INSERT INTO payments (id, rail, network, asset, payer, pay_to, amount,
    route, request_digest, fingerprint, recovery_query, settle_upfront, state, attempt, owner, lease_until, answer, receipt,
    created_at, updated_at, settled_at, transaction_id, revenue_counted, cost_counted)
  SELECT 'payment-' || n, 'x402', 'chain-' || (n % 3), 'a', 'payer-' || (n % 1000), 't', '1', 'route-' || (n % 50), 'd', 'f',
    '{}', 0, CASE n % 10000 WHEN 0 THEN 'owed' ELSE 'settled' END, 1, '', 0, '{}',
    '{"transaction":"tx' || n || '","amount":"${AMOUNT}","settledAt":0}', ${from} + n * 10, ${from} + n * 10, ${from} + n * 10,
    'tx' || n, CASE WHEN n <= ${counted} THEN 1 ELSE 0 END, CASE WHEN n <= ${counted} THEN 1 ELSE 0 END
  FROM (${numbers}) AS numbers`;

const page = (filter: Partial<PaymentFilter>) =>
  written(
    listPayments({ withoutAnswers: true, limit: 51, before: { createdAt: T + 900_000, id: 'payment-9' }, ...filter }),
  );

const spans: SpansOf = { span: 'hour', from: T, to: T + SPANS.day };

/** What is asked for, and where all of it is found. */
export const asked: readonly (readonly [what: string, sql: string])[] = [
  ['a page', page({})],
  ['a state', page({ states: ['owed'] })],
  ['what is settled', page({ states: ['settled'] })],
  ['an endpoint', page({ route: 'route-7' })],
  ['an endpoint in a state', page({ route: 'route-7', states: ['settled'] })],
  ['a network', page({ network: 'chain-1' })],
  ['a payer', page({ payer: 'payer-7' })],
  ['a transaction', written(listPayments({ transaction: 'tx77', limit: 2 }))],
  ['what is kept for longer than others', written(OLDEST_LATE)],
  ['an old transaction', written(listPayments({ transaction: 'tx77', limit: 2 }, true))],
  [
    'what speaks for a payer',
    written(
      payerStanding(sampleFacts('payment-7', { payer: 'payer-7' }), { failuresSince: T, chain: 'eip155:7' }, RECORD),
    ),
  ],
  ['what was lost', written(listLosses(T))],
  ['what is at work', page({ states: ['claimed'] })],
  ['what is stuck', written(listPayments({ states: ['claimed'], leaseBefore: T, limit: 9 }))],
  [
    'what is unknown on each network',
    written(listPayments({ states: ['unknown'], oldest: true, ofEachNetwork: true, limit: 9 })),
  ],
  [
    'what was left behind on each network',
    written(
      listPayments({
        states: ['claimed', 'fulfilled', 'settled'],
        leaseBefore: T,
        oldest: true,
        ofEachNetwork: true,
        limit: 9,
      }),
    ),
  ],
  ['what is to be counted', written(paymentsToCount(200))],
  ['refunds to be counted', written(refundsToCount(200))],
  ['charges to be counted', written(entriesToCount(200))],
  ['the sums', written(listMoney(spans))],
  ['refunds that wait', written(openRefunds(9))],
  ['visits', written(listVisits('payment-7'))],
];

/** Counted by the store itself, a few at a time, and exact before and after. */
export async function sumsExactly(t: Test, store: Store): Promise<void> {
  const sum = async () => {
    const { sums, isWhole } = await store.figures.money({ ...spans, to: T + MANY * 10 + SPANS.day });
    t.ok(isWhole);
    return sums.reduce((all, { revenue }) => all + revenue, 0n);
  };
  t.equal(await sum(), 50n * AMOUNT);
  while (await store.figures.count(20));
  t.equal(await sum(), 50n * AMOUNT);
}
