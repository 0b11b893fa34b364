/**
 * Every SQL statement about payments and kept answers, in the dialect that SQLite and Postgres share. Parameters are
 * `?1`, `?2`, ...; Postgres reads them as `$1`, `$2`, .... Which state a write may start from stands in its WHERE, so
 * that a write and its check are one atomic step on either engine.
 */

import type { NonceRequest } from './nonce-store.ts';
import { withoutNul } from './nul.ts';
import {
  type AllowanceSpent,
  type Claim,
  type ClaimOptions,
  type Fulfilled,
  type PaymentFacts,
  type PaymentFilter,
  type PaymentState,
  paymentStates,
  type Receipt,
  type ReceiptedSettlement,
  type Store,
  type StoredAnswer,
} from './store.ts';

export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
  /**
   * Planned once for each connection: only where there is one way to carry it out, for a plan that was made when tables were
   * empty would stay.
   */
  readonly isPlannedOnce?: true;
  /** See `unwatched`. */
  readonly isUnwatched?: true;
}

/** A row as either engine returns it; Postgres gives 64-bit integers as strings. */
export type Row = Readonly<Record<string, string | number | null>>;

/** Claimed and not at an end: its owner, or who takes it over, still has something to do. */
const HELD = `(state IN ('claimed', 'fulfilled') OR (state = 'settled' AND answer IS NULL))`;

/** Word for word the condition of the index `payments_by_state`: no engine would use it without. */
const AT_REST = `state NOT IN ('claimed', 'fulfilled', 'settled')`;

export const findPayment = (id: string): Statement => ({ text: 'SELECT * FROM payments WHERE id = ?1', values: [id] });

/** Changes one row when the id is new, none when it is known. */
export const insertPayment = (facts: PaymentFacts, options: ClaimOptions): Statement => ({
  text: `INSERT INTO payments (id, rail, network, asset, payer, pay_to, amount, route, request_digest, fingerprint,
      recovery_query, settle_upfront, state, attempt, owner, lease_until, created_at, updated_at, door)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'claimed', 1, ?13, ?14, ?15, ?16, ?17)
    ON CONFLICT (id) DO NOTHING`,
  values: [
    facts.id,
    facts.rail,
    facts.network,
    facts.asset,
    facts.payer,
    facts.payTo,
    facts.amount,
    facts.route,
    facts.requestDigest,
    facts.fingerprint,
    facts.recoveryQuery,
    facts.settleUpfront ? 1 : 0,
    options.owner,
    options.leaseUntil,
    options.now,
    options.now,
    facts.door ?? null,
  ],
  isPlannedOnce: true,
});

/** Until the end of the transaction nobody else counts what this payer has under way. */
export const lockPayer = (payer: string, now: number): Statement => ({
  text: `INSERT INTO payers (payer, seen_at) VALUES (?1, ?2)
    ON CONFLICT (payer) DO UPDATE SET seen_at = excluded.seen_at`,
  values: [payer, now],
  isPlannedOnce: true,
});

/** A payer's record is read at every claim: so many of its payments are enough to know it by. */
export const RECORD = 20;

/**
 * What the payer has under way besides on the network, what it settled there, and what it failed to within the time: that
 * on every network. Amounts travel as text, for they may be large; what was settled as its receipt, which tells the
 * actual amount. `record`: how many of those at most.
 */
export const payerStanding = (
  { id, payer, network, asset }: PaymentFacts,
  failuresSince: number,
  record: number,
): Statement => ({
  text: `SELECT CASE WHEN network = ?2 AND asset = ?3 THEN amount ELSE '0' END AS value,
      CASE state WHEN 'unsettled' THEN 'failed' ELSE 'open' END AS kind FROM payments
      WHERE payer = ?1 AND state IN ('claimed', 'fulfilled', 'unknown', 'unsettled')
        AND CASE state WHEN 'unsettled' THEN lost_at >= ?5 ELSE network = ?2 AND asset = ?3 AND id <> ?4 END
    UNION ALL SELECT * FROM (SELECT receipt AS value, 'settled' AS kind FROM payments
      WHERE payer = ?1 AND state = 'settled' AND network = ?2 AND asset = ?3 LIMIT ?6) AS record`,
  values: [payer, network, asset, id, failuresSince, record],
});

/** With an answer and `unknown`, its work is done and its money may be gone. */
export const listLosses = (since: number): Statement => ({
  text: `SELECT id, network, route, payer, asset, amount, state FROM payments WHERE lost_at >= ?1
    UNION ALL SELECT id, network, route, payer, asset, amount, state FROM payments
      WHERE state = 'unknown' AND ${AT_REST} AND created_at >= ?1 AND answer IS NOT NULL`,
  values: [since],
});

/** Only after `stateOnClaim` allowed it, in the transaction that read the row. */
export const takePayment = (facts: PaymentFacts, state: PaymentState, options: ClaimOptions): Statement => ({
  text: `UPDATE payments SET state = ?2, attempt = attempt + 1, owner = ?3, lease_until = ?4, reason = NULL,
      updated_at = ?5, recovery_query = ?6, settle_upfront = ?7
    WHERE id = ?1`,
  values: [
    facts.id,
    state,
    options.owner,
    options.leaseUntil,
    options.now,
    facts.recoveryQuery,
    facts.settleUpfront ? 1 : 0,
  ],
});

export const fulfilPayment = (
  claim: Claim,
  answer: StoredAnswer,
  cost: string | undefined,
  now: number,
): Statement => ({
  text: `UPDATE payments SET answer = ?3, cost = ?4, updated_at = ?5,
      state = CASE state WHEN 'claimed' THEN 'fulfilled' ELSE state END,
      owner = CASE state WHEN 'settled' THEN '' ELSE owner END,
      lease_until = CASE state WHEN 'settled' THEN 0 ELSE lease_until END
    WHERE id = ?1 AND attempt = ?2 AND ${HELD}`,
  values: [claim.id, claim.attempt, JSON.stringify(answer), cost ?? null, now],
  isPlannedOnce: true,
});

/** Whoever settled: a claim that was lost meanwhile makes no money come back. */
const AWAITED = `answer IS NULL AND ${HELD}`;

/** The first receipt stays: repeating the write after a lost connection changes nothing that a caller has seen. */
export const settlePayment = ({ id }: Claim, receipt: Receipt, now: number): Statement => ({
  text: `UPDATE payments SET receipt = COALESCE(receipt, ?2), updated_at = ?3, lost_at = NULL,
      settled_at = CASE WHEN receipt IS NULL THEN ?4 ELSE settled_at END,
      transaction_id = CASE WHEN receipt IS NULL THEN ?5 ELSE transaction_id END,
      state = CASE WHEN state = 'refunded' THEN state WHEN answer IS NOT NULL OR ${AWAITED} THEN 'settled' ELSE 'owed' END,
      reason = CASE WHEN answer IS NOT NULL OR ${AWAITED} THEN NULL ELSE reason END,
      owner = CASE WHEN ${AWAITED} THEN owner ELSE '' END,
      lease_until = CASE WHEN ${AWAITED} THEN lease_until ELSE 0 END
    WHERE id = ?1 RETURNING attempt`,
  values: [id, JSON.stringify(receipt), now, receipt.settledAt, withoutNul(receipt.transaction)],
  isPlannedOnce: true,
});

/** Both in one write, which is the same when it is repeated after a lost connection. */
export const settleWithAnswer = (
  { id, attempt }: Claim,
  receipt: Receipt,
  { answer, cost }: Fulfilled,
  now: number,
): Statement => ({
  text: `UPDATE payments SET answer = COALESCE(answer, ?3), cost = COALESCE(cost, ?4), receipt = COALESCE(receipt, ?5),
      settled_at = COALESCE(settled_at, ?6), transaction_id = COALESCE(transaction_id, ?7), updated_at = ?8,
      state = 'settled', reason = NULL, lost_at = NULL, owner = '', lease_until = 0
    WHERE id = ?1 AND attempt = ?2 AND ((state = 'claimed' AND receipt IS NULL) OR (state = 'settled' AND answer IS NOT NULL))
    RETURNING attempt`,
  values: [
    ...[id, attempt, JSON.stringify(answer), cost ?? null, JSON.stringify(receipt), receipt.settledAt],
    ...[withoutNul(receipt.transaction), now],
  ],
  isPlannedOnce: true,
});

/** Work that was done and will not be paid is a loss, and what nobody will ever pay for need not be kept. */
const withdrawn = (state: PaymentState, now: string): string =>
  state === 'unsettled' ? `, lost_at = CASE WHEN answer IS NULL THEN lost_at ELSE ${now} END, answer = NULL` : '';

/** What was settled can only be owed, and only what was settled can be. */
export const giveUpPayment = (
  claim: Claim,
  state: Parameters<Store['giveUp']>[1],
  reason: string,
  now: number,
): Statement => ({
  text: `UPDATE payments SET state = ?3, reason = ?4, owner = '', lease_until = 0, updated_at = ?5${withdrawn(state, '?5')}
    WHERE id = ?1 AND attempt = ?2 AND ${HELD} AND ${state === 'owed' ? "state = 'settled'" : "state <> 'settled'"}`,
  values: [claim.id, claim.attempt, state, withoutNul(reason), now],
});

export function resolvePayment(id: string, settlement: ReceiptedSettlement, now: number): Statement {
  switch (settlement.state) {
    case 'settled':
      return resolveSettled(id, settlement.receipt, now);
    case 'refused':
      return resolveTo('unsettled', id, settlement.reason, now);
    case 'unknown':
      return resolveTo('unknown', id, settlement.reason, now);
  }
}

/** A payment that turns out settled and has no answer is owed: nobody works on it. */
const resolveSettled = (id: string, receipt: Receipt, now: number): Statement => ({
  text: `UPDATE payments SET receipt = ?2, updated_at = ?3, settled_at = ?4, transaction_id = ?5,
      state = CASE WHEN answer IS NULL THEN 'owed' ELSE 'settled' END,
      reason = CASE WHEN answer IS NULL THEN reason ELSE NULL END
    WHERE id = ?1 AND state = 'unknown'`,
  values: [id, JSON.stringify(receipt), now, receipt.settledAt, withoutNul(receipt.transaction)],
});

const resolveTo = (state: PaymentState, id: string, reason: string, now: number): Statement => ({
  text: `UPDATE payments SET state = ?2, reason = ?3, updated_at = ?4${withdrawn(state, '?4')}
    WHERE id = ?1 AND state = 'unknown'`,
  values: [id, state, withoutNul(reason), now],
});

/**
 * Together with the purchase's own state, so that nothing that was posted is ever taken back. What was counted of it is
 * taken back in the same transaction.
 */
export const reopenPayment = (id: string, reason: string, now: number): Statement => ({
  text: `UPDATE payments SET state = 'unknown', receipt = NULL, settled_at = NULL, reason = ?2, updated_at = ?3,
      transaction_id = NULL, revenue_counted = 0, cost_counted = 0
    WHERE id = ?1 AND state = 'settled' AND answer IS NOT NULL
      AND EXISTS (SELECT 1 FROM purchases p WHERE p.payment_id = ?1 AND p.posted_at IS NULL AND p.unconfirmed = 1)`,
  values: [id, withoutNul(reason), now],
});

/** Without `owner <> ''` the index of owners, which leaves out payments that nobody works on, would not be used. */
export const renewPayments = (
  owner: string,
  claims: readonly Claim[],
  leaseUntil: number,
  among: (place: string) => string,
): Statement => ({
  text: `UPDATE payments SET lease_until = ?2
    WHERE owner = ?1 AND owner <> '' AND (attempt || ' ' || id) ${among('?3')} AND ${HELD} RETURNING id, attempt`,
  values: [owner, leaseUntil, JSON.stringify(claims.map(({ id, attempt }) => `${attempt} ${id}`))],
});

/** Every column but `answer`. */
const WITHOUT_ANSWER = `id, rail, network, asset, payer, pay_to, amount, route, request_digest, fingerprint,
  recovery_query, settle_upfront, state, attempt, owner, lease_until, receipt, cost, reason, created_at, updated_at, door`;

/** As its index has it: EVM addresses in lower case. */
const PAYER = `CASE WHEN substr(payer, 1, 2) = '0x' THEN lower(payer) ELSE payer END`;

/** How a list finds its rows: by the index that leads to the fewest. */
type Lead = 'owner' | 'payer' | 'transaction' | 'route' | 'network' | 'state' | 'age';

/** Somebody works on these, or did when its process died. */
const UNDER_WAY: readonly PaymentState[] = ['claimed', 'fulfilled'];

const are = (states: readonly PaymentState[] | undefined, kind: (state: PaymentState) => boolean): boolean =>
  states?.every(kind) ?? false;

/** Most payments are settled, and most are on one network of few. */
function leadOf({ states, leaseBefore, payer, transaction, route, network }: PaymentFilter): Lead {
  const isUnderWay = are(states, (state) => UNDER_WAY.includes(state));
  const isAtRest = are(states, (state) => state !== 'settled' && !UNDER_WAY.includes(state));
  if (leaseBefore !== undefined) return 'owner';
  if (transaction !== undefined) return 'transaction';
  if (payer !== undefined) return 'payer';
  if (isUnderWay) return 'owner';
  if (isAtRest) return 'state';
  if (route !== undefined) return 'route';
  return network !== undefined ? 'network' : 'age';
}

/** No index finds what a state is not, and no engine may begin with that of states where another leads. */
function stateIn(states: readonly PaymentState[], lead: Lead, place: (value: string) => string): string {
  if (lead === 'payer') {
    const others = paymentStates.filter((state) => !states.includes(state));
    return others.length === 0 ? 'TRUE' : `state NOT IN (${others.map(place).join(', ')})`;
  }
  return lead === 'state'
    ? `${AT_REST} AND state IN (${states.map(place).join(', ')})`
    : `(state || '') IN (${states.map(place).join(', ')})`;
}

/** Of those that settled before transactions had an index of their own, and are not counted since. */
const UNINDEXED = `transaction_id IS NULL AND settled_at IS NOT NULL
  AND (revenue_counted = 0 OR (cost_counted = 0 AND answer IS NOT NULL))`;

/** `isUnindexed`: of a transaction that its index does not find. */
export function listPayments(filter: PaymentFilter, isUnindexed = false): Statement {
  const { states, since, updatedSince, leaseBefore, due, payer, transaction, route, network } = filter;
  const { before, withoutAnswers, oldest, limit } = filter;
  const lead = leadOf(filter);
  const values: (string | number)[] = [limit];
  const place = (value: string | number): string => `?${values.push(value)}`;
  /** No engine may begin with another index than the one that leads. */
  const column = (name: Lead): string => (lead === name ? name : `(${name} || '')`);
  /** Nor with that of all payments in their order, where few are found by their owners. */
  const createdAt = lead === 'owner' ? '+created_at' : 'created_at';
  const conditions = ['TRUE'];
  if (since !== undefined) conditions.push(`${createdAt} >= ${place(since)}`);
  if (updatedSince !== undefined) conditions.push(`updated_at >= ${place(updatedSince)}`);
  if (lead === 'owner') conditions.push("owner <> ''");
  if (leaseBefore !== undefined) conditions.push(`lease_until < ${place(leaseBefore)}`);
  if (due) {
    const [now, least, most] = [due.now, due.least, due.most].map(place);
    conditions.push(`${now} - updated_at >= ${least}
      AND (${now} - updated_at >= updated_at - created_at OR ${now} - updated_at >= ${most})`);
  }
  if (payer !== undefined) {
    const address = place(payer.startsWith('0x') ? payer.toLowerCase() : payer);
    conditions.push(`${lead === 'payer' ? PAYER : `((${PAYER}) || '')`} = ${address}`);
  }
  if (transaction !== undefined && isUnindexed) {
    conditions.push(`${UNINDEXED} AND receipt LIKE ${place(`%"transaction":"${transaction}"%`)}`);
  } else if (transaction !== undefined) {
    conditions.push(`transaction_id = ${place(transaction)}`);
  }
  if (route !== undefined) conditions.push(`${column('route')} = ${place(route)}`);
  if (network !== undefined) conditions.push(`${column('network')} = ${place(network)}`);
  if (before !== undefined) conditions.push(`(${createdAt}, id) < (${place(before.createdAt)}, ${place(before.id)})`);
  if (states !== undefined) conditions.push(stateIn(states, lead, place));
  return {
    text: `SELECT ${withoutAnswers ? WITHOUT_ANSWER : '*'} FROM payments WHERE ${conditions.join(' AND ')}
      ORDER BY ${oldest ? 'updated_at, id' : `${createdAt} DESC, id DESC`} LIMIT ?1`,
    values,
  };
}

export const listSales = ({ since, after, limit }: Parameters<Store['sales']>[0]): Statement => ({
  text: `SELECT id, rail, route, asset, cost, receipt, created_at FROM payments
    WHERE state = 'settled' AND created_at >= ?1 AND (created_at > ?2 OR id > ?3)
    ORDER BY created_at, id LIMIT ?4`,
  values: [after?.createdAt ?? since, after?.createdAt ?? since, after?.id ?? '', limit],
});

export const listPaid = ({ from, to, after, limit }: Parameters<Store['paid']>[0]): Statement => ({
  text: `SELECT id, rail, network, asset, payer, pay_to, route, state, cost, receipt, settled_at,
      (SELECT p.key_id FROM purchases p WHERE p.payment_id = payments.id) AS key_id
    FROM payments WHERE settled_at < ?1 AND (settled_at, id) > (?2, ?3) ORDER BY settled_at, id LIMIT ?4`,
  values: [to, after?.settledAt ?? from, after?.id ?? '', limit],
});

/** `taken_at` of the row is the newest; a number is one less than `next`. */
export const takeNonce = ({ account, atLeast, now, forgottenBefore }: NonceRequest): Statement => ({
  text: `INSERT INTO nonces (account, next, taken_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (account) DO UPDATE SET taken_at = excluded.taken_at, next = CASE
      WHEN nonces.taken_at < ?4 OR nonces.next < excluded.next THEN excluded.next ELSE nonces.next + 1 END
    RETURNING next`,
  values: [account, atLeast + 1, now, forgottenBefore],
});

export const returnNonce = (account: string, nonce: number): Statement => ({
  text: 'UPDATE nonces SET next = ?2 WHERE account = ?1 AND next = ?3',
  values: [account, nonce, nonce + 1],
});

export const spendAllowance = ({ name, milliseconds }: AllowanceSpent, now: number): Statement => ({
  text: `INSERT INTO allowances (name, whole_at) VALUES (?1, ?2)
    ON CONFLICT (name) DO UPDATE SET whole_at = CASE
      WHEN allowances.whole_at < ?3 THEN excluded.whole_at ELSE allowances.whole_at + ?4 END
    RETURNING whole_at`,
  values: [name, now + milliseconds, now, milliseconds],
});

export const findKept = (key: string, notBefore: number): Statement => ({
  text: 'SELECT value, stored_at FROM kept WHERE key = ?1 AND stored_at > ?2',
  values: [key, notBefore],
});

/** Makes a row that can be locked where there is none, and empties one that was kept at `since` or earlier. */
export const reserveKept = (key: string, since: number, now: number): Statement => ({
  text: `INSERT INTO kept (key, value, stored_at) VALUES (?1, '', ?2)
    ON CONFLICT (key) DO UPDATE SET value = '', stored_at = excluded.stored_at WHERE kept.stored_at <= ?3`,
  values: [key, now, since],
});

export const keepValue = (key: string, value: string, now: number): Statement => ({
  text: `INSERT INTO kept (key, value, stored_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, stored_at = excluded.stored_at`,
  values: [key, value, now],
});

/** Few enough that nobody waits long for the database in between. */
export const FORGET_AT_ONCE = 50;

export const forgetKept = (before: number): Statement => ({
  text: `DELETE FROM kept WHERE key IN (SELECT key FROM kept WHERE stored_at < ?1 ORDER BY stored_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});

export const forgetAllowances = (before: number): Statement => ({
  text: `DELETE FROM allowances WHERE name IN (
    SELECT name FROM allowances WHERE whole_at < ?1 ORDER BY whole_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});

/** An empty answer is a forgotten one: see `FORGOTTEN`. */
export const forgetAnswers = (before: number): Statement => ({
  text: `UPDATE payments SET answer = '' WHERE id IN (
    SELECT id FROM payments WHERE answer <> '' AND state = 'settled' AND updated_at < ?1
    ORDER BY updated_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});

export const forgetUnpaid = (before: number): Statement => ({
  text: `DELETE FROM payments WHERE id IN (
    SELECT id FROM payments WHERE state IN ('released', 'unsettled') AND ${AT_REST} AND created_at < ?1 AND updated_at < ?1
    ORDER BY created_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});

/** By the index of what settled. Credits that wait count from their payment, and what is not sent yet is still to be paid. */
export const forgetPaid = (before: number): Statement => ({
  text: `DELETE FROM payments WHERE id IN (
    SELECT p.id FROM payments p WHERE p.settled_at < ?1 AND p.settled_at IS NOT NULL AND p.updated_at < ?1
      AND p.revenue_counted = 1
      AND (p.state = 'refunded' OR (p.state = 'settled' AND p.answer = ''))
      AND NOT EXISTS (SELECT 1 FROM refunds r WHERE r.payment_id = p.id
        AND (r.state <> 'sent' OR r.updated_at >= ?1 OR r.counted = 0))
      AND NOT EXISTS (SELECT 1 FROM purchases c WHERE c.payment_id = p.id AND c.posted_at IS NULL)
    ORDER BY p.settled_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});

/** Those of payments that are forgotten. */
export const forgetRefunds = (before: number): Statement => ({
  text: `DELETE FROM refunds WHERE (payment_id, number) IN (
    SELECT r.payment_id, r.number FROM refunds r WHERE r.state = 'sent' AND r.updated_at < ?1
      AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = r.payment_id)
    ORDER BY r.updated_at LIMIT ${FORGET_AT_ONCE})`,
  values: [before],
});
