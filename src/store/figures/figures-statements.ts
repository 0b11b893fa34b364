/** Every SQL statement about sums of business; see `engines/statement.ts` for the dialect. */

import { withoutNul } from '../engines/nul.ts';
import type { Statement } from '../engines/statement.ts';
import { FORGET_AT_ONCE } from '../forget-statements.ts';
import { keepAnother, keepValue } from '../kept-statements.ts';
import type { Batch, CallCount, ExchangeCount, MoneySum, PaidVisit, Span, SpansOf } from './figures-store.ts';

/** Until the end of the transaction nobody else changes sums. */
export const lockFigures = (now: number): Statement => keepValue('figures', '', now);

/** Word for word the conditions of the indexes `payments_to_count`, `refunds_to_count` and `ledger_to_count`. */
const PAYMENT_TO_COUNT = `settled_at IS NOT NULL AND (revenue_counted = 0 OR (cost_counted = 0 AND answer IS NOT NULL))`;
const REFUND_TO_COUNT = `r.state = 'sent' AND r.counted = 0`;
const ENTRY_TO_COUNT = `kind IN ('settle', 'refund') AND counted = 0`;

/** What the three sorts of movements have in common. `id` and `number` name the row; `kind` says which table it is of. */
const PAYMENTS = `SELECT 'payment' AS kind, id, CAST(0 AS BIGINT) AS number, settled_at AS at, route,
    COALESCE(door, rail) AS door, network, asset, receipt AS amount, CASE WHEN answer IS NULL THEN NULL ELSE cost END AS cost,
    transaction_id, revenue_counted, cost_counted, CASE WHEN answer IS NULL THEN 0 ELSE 1 END AS is_answered
  FROM payments`;
const REFUNDS = `SELECT 'refund' AS kind, r.payment_id AS id, CAST(r.number AS BIGINT) AS number, r.updated_at AS at, p.route,
    COALESCE(p.door, p.rail) AS door, r.network, r.asset, r.amount, CAST(NULL AS TEXT) AS cost,
    CAST(NULL AS TEXT) AS transaction_id, 0 AS revenue_counted, 0 AS cost_counted, 0 AS is_answered
  FROM refunds r JOIN payments p ON p.id = r.payment_id`;
const ENTRIES = `SELECT 'entry' AS kind, key_id AS id, number, created_at AS at, COALESCE(route, '') AS route,
    'api-key' AS door, '' AS network, '' AS asset,
    CAST(CASE WHEN kind = 'refund' THEN amount ELSE COALESCE(price, 0) END AS TEXT) AS amount,
    CAST(COALESCE(cost, 0) AS TEXT) AS cost, ledger.kind AS transaction_id, 0 AS revenue_counted, 0 AS cost_counted,
    0 AS is_answered
  FROM ledger`;

export const paymentsToCount = (limit: number): Statement => ({
  text: `${PAYMENTS} WHERE ${PAYMENT_TO_COUNT} ORDER BY settled_at LIMIT ?1`,
  values: [limit],
});

export const refundsToCount = (limit: number): Statement => ({
  text: `${REFUNDS} WHERE ${REFUND_TO_COUNT} ORDER BY r.updated_at LIMIT ?1`,
  values: [limit],
});

export const entriesToCount = (limit: number): Statement => ({
  text: `${ENTRIES} WHERE ${ENTRY_TO_COUNT} ORDER BY created_at LIMIT ?1`,
  values: [limit],
});

/** As they were read: what came of them meanwhile is counted next time. */
export const markPayments = (
  ids: readonly string[],
  isAnswered: boolean,
  among: (place: string) => string,
): Statement => ({
  text: `UPDATE payments SET revenue_counted = 1${isAnswered ? ', cost_counted = 1' : ''} WHERE id ${among('?1')}`,
  values: [JSON.stringify(ids)],
});

/** Of a payment that settled before transactions had an index. */
export const indexTransaction = (id: string, transaction: string): Statement => ({
  text: 'UPDATE payments SET transaction_id = ?2 WHERE id = ?1 AND transaction_id IS NULL AND receipt IS NOT NULL',
  values: [id, withoutNul(transaction)],
});

export const markRefund = (id: string, number: number): Statement => ({
  text: 'UPDATE refunds SET counted = 1 WHERE payment_id = ?1 AND number = ?2',
  values: [id, number],
});

export const markEntry = (id: string, number: number): Statement => ({
  text: 'UPDATE ledger SET counted = 1 WHERE key_id = ?1 AND number = ?2',
  values: [id, number],
});

/** What was counted of a payment, before its chain takes it back. */
export const countedOf = (id: string): Statement => ({ text: `${PAYMENTS} WHERE id = ?1`, values: [id] });

type MoneyKey = Pick<MoneySum, 'at' | 'route' | 'door' | 'network' | 'asset'>;

export const findMoney = (span: Span, { at, route, door, network, asset }: MoneyKey): Statement => ({
  text: `SELECT * FROM money_totals
    WHERE span = ?1 AND at = ?2 AND route = ?3 AND door = ?4 AND network = ?5 AND asset = ?6`,
  values: [span, at, route, door, network, asset],
});

/** After `lockFigures`. */
export const writeMoney = (span: Span, sum: MoneySum): Statement => ({
  text: `INSERT INTO money_totals (span, at, route, door, network, asset, settled, revenue, cost, refunds)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    ON CONFLICT (span, at, route, door, network, asset) DO UPDATE SET settled = excluded.settled,
      revenue = excluded.revenue, cost = excluded.cost, refunds = excluded.refunds`,
  values: [
    span,
    sum.at,
    sum.route,
    sum.door,
    sum.network,
    sum.asset,
    sum.settled,
    sum.revenue.toString(),
    sum.cost.toString(),
    sum.refunds.toString(),
  ],
});

/** More of each sort are not read at once. */
export const UNCOUNTED_AT_ONCE = 1_000;

/**
 * What is counted and what is not, of one moment: between two statements something might be counted, and be in both or in
 * neither.
 */
export const listMoney = ({ span, from, to }: SpansOf): Statement => ({
  text: `SELECT 'total' AS kind, '' AS id, settled AS number, at, route, door, network, asset, revenue AS amount, cost,
      refunds AS transaction_id, 0 AS revenue_counted, 0 AS cost_counted, 0 AS is_answered
    FROM money_totals WHERE span = ?1 AND at >= ?2 AND at < ?3
    UNION ALL SELECT * FROM (${PAYMENTS} WHERE ${PAYMENT_TO_COUNT} AND settled_at >= ?2 AND settled_at < ?3
      ORDER BY settled_at LIMIT ${UNCOUNTED_AT_ONCE}) AS payments_left
    UNION ALL SELECT * FROM (${REFUNDS} WHERE ${REFUND_TO_COUNT} AND r.updated_at >= ?2 AND r.updated_at < ?3
      ORDER BY r.updated_at LIMIT ${UNCOUNTED_AT_ONCE}) AS refunds_left
    UNION ALL SELECT * FROM (${ENTRIES} WHERE ${ENTRY_TO_COUNT} AND created_at >= ?2 AND created_at < ?3
      ORDER BY created_at LIMIT ${UNCOUNTED_AT_ONCE}) AS entries_left`,
  values: [span, from, to],
});

/** Changes no row where the batch was added before. */
export const markBatch = ({ counter, number }: Batch, now: number): Statement =>
  keepAnother(`counted:${counter}`, String(number), now);

export const addCalls = (span: Span, count: CallCount): Statement => ({
  text: `INSERT INTO call_totals (span, at, endpoint, door, network, bucket, calls, failures, challenges)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (span, at, endpoint, door, network, bucket) DO UPDATE SET calls = call_totals.calls + excluded.calls,
      failures = call_totals.failures + excluded.failures, challenges = call_totals.challenges + excluded.challenges`,
  values: [
    span,
    count.at,
    withoutNul(count.endpoint),
    count.door,
    withoutNul(count.network),
    count.bucket,
    count.calls,
    count.failures,
    count.challenges,
  ],
});

/** Over the spans: what happened when is listed by `at`. */
export const listCalls = ({ span, from, to }: SpansOf): Statement => ({
  text: `SELECT at, endpoint, door, network, bucket, calls, failures, challenges FROM call_totals
    WHERE span = ?1 AND at >= ?2 AND at < ?3`,
  values: [span, from, to],
});

export const findExchanges = (span: Span, { at, upstream, bucket }: ExchangeCount): Statement => ({
  text: 'SELECT * FROM exchange_totals WHERE span = ?1 AND at = ?2 AND upstream = ?3 AND bucket = ?4',
  values: [span, at, upstream, bucket],
});

/** After `lockFigures`. */
export const writeExchanges = (span: Span, count: ExchangeCount): Statement => ({
  text: `INSERT INTO exchange_totals (span, at, upstream, bucket, calls, failures, spend)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (span, at, upstream, bucket) DO UPDATE SET calls = excluded.calls, failures = excluded.failures,
      spend = excluded.spend`,
  values: [span, count.at, count.upstream, count.bucket, count.calls, count.failures, count.spend.toString()],
});

export const listExchanges = ({ span, from, to }: SpansOf): Statement => ({
  text: `SELECT at, upstream, bucket, calls, failures, spend FROM exchange_totals
    WHERE span = ?1 AND at >= ?2 AND at < ?3`,
  values: [span, from, to],
});

/** A payment is tried a few times. Its answer can be asked for again without an end, and nobody looks at more. */
const MOST_VISITS = 100;

/** Adds nothing to a payment that has as many as are looked at. */
export const addVisit = (visit: PaidVisit): Statement => ({
  text: `INSERT INTO paid_visits (payment_id, at, request_id, attempt, door, status, steps)
    SELECT ?1, CAST(?2 AS BIGINT), ?3, CAST(?4 AS INTEGER), ?5, CAST(?6 AS INTEGER), ?7
    WHERE (SELECT COUNT(*) FROM paid_visits WHERE payment_id = ?1) < ${MOST_VISITS}
    ON CONFLICT (payment_id, at, request_id) DO NOTHING`,
  values: [
    visit.paymentId,
    visit.at,
    visit.requestId,
    visit.attempt ?? null,
    visit.door,
    visit.status,
    withoutNul(JSON.stringify(visit.steps)),
  ],
});

export const listVisits = (paymentId: string): Statement => ({
  text: `SELECT * FROM paid_visits WHERE payment_id = ?1 ORDER BY at, request_id LIMIT ${MOST_VISITS}`,
  values: [paymentId],
});

export const forgetVisits = (before: number): Statement => ({
  text: `DELETE FROM paid_visits WHERE (payment_id, at, request_id) IN (
    SELECT payment_id, at, request_id FROM paid_visits WHERE at < ?1 ORDER BY at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});

const TABLES = {
  money_totals: 'span, at, route, door, network, asset',
  call_totals: 'span, at, endpoint, door, network, bucket',
  exchange_totals: 'span, at, upstream, bucket',
} as const;

export const forgetHours = (before: number): Statement[] =>
  Object.entries(TABLES).map(([table, key]) => ({
    text: `DELETE FROM ${table} WHERE (${key}) IN (
      SELECT ${key} FROM ${table} WHERE span = 'hour' AND at < ?1 ORDER BY at LIMIT ${FORGET_AT_ONCE})`,
    values: [before],
  }));
