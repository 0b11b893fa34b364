/**
 * What takes old rows away. `rowLock`: rows that may come into use again are locked first, for then a row that somebody has
 * changed meanwhile is asked again whether it is old. Other tables are not asked again: who writes to one of them what keeps
 * a payment changes the payment in the same transaction, or is still at work on it.
 */

import type { Statement } from './engines/statement.ts';
import { AT_REST } from './payments/payment-statements.ts';

/** Few enough that nobody waits long for the database in between. */
export const FORGET_AT_ONCE = 50;

export const forgetKept = (before: number, rowLock: string): Statement => ({
  text: `DELETE FROM kept WHERE key IN (SELECT key FROM kept WHERE stored_at < ?1 ORDER BY stored_at LIMIT ${FORGET_AT_ONCE} ${rowLock})`,
  values: [before],
});

/** They are there to be locked: who comes back has another. */
export const forgetPayers = (before: number, rowLock: string): Statement => ({
  text: `DELETE FROM payers WHERE payer IN (
    SELECT payer FROM payers WHERE seen_at < ?1 ORDER BY seen_at LIMIT ${FORGET_AT_ONCE} ${rowLock})`,
  values: [before],
});

/** Locked in the order in which they are spent: instances that wait for each other's rows would wait for ever. */
export const forgetAllowances = (before: number, rowLock: string): Statement => ({
  text: `DELETE FROM allowances WHERE name IN (
    SELECT name FROM allowances WHERE whole_at < ?1 AND name IN (
      SELECT name FROM allowances WHERE whole_at < ?1 ORDER BY whole_at LIMIT ${FORGET_AT_ONCE})
    ORDER BY name ${rowLock})`,
  values: [before],
});

/** An empty answer is a forgotten one: see `FORGOTTEN`. */
export const forgetAnswers = (before: number, rowLock: string): Statement => ({
  text: `UPDATE payments SET answer = '' WHERE id IN (
    SELECT id FROM payments WHERE answer <> '' AND state = 'settled' AND updated_at < ?1
    ORDER BY updated_at LIMIT ${FORGET_AT_ONCE} ${rowLock})`,
  values: [before],
});

export const unpaidBefore = (before: number, rowLock: string): Statement => ({
  text: `SELECT id FROM payments WHERE state IN ('released', 'unsettled') AND ${AT_REST} AND created_at < ?1
      AND updated_at < ?1
    ORDER BY created_at LIMIT ${FORGET_AT_ONCE} ${rowLock}`,
  values: [before],
});

/** Once they are locked. */
export const forgetPayments = (ids: readonly string[], among: (place: string) => string): Statement => ({
  text: `DELETE FROM payments WHERE id ${among('?1')}`,
  values: [JSON.stringify(ids)],
});

/** By the index of what settled. Credits that wait count from their payment, and what is not sent yet is still to be paid. */
export const forgetPaid = (before: number, rowLock: string): Statement => ({
  text: `DELETE FROM payments WHERE id IN (
    SELECT p.id FROM payments p WHERE p.settled_at < ?1 AND p.settled_at IS NOT NULL AND p.updated_at < ?1
      AND p.revenue_counted = 1
      AND (p.state = 'refunded' OR (p.state = 'settled' AND p.answer = ''))
      AND NOT EXISTS (SELECT 1 FROM refunds r WHERE r.payment_id = p.id
        AND (r.state <> 'sent' OR r.updated_at >= ?1 OR r.counted = 0))
      AND NOT EXISTS (SELECT 1 FROM purchases c WHERE c.payment_id = p.id AND c.posted_at IS NULL)
    ORDER BY p.settled_at LIMIT ${FORGET_AT_ONCE} ${rowLock})`,
  values: [before],
});

/** Those of payments that are forgotten. What is sent stays so. */
export const forgetRefunds = (before: number): Statement => ({
  text: `DELETE FROM refunds WHERE (payment_id, number) IN (
    SELECT r.payment_id, r.number FROM refunds r WHERE r.state = 'sent' AND r.updated_at < ?1
      AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = r.payment_id)
    ORDER BY r.updated_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});
