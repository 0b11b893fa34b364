import type { Engine } from '../engines/engine.ts';
import type { Row, Statement } from '../engines/statement.ts';
import { type Steps, unwatched } from '../engines/steps.ts';
import type { Claim, Receipt } from '../store.ts';
import * as statements from './channel-statements.ts';
import type { Channel, ChannelStore, Draw, Drawn } from './channel-store.ts';

function toChannel(row: Row): Channel {
  const { voucher_max: max, pending_payment: paymentId } = row;
  return {
    id: String(row.id),
    network: String(row.network),
    payer: String(row.payer),
    config: String(row.config),
    charged: String(row.charged),
    balance: String(row.balance),
    totalClaimed: String(row.total_claimed),
    withdrawRequestedAt: Number(row.withdraw_requested_at),
    refundNonce: String(row.refund_nonce),
    voucher:
      max === null || max === undefined ? undefined : { max: String(max), signature: String(row.voucher_signature) },
    pending:
      paymentId === null || paymentId === undefined
        ? undefined
        : { paymentId: String(paymentId), max: String(row.pending_max), signature: String(row.pending_signature) },
    syncedAt: Number(row.synced_at),
    unclaimedSince: row.unclaimed_since === null ? undefined : Number(row.unclaimed_since),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

interface LockedChannel {
  readonly row: Row;
  readonly channel: Channel;
}

/** Until the end of the transaction the channel is nobody else's. */
function* locked(id: string, rowLock: string): Steps<LockedChannel | undefined> {
  const find = statements.findChannel(id);
  const { rows } = yield { ...find, text: `${find.text} ${rowLock}` };
  return rows[0] && { row: rows[0], channel: toChannel(rows[0]) };
}

/** Whether somebody works on the payment, and at which attempt. */
function* atWork(paymentId: string): Steps<number | undefined> {
  const { rows } = yield statements.paymentAtWork(paymentId);
  return rows[0] && Number(rows[0].attempt);
}

/** Charges a channel for the payment that has it. False where none has. */
function* charge(id: string, paymentId: string, charged: string, now: number): Steps<boolean> {
  const { rows } = yield statements.chargeChannel(id, paymentId, charged, now);
  const [row] = rows;
  if (row === undefined) return false;
  const { charged: inAll, voucher_max: max } = row;
  // More could be drawn by the same signature, which everybody can read once it is claimed.
  if (BigInt(String(max)) > BigInt(String(inAll))) {
    yield unwatched(statements.keepCharged(id, String(max)));
    yield unwatched(statements.forgetCharged(id, String(inAll)));
  }
  return true;
}

/** Undoes the transaction in which it is thrown. */
export class ClaimLost extends Error {}

/**
 * Settles a payment and charges the channel that it draws from, both or neither. Where the channel is another's, neither.
 * Answers the attempt that has the payment, and throws ClaimLost where the settlement found nothing that it may settle.
 */
export function* settleFromChannel(
  paymentId: string,
  { id, charged }: NonNullable<Receipt['channel']>,
  settle: Statement,
  now: number,
): Steps<number | undefined> {
  const isCharged = yield* charge(id, paymentId, charged, now);
  // What was settled before was charged with it.
  if (!isCharged && (yield settled(paymentId)).rows.length === 0) return undefined;
  const { rows } = yield settle;
  if (rows[0] === undefined) throw new ClaimLost();
  return Number(rows[0].attempt);
}

/** As `settleFromChannel`, for a payment that is `unknown`. Whether it was. */
export function* resolveFromChannel(
  id: string,
  { id: channel, charged }: NonNullable<Receipt['channel']>,
  resolve: Statement,
  now: number,
  rowLock: string,
): Steps<boolean> {
  // The channel before the payment, as everywhere: who takes them the other way round waits for ever.
  yield* locked(channel, rowLock);
  const find = statements.paymentState(id);
  const { rows } = yield { ...find, text: `${find.text} ${rowLock}` };
  if (rows[0]?.state !== 'unknown') return false;
  if (!(yield* charge(channel, id, charged, now))) return false;
  return (yield resolve).changes === 1;
}

const settled = (id: string): Statement => ({
  text: 'SELECT id FROM payments WHERE id = ?1 AND receipt IS NOT NULL',
  values: [id],
});

/** What a voucher says that was charged before it. */
const chargedBefore = ({ voucher, amount }: Draw): string => String(BigInt(voucher.max) - BigInt(amount));

/** The channel of a draw, which is kept from now on where it was not known. */
export function* lockDrawn(draw: Draw, now: number, rowLock: string): Steps<LockedChannel> {
  const { facts, found } = draw;
  let known = yield* locked(facts.id, rowLock);
  if (!known) {
    yield unwatched(statements.insertChannel(facts, found, chargedBefore(draw), now));
    known = yield* locked(facts.id, rowLock);
  }
  if (!known) throw new Error(`Channel ${facts.id} was removed from the database while it was drawn from`);
  return known;
}

/** For a payment that is at work, from its locked channel. */
export function* drawFrom(
  { channel, row }: LockedChannel,
  paymentId: string,
  draw: Draw,
  now: number,
): Steps<Exclude<Drawn, 'lost'>> {
  const { voucher, deposit } = draw;
  const other = channel.pending && channel.pending.paymentId !== paymentId ? channel.pending : undefined;
  if (other && (yield* atWork(other.paymentId)) !== undefined) return 'busy';
  if (Number(row.refunding_until) > now) return 'busy';
  if (channel.charged !== chargedBefore(draw)) return 'mismatch';
  if (BigInt(voucher.max) > BigInt(channel.balance) + BigInt(deposit)) return 'insufficient';
  const { changes } = yield statements.keepVoucher(channel.id, paymentId, voucher, now);
  return changes === 1 ? 'reserved' : 'spent';
}

/** A refund's transaction is sent again for less, and has come about by then or never will. */
const REFUND_MS = 900_000;

/** Channels on an engine. */
export function channelsOn(engine: Engine): ChannelStore {
  const { rowLock } = engine;

  function* reserve(claim: Claim, draw: Draw, now: number): Steps<Drawn> {
    const known = yield* lockDrawn(draw, now, rowLock);
    if ((yield* atWork(claim.id)) !== claim.attempt) return 'lost';
    return yield* drawFrom(known, claim.id, draw, now);
  }

  return {
    async find(id) {
      const [row] = await engine.read(statements.findChannel(id));
      return row && toChannel(row);
    },

    async findFor(id, max) {
      const [row] = await engine.read(statements.findForVoucher(id, max));
      return row && { ...toChannel(row), isSpent: Number(row.spent) > 0 };
    },

    reserve: (claim, draw, now) => engine.transact(() => reserve(claim, draw, now)),

    async adopt(facts, state, now, charged = state.totalClaimed) {
      await engine.write(statements.insertChannel(facts, state, charged, now));
    },

    sync: (id, state, now, hasTurnedDown = false) =>
      engine.transact(function* () {
        const known = yield* locked(id, rowLock);
        if (!known) return;
        const { charged, refundNonce, syncedAt } = known.channel;
        const isEarlier = BigInt(state.refundNonce) < BigInt(refundNonce);
        if (isEarlier && !hasTurnedDown && now - syncedAt < REFUND_MS) return;
        // A database that was put back to an earlier day knows of less than was claimed meanwhile.
        const isBehind = BigInt(charged) < BigInt(state.totalClaimed);
        yield statements.syncChannel(id, state, isBehind ? state.totalClaimed : charged, now);
      }),

    unclaimed: async (network, limit, now, after) =>
      (await engine.read(statements.listUnclaimed(network, limit, now, after))).map(toChannel),

    async unclaimedSums() {
      const rows = await engine.read(statements.sumUnclaimed);
      return new Map(rows.map(({ network, amount }) => [String(network), BigInt(Math.round(Number(amount)))]));
    },

    take: (ids, purpose, until, now) =>
      engine.transact(function* () {
        const taken: Channel[] = [];
        // In one order everywhere: instances that wait for each other's rows would wait for ever.
        for (const id of [...ids].sort()) {
          const known = yield* locked(id, rowLock);
          if (!known) continue;
          const { pending } = known.channel;
          if (purpose === 'refund' && pending && (yield* atWork(pending.paymentId)) !== undefined) continue;
          if ((yield statements.takeChannel(id, purpose, until, now)).changes === 1) taken.push(known.channel);
        }
        return taken;
      }),

    async letGo(ids, purpose, until) {
      for (const id of ids) await engine.write(statements.letGoOfChannel(id, purpose, until));
    },

    list: async ({ after, limit }) => (await engine.read(statements.listChannels(after, limit))).map(toChannel),
  };
}
