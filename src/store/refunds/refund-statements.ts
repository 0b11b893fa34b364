/** Every SQL statement about refunds. */
import { withoutNul } from '../engines/nul.ts';
import type { Statement } from '../engines/statement.ts';
import type { Refund, RefundRequest, RefundState, RefundStore } from './refund-store.ts';

export const refundsOf = (paymentId: string): Statement => ({
  text: 'SELECT * FROM refunds WHERE payment_id = ?1 ORDER BY number',
  values: [paymentId],
});

type Facts = Pick<Refund, 'paymentId' | 'number' | 'network' | 'asset' | 'payee' | 'amount'>;

export const insertRefund = (facts: Facts, { reason, isAutomatic, reference, now }: RefundRequest): Statement => ({
  text: `INSERT INTO refunds (payment_id, number, network, asset, payee, amount, reason, is_automatic, state, attempt,
      owner, lease_until, created_at, updated_at, reference)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'wanted', 0, '', 0, ?9, ?9, ?10) RETURNING *`,
  values: [
    facts.paymentId,
    facts.number,
    facts.network,
    facts.asset,
    facts.payee,
    facts.amount,
    withoutNul(reason),
    isAutomatic ? 1 : 0,
    now,
    reference ?? null,
  ],
});

export const creditsBoughtWith = (paymentId: string): Statement => ({
  text: 'SELECT key_id FROM purchases WHERE payment_id = ?1',
  values: [paymentId],
});

/** Only after `refusalOf` allowed it, in the transaction that read the row. */
export const endOwed = (paymentId: string, now: number): Statement => ({
  text: `UPDATE payments SET state = 'refunded', reason = NULL, owner = '', lease_until = 0, updated_at = ?2
    WHERE id = ?1`,
  values: [paymentId, now],
});

/** After `refusalOf`, as `endOwed`: what takes old payments away sees by it that this one is not. */
export const keepForRefund = (paymentId: string, now: number): Statement => ({
  text: 'UPDATE payments SET updated_at = ?2 WHERE id = ?1',
  values: [paymentId, now],
});

/** What the payer is told. */
export const tellTransaction = (paymentId: string, transaction: string, now: number): Statement => ({
  text: `UPDATE payments SET reason = ?2, updated_at = ?3 WHERE id = ?1 AND state = 'refunded'`,
  values: [paymentId, transaction, now],
});

/** Asked again of the row itself: another instance may have taken it while this one waited for it. */
const FREE = `state <> 'sent' AND lease_until <= ?3`;

export const takeRefunds = ({ owner, now, leaseUntil, limit }: Parameters<RefundStore['take']>[0]): Statement => ({
  text: `UPDATE refunds SET owner = ?1, lease_until = ?2, attempt = attempt + 1
    WHERE ${FREE} AND (payment_id, number) IN (SELECT payment_id, number FROM (
      SELECT payment_id, number, ROW_NUMBER() OVER (
        PARTITION BY network ORDER BY updated_at, created_at, payment_id, number) AS place
      FROM refunds WHERE ${FREE}) AS placed WHERE place <= ?4)
    RETURNING *`,
  values: [owner, leaseUntil, now, limit],
});

type Attempt = Pick<Refund, 'paymentId' | 'number' | 'attempt'>;

const HELD = `payment_id = ?1 AND number = ?2 AND attempt = ?3 AND state <> 'sent'`;

export const sendingRefund = (
  { paymentId, number, attempt }: Attempt,
  recoveryQuery: string,
  now: number,
): Statement => ({
  text: `UPDATE refunds SET state = 'sending', recovery_query = ?4, fault = NULL, updated_at = ?5
    WHERE ${HELD} AND lease_until > ?5`,
  values: [paymentId, number, attempt, recoveryQuery, now],
});

export const failedRefund = ({ paymentId, number, attempt }: Attempt, fault: string, now: number): Statement => ({
  text: `UPDATE refunds SET fault = ?4, updated_at = ?5 WHERE ${HELD}`,
  values: [paymentId, number, attempt, withoutNul(fault), now],
});

/** What an instance is about to send, or was when it died, has no fault yet. */
const SENDING_NOW = `(state = 'sending' AND fault IS NULL)`;

export const sentRefund = (
  { paymentId, number }: Pick<Refund, 'paymentId' | 'number'>,
  transaction: string,
  now: number,
  isByHand: boolean,
): Statement => ({
  text: `UPDATE refunds SET state = 'sent', transaction_id = ?3, fault = NULL, owner = '', lease_until = 0,
      updated_at = ?4 WHERE payment_id = ?1 AND number = ?2 AND state <> 'sent'${isByHand ? ` AND NOT ${SENDING_NOW}` : ''}`,
  values: [paymentId, number, transaction, now],
});

export const sentRefunds = ({ from, to, after, limit }: Parameters<RefundStore['sentIn']>[0]): Statement => ({
  text: `SELECT * FROM refunds WHERE state = 'sent' AND updated_at < ?1 AND (updated_at, payment_id, number) > (?2, ?3, ?4)
    ORDER BY updated_at, payment_id, number LIMIT ?5`,
  values: [to, after?.updatedAt ?? from, after?.paymentId ?? '', after?.number ?? 0, limit],
});

export const openRefunds = (limit: number): Statement => ({
  text: `SELECT * FROM refunds WHERE state <> 'sent' ORDER BY created_at, payment_id, number LIMIT ?1`,
  values: [limit],
});

export function listRefunds({ states, limit }: { states?: readonly RefundState[]; limit: number }): Statement {
  const wanted = states ?? [];
  const among = wanted.length === 0 ? 'TRUE' : `state IN (${wanted.map((_, index) => `?${index + 2}`).join(', ')})`;
  return {
    text: `SELECT * FROM refunds WHERE ${among} ORDER BY created_at DESC, payment_id, number LIMIT ?1`,
    values: [limit, ...wanted],
  };
}
