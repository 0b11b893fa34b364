/** Every SQL statement about channels; see `engines/statement.ts` for the dialect. */

import type { Statement } from '../engines/statement.ts';
import type { ChannelFacts, ChannelState, Voucher } from './channel-store.ts';

export const findChannel = (id: string): Statement => ({ text: 'SELECT * FROM channels WHERE id = ?1', values: [id] });

/** Amounts have 128 bits: so long, they are as text in the order of the numbers. */
const sortable = (amount: string): string => amount.padStart(39, '0');

/** Named, for a plan is refused once `*` has become more than it was made for. */
const COLUMNS = `id, network, payer, config, charged, voucher_max, voucher_signature, pending_payment, pending_max,
  pending_signature, balance, total_claimed, withdraw_requested_at, refund_nonce, synced_at, unclaimed_since, created_at,
  updated_at`;

/** With `spent`: how often a voucher of `max` was charged. */
export const findForVoucher = (id: string, max: string): Statement => ({
  text: `SELECT ${COLUMNS}, (SELECT count(*) FROM charged_vouchers v WHERE v.channel = ?1 AND v.max = ?2) AS spent
    FROM channels WHERE id = ?1`,
  values: [id, sortable(max)],
  isPlannedOnce: true,
});

/** Changes nothing where it is known. */
export const insertChannel = (
  { id, network, payer, config }: ChannelFacts,
  { balance, totalClaimed, withdrawRequestedAt, refundNonce }: ChannelState,
  charged: string,
  now: number,
): Statement => ({
  text: `INSERT INTO channels (id, network, payer, config, charged, balance, total_claimed, withdraw_requested_at,
      refund_nonce, synced_at, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING`,
  values: [
    ...[id, network, payer, config, charged, balance, totalClaimed, withdrawRequestedAt, refundNonce],
    ...[now, now, now],
  ],
});

/** The row itself, if it is at work: for a channel that names a payment which ended is free. */
export const paymentAtWork = (id: string): Statement => ({
  text: `SELECT attempt FROM payments WHERE id = ?1 AND state IN ('claimed', 'fulfilled', 'unknown')`,
  values: [id],
  isPlannedOnce: true,
});

export const paymentState = (id: string): Statement => ({
  text: 'SELECT state FROM payments WHERE id = ?1',
  values: [id],
});

/** Changes nothing where the voucher was charged before. */
export const keepVoucher = (id: string, paymentId: string, { max, signature }: Voucher, now: number): Statement => ({
  text: `UPDATE channels SET pending_payment = ?2, pending_max = ?3, pending_signature = ?4, updated_at = ?5
    WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM charged_vouchers v WHERE v.channel = ?1 AND v.max = ?6)`,
  values: [id, paymentId, max, signature, now, sortable(max)],
  isPlannedOnce: true,
});

/** Decimals without leading zeros, as amounts are kept: `?3` is no more than what was claimed. */
const IS_CLAIMED = `(length(?3) < length(total_claimed) OR (length(?3) = length(total_claimed) AND ?3 <= total_claimed))`;

/** Only for the payment that has the channel. What was claimed was charged, and what is claimed to the last unit waits for nothing. */
export const chargeChannel = (id: string, paymentId: string, charged: string, now: number): Statement => ({
  text: `UPDATE channels SET charged = CASE WHEN ${IS_CLAIMED} THEN total_claimed ELSE ?3 END,
      voucher_max = pending_max, voucher_signature = pending_signature,
      pending_payment = NULL, pending_max = NULL, pending_signature = NULL,
      unclaimed_since = CASE WHEN ${IS_CLAIMED} THEN NULL ELSE COALESCE(unclaimed_since, ?4) END, updated_at = ?4
    WHERE id = ?1 AND pending_payment = ?2 RETURNING charged, voucher_max`,
  values: [id, paymentId, charged, now],
  isPlannedOnce: true,
});

export const keepCharged = (id: string, max: string): Statement => ({
  text: 'INSERT INTO charged_vouchers (channel, max) VALUES (?1, ?2) ON CONFLICT DO NOTHING',
  values: [id, sortable(max)],
  isPlannedOnce: true,
});

/** Nothing can be drawn any more by vouchers for what was charged. */
export const forgetCharged = (id: string, charged: string): Statement => ({
  text: 'DELETE FROM charged_vouchers WHERE channel = ?1 AND max <= ?2',
  values: [id, sortable(charged)],
  isPlannedOnce: true,
});

/**
 * What is left of a claim was charged while it was made, and waits from now. A chain may take a claim back: what its voucher
 * is good for waits again, and a channel that is claimed whole waits for a second look that finds it so.
 */
export const syncChannel = (id: string, state: ChannelState, charged: string, now: number): Statement => ({
  text: `UPDATE channels SET balance = ?2, total_claimed = ?3, withdraw_requested_at = ?4, refund_nonce = ?5,
      synced_at = ?6, charged = ?7, unclaimed_since = CASE WHEN voucher_max IS NULL THEN NULL WHEN total_claimed <> ?3 THEN ?6
        WHEN ?7 = ?3 THEN NULL ELSE COALESCE(unclaimed_since, ?6) END
    WHERE id = ?1`,
  values: [id, state.balance, state.totalClaimed, state.withdrawRequestedAt, state.refundNonce, now, charged],
});

export const listUnclaimed = (
  network: string,
  limit: number,
  now: number,
  after?: { readonly unclaimedSince: number | undefined; readonly id: string },
): Statement => ({
  text: `SELECT * FROM channels WHERE unclaimed_since IS NOT NULL AND network = ?1 AND claiming_until <= ?2
      AND (unclaimed_since, id) > (?3, ?4)
    ORDER BY unclaimed_since, id LIMIT ?5`,
  values: [network, now, after?.unclaimedSince ?? -1, after?.id ?? '', limit],
});

/** Sums are told, not paid: the inexact numbers of both databases do. */
export const sumUnclaimed: Statement = {
  text: `SELECT network, SUM(CAST(charged AS DOUBLE PRECISION) - CAST(total_claimed AS DOUBLE PRECISION)) AS amount
    FROM channels WHERE unclaimed_since IS NOT NULL AND charged <> total_claimed GROUP BY network`,
  values: [],
};

const columns = { claim: 'claiming_until', refund: 'refunding_until' } as const;

export const takeChannel = (id: string, purpose: keyof typeof columns, until: number, now: number): Statement => ({
  text: `UPDATE channels SET ${columns[purpose]} = ?2 WHERE id = ?1 AND ${columns[purpose]} <= ?3`,
  values: [id, until, now],
});

export const letGoOfChannel = (id: string, purpose: keyof typeof columns, until: number): Statement => ({
  text: `UPDATE channels SET ${columns[purpose]} = 0 WHERE id = ?1 AND ${columns[purpose]} = ?2`,
  values: [id, until],
});

export const listChannels = (
  after: { readonly createdAt: number; readonly id: string } | undefined,
  limit: number,
): Statement => ({
  text: 'SELECT * FROM channels WHERE (created_at, id) > (?1, ?2) ORDER BY created_at, id LIMIT ?3',
  values: [after?.createdAt ?? -1, after?.id ?? '', limit],
});
