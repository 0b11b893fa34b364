/** Every SQL statement about alerts. */

import { withoutNul } from '../engines/nul.ts';
import type { Statement } from '../engines/statement.ts';
import { FORGET_AT_ONCE } from '../forget-statements.ts';
import type { Alert, AlertState, AlertStore, NewAlert } from './alert-store.ts';

export const insertAlert = (
  { type, body }: NewAlert,
  occurrence: string,
  receiver: string,
  now: number,
): Statement => ({
  text: `INSERT INTO alerts (occurrence, receiver, type, body, state, attempt, due_at, created_at)
    VALUES (?1, ?2, ?3, ?4, 'waiting', 0, ?5, ?5) ON CONFLICT (occurrence, receiver) DO NOTHING`,
  values: [occurrence, receiver, type, withoutNul(body), now],
});

/** Changes one row where nobody had raised it. */
export const raiseCondition = (subject: string, now: number, until: number): Statement => ({
  text: `INSERT INTO alert_conditions (subject, raised_at, held_until) VALUES (?1, ?2, ?3)
    ON CONFLICT (subject) DO NOTHING`,
  values: [subject, now, until],
});

export const holdConditions = (
  subjects: readonly string[],
  until: number,
  among: (place: string) => string,
): Statement => ({
  text: `UPDATE alert_conditions SET held_until = ?2 WHERE subject ${among('?1')} AND held_until < ?2`,
  values: [JSON.stringify(subjects), until],
});

export const clearCondition = (subject: string, now: number): Statement => ({
  text: 'DELETE FROM alert_conditions WHERE subject = ?1 AND held_until < ?2 RETURNING raised_at',
  values: [subject, now],
});

export const raisedConditions: Statement = {
  text: 'SELECT subject FROM alert_conditions ORDER BY subject',
  values: [],
};

export const dueReceivers = (now: number): Statement => ({
  text: `SELECT DISTINCT receiver FROM alerts WHERE state = 'waiting' AND due_at <= ?1 ORDER BY receiver`,
  values: [now],
});

/** Asked again of the row itself: another instance may have taken it while this one waited for it. */
const DUE = `state = 'waiting' AND due_at <= ?1`;

/** Word for word as in the index `alerts_due`. */
const IS_SALE = `CASE WHEN type = 'payment.settled' THEN 1 ELSE 0 END`;

export const takeAlerts = ({ receiver, now, leaseUntil, limit }: Parameters<AlertStore['take']>[0]): Statement => ({
  text: `UPDATE alerts SET due_at = ?2, attempt = attempt + 1
    WHERE ${DUE} AND (occurrence, receiver) IN (
      SELECT occurrence, receiver FROM alerts WHERE ${DUE} AND receiver = ?4 ORDER BY ${IS_SALE}, due_at LIMIT ?3)
    RETURNING *`,
  values: [now, leaseUntil, limit, receiver],
});

export const sentAlert = ({ occurrence, receiver }: Pick<Alert, 'occurrence' | 'receiver'>): Statement => ({
  text: `UPDATE alerts SET state = 'sent', fault = NULL WHERE occurrence = ?1 AND receiver = ?2`,
  values: [occurrence, receiver],
});

export const failedAlert = (
  { occurrence, receiver, attempt }: Parameters<AlertStore['failed']>[0],
  fault: string,
  dueAt: number | undefined,
): Statement => ({
  text: `UPDATE alerts SET fault = ?4, due_at = ?5, state = ?6
    WHERE occurrence = ?1 AND receiver = ?2 AND attempt = ?3 AND state = 'waiting'`,
  values: [occurrence, receiver, attempt, withoutNul(fault), dueAt ?? 0, dueAt === undefined ? 'given-up' : 'waiting'],
});

export function listAlerts({ states = [], limit }: { states?: readonly AlertState[]; limit: number }): Statement {
  const among = states.length === 0 ? 'TRUE' : `state IN (${states.map((_, index) => `?${index + 2}`).join(', ')})`;
  return {
    text: `SELECT * FROM alerts WHERE ${among} ORDER BY created_at DESC, occurrence, receiver LIMIT ?1`,
    values: [limit, ...states],
  };
}

/** What an occurrence of it begins with: the payment's id follows. */
const OWED = 'result.owed:';

/** What waits is never forgotten: it is sent, or given up. What is still owed may be tried again, and was told of. */
export const forgetAlerts = (before: number): Statement => ({
  text: `DELETE FROM alerts WHERE (occurrence, receiver) IN (
    SELECT occurrence, receiver FROM alerts WHERE state <> 'waiting' AND created_at < ?1 AND NOT (type = 'result.owed'
      AND EXISTS (SELECT 1 FROM payments p WHERE p.id = substr(occurrence, ${OWED.length + 1}) AND p.state = 'owed'))
    ORDER BY created_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});
