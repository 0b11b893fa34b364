/** Every SQL statement about credits; see `engines/statement.ts` for the dialect. */
import type { Money } from '../../money.ts';
import { withoutNul } from '../engines/nul.ts';
import type { Statement } from '../engines/statement.ts';
import type { CreditPurchase, HoldRequest, LedgerEntry, MovementPage, NewApiKey } from './credit-store.ts';

/** Amounts travel as text, both ways: a JavaScript number would round the large ones. */
const number = (place: string): string => `CAST(${place} AS BIGINT)`;

const KEY = `k.id, k.hash, k.shown, k.label, k.limits, CAST(k.balance AS TEXT) AS balance, k.entries, k.day,
  CAST(k.spent AS TEXT) AS spent, k.created_at, k.expires_at, k.disabled_at`;

const ENTRY = `key_id, number, kind, CAST(amount AS TEXT) AS amount, CAST(balance AS TEXT) AS balance, reference, route,
  model, CAST(price AS TEXT) AS price, CAST(cost AS TEXT) AS cost, note, created_at`;

const HELD = '(SELECT CAST(COALESCE(SUM(h.amount), 0) AS TEXT) FROM holds h WHERE h.key_id = k.id) AS held';

const PAID = `EXISTS (SELECT 1 FROM payments y WHERE y.id = p.payment_id AND y.state = 'settled')`;

/** Bought, paid for and confirmed, but not in the ledger yet. */
const DUE = `p.posted_at IS NULL AND p.unconfirmed = 0 AND ${PAID}`;

const due = `(SELECT COUNT(*) FROM purchases p WHERE p.key_id = k.id AND ${DUE}) AS due`;

export const findKeyByHash = (hash: string): Statement => ({
  text: `SELECT ${KEY}, ${HELD}, ${due} FROM api_keys k WHERE k.hash = ?1`,
  values: [hash],
});

export const listKeys = (): Statement => ({
  text: `SELECT ${KEY}, ${HELD} FROM api_keys k ORDER BY k.created_at, k.id`,
  values: [],
});

/** Balances, what is held of them, and what was bought and is not in the ledger yet. */
export const liability = (): Statement => ({
  text: `SELECT CAST((SELECT COALESCE(SUM(balance), 0) FROM api_keys) + (SELECT COALESCE(SUM(amount), 0) FROM holds) +
    (SELECT COALESCE(SUM(p.amount), 0) FROM purchases p WHERE p.posted_at IS NULL AND ${PAID}) AS TEXT) AS total`,
  values: [],
});

/** Inside a transaction, with the engine's row lock appended: from then on nobody else changes the key's money. */
export const lockKey = (id: string): Statement => ({
  text: `SELECT id, limits, CAST(balance AS TEXT) AS balance, entries, day, CAST(spent AS TEXT) AS spent, expires_at,
      disabled_at FROM api_keys WHERE id = ?1`,
  values: [id],
  isPlannedOnce: true,
});

/** Changes nothing when the id or the hash is known. */
export const insertKey = (key: NewApiKey, limits: string, now: number): Statement => ({
  text: `INSERT INTO api_keys (id, hash, shown, label, limits, balance, entries, day, spent, created_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 0, 0, ?6, ?7) ON CONFLICT DO NOTHING`,
  values: [key.id, key.hash, key.shown, withoutNul(key.label), limits, now, key.expiresAt ?? null],
});

export const disableKey = (id: string, now: number): Statement => ({
  text: 'UPDATE api_keys SET disabled_at = COALESCE(disabled_at, ?2) WHERE id = ?1',
  values: [id, now],
});

/** After `lockKey`. */
export const writeLimits = (id: string, limits: string): Statement => ({
  text: 'UPDATE api_keys SET limits = ?2 WHERE id = ?1',
  values: [id, limits],
});

/** After `lockKey`. */
export const writeBalance = (
  keyId: string,
  after: { balance: Money; entries: number; day: number; spent: Money },
): Statement => ({
  text: `UPDATE api_keys SET balance = ${number('?2')}, entries = ?3, day = ?4, spent = ${number('?5')} WHERE id = ?1`,
  values: [keyId, after.balance.toString(), after.entries, after.day, after.spent.toString()],
  isPlannedOnce: true,
});

export const insertEntry = (entry: LedgerEntry): Statement => ({
  text: `INSERT INTO ledger (key_id, number, kind, amount, balance, reference, route, model, price, cost, note, created_at)
    VALUES (?1, ?2, ?3, ${number('?4')}, ${number('?5')}, ?6, ?7, ?8, ${number('?9')}, ${number('?10')}, ?11, ?12)`,
  values: [
    entry.keyId,
    entry.number,
    entry.kind,
    entry.amount.toString(),
    entry.balance.toString(),
    entry.reference,
    entry.route ?? null,
    entry.model ?? null,
    entry.price?.toString() ?? null,
    entry.cost?.toString() ?? null,
    entry.note === undefined ? null : withoutNul(entry.note),
    entry.createdAt,
  ],
  isPlannedOnce: true,
});

export const findGrant = (reference: string): Statement => ({
  text: `SELECT ${ENTRY} FROM ledger WHERE reference = ?1 AND kind = 'grant'`,
  values: [reference],
});

/** What was given back of a call. After `lockKey` of its key. */
export const refundsOfCall = (call: string): Statement => ({
  text: `SELECT ${ENTRY} FROM ledger WHERE kind = 'refund' AND reference > ?1 || '#' AND reference < ?1 || '$'`,
  values: [call],
});

/** What a ledger says of one call, or of one purchase. */
export const findEntries = (reference: string): Statement => ({
  text: `SELECT ${ENTRY} FROM ledger WHERE reference = ?1`,
  values: [reference],
});

export const listEntries = (keyId: string, limit: number): Statement => ({
  text: `SELECT ${ENTRY} FROM ledger WHERE key_id = ?1 ORDER BY number DESC LIMIT ?2`,
  values: [keyId, limit],
});

/** After `lockKey`. */
export const countHolds = (keyId: string): Statement => ({
  text: 'SELECT COUNT(*) AS holds FROM holds WHERE key_id = ?1',
  values: [keyId],
  isPlannedOnce: true,
});

export const insertHold = (hold: HoldRequest, day: number): Statement => ({
  text: `INSERT INTO holds (id, key_id, amount, day, route, model, owner, lease_until)
    VALUES (?1, ?2, ${number('?3')}, ?4, ?5, ?6, ?7, ?8)`,
  values: [hold.id, hold.keyId, hold.amount.toString(), day, hold.route, hold.model, hold.owner, hold.leaseUntil],
  isPlannedOnce: true,
});

export const findHold = (id: string): Statement => ({ text: 'SELECT id FROM holds WHERE id = ?1', values: [id] });

const HOLD = 'id, key_id, CAST(amount AS TEXT) AS amount, day, route, model';

/** Answers what it was: of two that end a hold at once, the second finds none. `expiredAt`: only where its lease has run out by then. */
export const removeHold = (id: string, expiredAt?: number): Statement => ({
  text: `DELETE FROM holds WHERE id = ?1 ${expiredAt === undefined ? '' : 'AND lease_until <= ?2 '}RETURNING ${HOLD}`,
  values: expiredAt === undefined ? [id] : [id, expiredAt],
  isPlannedOnce: true,
});

export const listExpiredHolds = (now: number): Statement => ({
  text: 'SELECT id FROM holds WHERE lease_until <= ?1 ORDER BY lease_until, id LIMIT 1000',
  values: [now],
});

export const renewHolds = (
  owner: string,
  ids: readonly string[],
  leaseUntil: number,
  among: (place: string) => string,
): Statement => ({
  text: `UPDATE holds SET lease_until = ?2 WHERE owner = ?1 AND id ${among('?3')} RETURNING id`,
  values: [owner, leaseUntil, JSON.stringify(ids)],
});

/** Changes nothing when the payment bought something already. */
export const insertPurchase = (
  { paymentId, amount, awaitsConfirmations }: CreditPurchase,
  keyId: string,
  now: number,
): Statement => ({
  text: `INSERT INTO purchases (payment_id, key_id, amount, created_at, unconfirmed)
    VALUES (?1, ?2, ${number('?3')}, ?4, ?5) ON CONFLICT (payment_id) DO NOTHING`,
  values: [paymentId, keyId, amount.toString(), now, awaitsConfirmations ? 1 : 0],
});

/** Of payments that are not made. Answers which keys they were for, and when they were written down. */
export const forgetPurchases = (paymentIds: readonly string[], among: (place: string) => string): Statement => ({
  text: `DELETE FROM purchases WHERE payment_id ${among('?1')} AND posted_at IS NULL RETURNING key_id, created_at`,
  values: [JSON.stringify(paymentIds)],
});

/** A key that was made with a purchase, at the same moment, and has never had anything: nobody was told of it. */
export const forgetUnusedKey = (id: string, madeAt: number): Statement => ({
  text: `DELETE FROM api_keys WHERE id = ?1 AND created_at = ?2 AND entries = 0
    AND NOT EXISTS (SELECT 1 FROM purchases p WHERE p.key_id = ?1 AND p.posted_at IS NULL)`,
  values: [id, madeAt],
});

export const listUnconfirmed = (limit: number): Statement => ({
  text: `SELECT payment_id FROM (
      SELECT p.payment_id, p.created_at, ROW_NUMBER() OVER (
        PARTITION BY y.network ORDER BY p.created_at, p.payment_id) AS place
      FROM purchases p JOIN payments y ON y.id = p.payment_id WHERE p.unconfirmed = 1 AND y.state = 'settled') AS placed
    WHERE place <= ?1 ORDER BY created_at, payment_id`,
  values: [limit],
});

export const listPending = (keyId: string): Statement => ({
  text: `SELECT p.payment_id, CAST(p.amount AS TEXT) AS amount FROM purchases p WHERE p.key_id = ?1 AND p.posted_at IS NULL
    AND EXISTS (SELECT 1 FROM payments y WHERE y.id = p.payment_id AND y.state IN ('settled', 'unknown'))
    ORDER BY p.created_at, p.payment_id`,
  values: [keyId],
});

/** `rowLock`: of the payment, which another instance may take back, and then sees that it is confirmed. */
export const confirmPurchase = (paymentId: string, rowLock: string): Statement => ({
  text: `UPDATE purchases SET unconfirmed = 0 WHERE payment_id = ?1 AND unconfirmed = 1
    AND EXISTS (SELECT 1 FROM payments y WHERE y.id = ?1 AND y.state = 'settled' ${rowLock})`,
  values: [paymentId],
});

export const findPurchase = (paymentId: string): Statement => ({
  text: 'SELECT posted_at FROM purchases WHERE payment_id = ?1',
  values: [paymentId],
});

export const listDuePurchases = (keyId: string): Statement => ({
  text: `SELECT p.payment_id, CAST(p.amount AS TEXT) AS amount FROM purchases p WHERE p.key_id = ?1 AND ${DUE}
    ORDER BY p.created_at, p.payment_id`,
  values: [keyId],
});

export const listKeysWithDuePurchases = (): Statement => ({
  text: `SELECT DISTINCT p.key_id FROM purchases p WHERE ${DUE}`,
  values: [],
});

export const markPosted = (paymentId: string, now: number): Statement => ({
  text: 'UPDATE purchases SET posted_at = ?2 WHERE payment_id = ?1',
  values: [paymentId, now],
});

/** Word for word the condition of the index `ledger_of_movements`. */
const MOVEMENT = `kind IN ('settle', 'grant', 'refund')`;

export const listMovements = ({ from, to, after, limit }: MovementPage): Statement => ({
  text: `SELECT ${ENTRY} FROM ledger WHERE ${MOVEMENT} AND created_at < ?1 AND (created_at, key_id, number) > (?2, ?3, ?4)
    ORDER BY created_at, key_id, number LIMIT ?5`,
  values: [to, after?.createdAt ?? from, after?.keyId ?? '', after?.number ?? 0, limit],
});

export const sumSales = (since: number): Statement => ({
  text: `SELECT route, model, COUNT(*) AS calls, CAST(SUM(price) AS TEXT) AS price, COUNT(cost) AS known_calls,
      CAST(COALESCE(SUM(CASE WHEN cost IS NULL THEN 0 ELSE price END), 0) AS TEXT) AS known_price,
      CAST(COALESCE(SUM(cost), 0) AS TEXT) AS known_cost
    FROM ledger WHERE ${MOVEMENT} AND kind = 'settle' AND created_at >= ?1 GROUP BY route, model ORDER BY route, model`,
  values: [since],
});

export const insertSecret = (name: string, fresh: string): Statement => ({
  text: 'INSERT INTO secrets (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING',
  values: [name, fresh],
});

export const findSecret = (name: string): Statement => ({
  text: 'SELECT value FROM secrets WHERE name = ?1',
  values: [name],
});
