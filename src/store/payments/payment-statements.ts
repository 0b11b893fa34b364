/**
 * Every SQL statement that changes payments, and those of a claim and of the books. Which state a write may start from stands in
 * its WHERE, so that a write and its check are one atomic step on either engine.
 */
import { DRAWN } from '../channels/channel-store.ts';
import { withoutNul } from '../engines/nul.ts';
import type { Statement } from '../engines/statement.ts';
import type {
  Claim,
  ClaimOptions,
  ExposureLimits,
  Fulfilled,
  PaymentFacts,
  Receipt,
  Resolution,
  Store,
} from '../store.ts';
import type { StoredAnswer } from '../stored-answer.ts';
import type { PaymentState } from './states.ts';

/** Claimed and not at an end: its owner, or who takes it over, still has something to do. */
const HELD = `(state IN ('claimed', 'fulfilled') OR (state = 'settled' AND answer IS NULL))`;

/** Word for word the condition of the index `payments_by_state`: no engine would use it without. */
export const AT_REST = `state NOT IN ('claimed', 'fulfilled', 'settled')`;

/** Named, for a plan is refused once `*` has become more than it was made for. */
export const WITHOUT_ANSWER = `id, rail, network, asset, payer, pay_to, amount, route, request_digest, fingerprint,
  recovery_query, settle_upfront, door, state, attempt, owner, lease_until, receipt, cost, reason, lost_at,
  created_at, updated_at`;

export const findPayment = (id: string): Statement => ({
  text: `SELECT ${WITHOUT_ANSWER}, answer FROM payments WHERE id = ?1`,
  values: [id],
  isPlannedOnce: true,
});

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

const SEEN_EVERY_MS = 3_600_000;

/**
 * Until the end of the transaction nobody else counts what this payer has under way. When it was seen is for
 * `forgetPayers`, and written once an hour: what an index has is dearer to change.
 */
export const lockPayer = (payer: string, now: number): Statement => ({
  text: `INSERT INTO payers (payer, seen_at) VALUES (?1, ?2) ON CONFLICT (payer) DO UPDATE SET seen_at =
    CASE WHEN payers.seen_at < excluded.seen_at - ${SEEN_EVERY_MS} THEN excluded.seen_at ELSE payers.seen_at END`,
  values: [payer, now],
  isPlannedOnce: true,
});

/** A payer's record is read at every claim: so many of its payments are enough to know it by. */
export const RECORD = 20;

/**
 * What the payer has under way besides on the network, what it settled there, and what it failed to within the time: that
 * on every network. Amounts travel as text, for they may be large; what was settled as its receipt, which tells the
 * actual amount. `record`: how many of those at most. What a deposit or an escrow covers is not among what is under way.
 */
export const payerStanding = (
  { id, payer, network, asset }: PaymentFacts,
  { failuresSince, chain = network }: Pick<ExposureLimits, 'failuresSince' | 'chain'>,
  record: number,
): Statement => ({
  text: `SELECT CASE WHEN network IN (?2, ?7) AND asset = ?3 THEN amount ELSE '0' END AS value,
      CASE state WHEN 'unsettled' THEN 'failed' ELSE 'open' END AS kind FROM payments
      WHERE payer = ?1 AND state IN ('claimed', 'fulfilled', 'unknown', 'unsettled') AND substr(id, 1, ${DRAWN.length}) <> '${DRAWN}'
        AND CASE state WHEN 'unsettled' THEN lost_at >= ?5 ELSE network IN (?2, ?7) AND asset = ?3 AND id <> ?4 AND is_covered = 0 END
    UNION ALL SELECT * FROM (SELECT receipt AS value, 'settled' AS kind FROM payments
      WHERE payer = ?1 AND state = 'settled' AND network IN (?2, ?7) AND asset = ?3 LIMIT ?6) AS record`,
  values: [payer, network, asset, id, failuresSince, record, chain],
  isPlannedOnce: true,
});

/** With an answer and `unknown`, its work is done and its money may be gone. */
export const listLosses = (since: number): Statement => ({
  text: `SELECT id, network, route, payer, asset, amount, state FROM payments WHERE lost_at >= ?1
    UNION ALL SELECT id, network, route, payer, asset, amount, state FROM payments
      WHERE state = 'unknown' AND ${AT_REST} AND created_at >= ?1 AND answer IS NOT NULL`,
  values: [since],
});

/** Word for word the condition of the index `payments_late`, which nothing else leads to. */
export const OLDEST_LATE: Statement = {
  text: `SELECT MIN(+created_at) AS created_at FROM payments
    WHERE state = 'settled' AND updated_at - created_at > 3600000 AND answer <> '' HAVING COUNT(*) > 0`,
  values: [],
};

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

export const coverPayment = ({ id, attempt }: Claim): Statement => ({
  text: `UPDATE payments SET is_covered = 1 WHERE id = ?1 AND attempt = ?2 AND ${HELD}`,
  values: [id, attempt],
});

/** The same when it is repeated after a lost connection: who paid first has its answer by the first write. */
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
    WHERE id = ?1 AND attempt = ?2 AND (${HELD} OR (state = 'settled' AND answer = ?3))`,
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

export function resolvePayment(id: string, became: Resolution, now: number, takenUntil: number): Statement {
  switch (became.state) {
    case 'settled':
      return resolveSettled(id, became.receipt, now);
    case 'refused':
      return resolveRefused(id, became.reason, now);
    case 'released':
      return resolveReleased(id, became.reason, now, takenUntil);
    case 'unknown':
      return stayUnknown(id, became.reason, now, takenUntil);
  }
}

/** A payment that turns out settled and has no answer is owed: nobody works on it. */
const resolveSettled = (id: string, receipt: Receipt, now: number): Statement => ({
  text: `UPDATE payments SET receipt = ?2, updated_at = ?3, settled_at = ?4, transaction_id = ?5,
      state = CASE WHEN answer IS NULL THEN 'owed' ELSE 'settled' END,
      reason = CASE WHEN answer IS NULL THEN reason ELSE NULL END, owner = '', lease_until = 0
    WHERE id = ?1 AND state = 'unknown'`,
  values: [id, JSON.stringify(receipt), now, receipt.settledAt, withoutNul(receipt.transaction)],
});

const resolveRefused = (id: string, reason: string, now: number): Statement => ({
  text: `UPDATE payments SET state = 'unsettled', reason = ?2, updated_at = ?3, owner = '', lease_until = 0${withdrawn('unsettled', '?3')}
    WHERE id = ?1 AND state = 'unknown'`,
  values: [id, withoutNul(reason), now],
});

/** What another has taken since is its. */
const resolveReleased = (id: string, reason: string, now: number, takenUntil: number): Statement => ({
  text: `UPDATE payments SET state = 'released', reason = ?2, updated_at = ?3, owner = '', lease_until = 0
    WHERE id = ?1 AND state = 'unknown' AND owner <> '' AND lease_until = ?4`,
  values: [id, withoutNul(reason), now, takenUntil],
});

/** What another has taken since is its. */
const stayUnknown = (id: string, reason: string, now: number, takenUntil: number): Statement => ({
  text: `UPDATE payments SET reason = ?2, updated_at = ?3,
      owner = CASE WHEN lease_until = ?4 THEN '' ELSE owner END,
      lease_until = CASE WHEN lease_until = ?4 THEN 0 ELSE lease_until END
    WHERE id = ?1 AND state = 'unknown'`,
  values: [id, withoutNul(reason), now, takenUntil],
});

export const takeUnknown = (
  { id, attempt }: Claim,
  { owner, now, leaseUntil }: Parameters<Store['takeUnknown']>[1],
): Statement => ({
  text: `UPDATE payments SET owner = ?3, lease_until = ?4
    WHERE id = ?1 AND attempt = ?2 AND state = 'unknown' AND lease_until <= ?5`,
  values: [id, attempt, owner, leaseUntil, now],
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

/** Whose credits it bought. */
const KEY_ID = '(SELECT p.key_id FROM purchases p WHERE p.payment_id = payments.id) AS key_id';

export const listSales = ({ since, after, limit }: Parameters<Store['sales']>[0]): Statement => ({
  text: `SELECT id, rail, route, asset, cost, receipt, created_at, ${KEY_ID} FROM payments
    WHERE state = 'settled' AND created_at >= ?1 AND (created_at > ?2 OR id > ?3)
    ORDER BY created_at, id LIMIT ?4`,
  values: [after?.createdAt ?? since, after?.createdAt ?? since, after?.id ?? '', limit],
});

export const listPaid = ({ from, to, after, limit }: Parameters<Store['paid']>[0]): Statement => ({
  text: `SELECT id, rail, network, asset, payer, pay_to, route, state, cost, receipt, settled_at,
      CASE WHEN answer IS NULL THEN 0 ELSE 1 END AS is_answered, ${KEY_ID}
    FROM payments WHERE settled_at < ?1 AND (settled_at, id) > (?2, ?3) ORDER BY settled_at, id LIMIT ?4`,
  values: [to, after?.settledAt ?? from, after?.id ?? '', limit],
});
