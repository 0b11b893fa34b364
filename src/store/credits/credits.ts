import type { Money } from '../../money.ts';
import type { Engine } from '../engines/engine.ts';
import type { Statement } from '../engines/statement.ts';
import { type Steps, unwatched } from '../engines/steps.ts';
import {
  type HeldRow,
  type LockedKey,
  limitsToJson,
  toApiKey,
  toEntry,
  toHeld,
  toLockedKey,
  toSales,
} from './credit-row.ts';
import * as statements from './credit-statements.ts';
import type {
  Charge,
  CreditPurchase,
  CreditRefundOutcome,
  CreditRefundRequest,
  CreditStore,
  EntryKind,
  Grant,
  GrantOutcome,
  HoldOutcome,
  HoldRefusal,
  HoldRequest,
  LedgerEntry,
  NamedCall,
  NewApiKey,
  Purchased,
} from './credit-store.ts';
import { keepCall, knownCall } from './named-calls.ts';
import { atMost, dayOf, isDead, type Posting, posted, refusalOf } from './posting.ts';

/** Its work may go on all the same: the instance may only have slept. */
const LEASE_RAN_OUT = 'the instance that worked on the call has died';

/** Credits on an engine. What an entry does to a balance is in `posting.ts`. */
export function creditsOn(engine: Engine): CreditStore {
  const locked = ({ text, values }: Statement): Statement => ({ text: `${text} ${engine.rowLock}`, values });

  async function knownSecret(name: string): Promise<string | undefined> {
    const [row] = await engine.read(statements.findSecret(name));
    return row && String(row.value);
  }

  function* lockKey(id: string): Steps<LockedKey | undefined> {
    const { rows } = yield locked(statements.lockKey(id));
    return rows[0] && toLockedKey(rows[0]);
  }

  /** A hold that is removed, and its key: always in this order. */
  function* endedHold(removal: Statement): Steps<{ hold: HeldRow; key: LockedKey } | undefined> {
    const { rows } = yield removal;
    const hold = rows[0] && toHeld(rows[0]);
    if (!hold) return undefined;
    const key = yield* lockKey(hold.keyId);
    if (!key) throw new Error(`The API key ${hold.keyId} was removed from the database during a call`);
    return { hold, key };
  }

  /** One entry, and the balance with it. */
  function* enter(key: LockedKey, posting: Posting): Steps<ReturnType<typeof posted>> {
    const done = posted(key, posting);
    yield unwatched(statements.writeBalance(key.id, done.after));
    yield unwatched(statements.insertEntry(done.entry));
    return done;
  }

  function* post(key: LockedKey, posting: Posting): Steps<LockedKey> {
    return (yield* enter(key, posting)).after;
  }

  function* giveOnce(keyId: string, grant: Grant, now: number): Steps<GrantOutcome> {
    const key = yield* lockKey(keyId);
    if (!key) return { refused: 'unknown' };
    const { rows } = yield statements.findGrant(grant.reference);
    const before = rows[0] && toEntry(rows[0]);
    if (!before && isDead(key, now)) return { refused: 'dead' };
    if (!before) return { balance: (yield* post(key, { kind: 'grant', ...grant, now })).balance };
    const isSame = before.keyId === keyId && before.amount === grant.amount;
    return isSame ? { balance: key.balance } : { refused: 'reference' };
  }

  function* addKey(key: NewApiKey, grant: Grant | undefined, now: number): Steps<void> {
    const { changes } = yield statements.insertKey(key, limitsToJson(key.limits), now);
    if (changes === 0) throw new Error(`There is an API key with the id or the hash of ${key.id} already`);
    if (grant) yield* giveOnce(key.id, grant, now);
  }

  /** What was bought and counts by now. Read under the key's lock: what another instance has posted meanwhile is not due any more. */
  function* postDuePurchases(key: LockedKey, now: number): Steps<LockedKey> {
    const { rows } = yield statements.listDuePurchases(key.id);
    let after = key;
    for (const row of rows) {
      const reference = String(row.payment_id);
      yield unwatched(statements.markPosted(reference, now));
      after = yield* post(after, { kind: 'purchase', amount: BigInt(String(row.amount)), reference, now });
    }
    return after;
  }

  function* postDueOf(keyId: string, now: number): Steps<void> {
    const key = yield* lockKey(keyId);
    if (key) yield* postDuePurchases(key, now);
  }

  function* writePurchase(purchase: CreditPurchase, now: number): Steps<Purchased | undefined> {
    const { key } = purchase;
    if ('id' in key) yield unwatched(statements.insertKey(key, limitsToJson(key.limits), now));
    const { rows } = yield statements.findKeyByHash(key.hash);
    const [row] = rows;
    const { rows: before } = yield statements.findPurchase(purchase.paymentId);
    if (!row || (before.length === 0 && isDead(toApiKey(row), now))) return undefined;
    yield unwatched(statements.insertPurchase(purchase, String(row.id), now));
    const { rows: written } = yield statements.findPurchase(purchase.paymentId);
    return { key: toApiKey(row), isPosted: written[0]?.posted_at !== null };
  }

  function* takeHold(request: HoldRequest): Steps<HoldOutcome> {
    let key = yield* lockKey(request.keyId);
    if (!key) return { held: false, because: 'unknown', balance: 0n };
    const before = request.named && (yield* calledBefore(request.named, key));
    if (before) return before;
    let because = refusalOf(key, request);
    if (because === 'balance') {
      key = yield* postDuePurchases(key, request.now);
      because = refusalOf(key, request);
    }
    if (because) return { held: false, because, balance: key.balance };
    const { rows } = yield statements.countHolds(request.keyId);
    if (Number(rows[0]?.holds) >= request.mostHolds) return { held: false, because: 'holds', balance: key.balance };
    yield unwatched(statements.insertHold(request, dayOf(request.now)));
    const { amount, id: reference, route, model, now, named } = request;
    if (named) yield* keepCall(named, reference, now);
    const after = yield* post(key, { kind: 'hold', amount: -amount, reference, route, model, now });
    return { held: true, balance: after.balance };
  }

  /** What becomes of a call for the sake of an earlier one with its name; undefined where that cost nothing. */
  function* calledBefore(named: NamedCall, { balance }: LockedKey): Steps<HoldOutcome | undefined> {
    const known = yield* knownCall(named);
    if (!known) return undefined;
    const refused = (because: HoldRefusal): HoldOutcome => ({ held: false, because, balance });
    const { rows: holds } = yield statements.findHold(known.id);
    const isCharged = known.answer !== undefined || (yield* entriesOf(known.id))('settle') !== undefined;
    if (!isCharged && holds.length === 0) return undefined;
    if (known.digest !== named.digest) return refused('named-otherwise');
    if (known.answer) return { held: false, because: 'answered', answer: known.answer };
    return refused(isCharged ? 'not-kept' : 'under-way');
  }

  /** Gives back all of a hold that is removed. False where there was none. */
  function* giveBackHeld(removal: Statement, note: string, now: number): Steps<boolean> {
    const ended = yield* endedHold(removal);
    if (!ended) return false;
    const { hold, key } = ended;
    yield* post(key, { kind: 'release', amount: hold.amount, note, ...factsOf(hold), now });
    return true;
  }

  function* entriesOf(reference: string): Steps<(kind: EntryKind) => LedgerEntry | undefined> {
    const { rows } = yield statements.findEntries(reference);
    const entries = rows.map(toEntry);
    return (kind) => entries.find((entry) => entry.kind === kind);
  }

  /**
   * The end of a call whose hold was given back while its instance slept, or of one that has ended already. What was used
   * is taken from what is left of the balance.
   */
  function* settleLate(id: string, { price, cost, note, named }: Charge, now: number): Steps<Money | undefined> {
    const hold = (yield* entriesOf(id))('hold');
    const key = hold && (yield* lockKey(hold.keyId));
    if (!key) return undefined;
    const entryOf = yield* entriesOf(id);
    const settled = entryOf('settle');
    if (settled) return settled.price;
    if (entryOf('release')?.note !== LEASE_RAN_OUT) return undefined;
    // It has been asked for once more meanwhile, and is charged for that.
    if (named && (yield* knownCall(named))?.id !== id) return 0n;
    const { route = '', model = '', createdAt, amount } = hold;
    const due = atMost(key.balance, atMost(-amount, price));
    const told = `${note}; charged after its hold was given back`;
    const facts = { reference: id, route, model, heldOn: dayOf(createdAt), now };
    yield* post(key, { kind: 'settle', amount: -due, price: due, cost, note: told, ...facts });
    if (named) yield* keepCall(named, id, now, named.answer);
    return due;
  }

  function* giveBack({ call, amount, reason, now, ...request }: CreditRefundRequest): Steps<CreditRefundOutcome> {
    const settled = (yield* entriesOf(call))('settle');
    const key = settled && (yield* lockKey(settled.keyId));
    if (!key) return { refused: 'unknown', left: 0n };
    const { rows } = yield statements.refundsOfCall(call);
    const before = rows.map(toEntry);
    const left = before.reduce((rest, { amount }) => rest - amount, settled.price ?? 0n);
    const reference = `${call}#${request.reference}`;
    const done = before.find((entry) => entry.reference === reference);
    if (done) return amount === undefined || amount === done.amount ? { entry: done } : { refused: 'reference', left };
    if (isDead(key, now)) return { refused: 'dead', left };
    const given = amount ?? left;
    if (given <= 0n && left > 0n) return { refused: 'nothing', left };
    if (given <= 0n || given > left) return { refused: 'too-much', left };
    const { route = '', model = '' } = settled;
    const { entry } = yield* enter(key, { kind: 'refund', amount: given, reference, route, model, note: reason, now });
    return { entry };
  }

  return {
    addKey: (key, grant, now) => engine.transact(() => addKey(key, grant, now)),

    async findKey(hash, now) {
      const [row] = await engine.read(statements.findKeyByHash(hash));
      if (!row || Number(row.due) === 0) return row && toApiKey(row);
      await engine.transact(() => postDueOf(String(row.id), now));
      const [after] = await engine.read(statements.findKeyByHash(hash));
      return after && toApiKey(after);
    },

    async listKeys(now) {
      for (const { key_id } of await engine.read(statements.listKeysWithDuePurchases())) {
        await engine.transact(() => postDueOf(String(key_id), now));
      }
      return (await engine.read(statements.listKeys())).map(toApiKey);
    },

    disableKey: async (id, now) => (await engine.write(statements.disableKey(id, now))).changes === 1,

    limitKey: (id, perDay) =>
      engine.transact(function* (): Steps<boolean> {
        const key = yield* lockKey(id);
        if (!key) return false;
        const { perDay: _, ...others } = key.limits;
        yield statements.writeLimits(id, limitsToJson({ ...others, ...(perDay !== undefined && { perDay }) }));
        return true;
      }),

    grant: (keyId, grant, now) => engine.transact(() => giveOnce(keyId, grant, now)),

    purchase: (purchase, now) => engine.transact(() => writePurchase(purchase, now)),

    unconfirmed: async (limit) =>
      (await engine.read(statements.listUnconfirmed(limit))).map(({ payment_id }) => String(payment_id)),

    pending: async (keyId) =>
      (await engine.read(statements.listPending(keyId))).map(({ payment_id, amount }) => ({
        paymentId: String(payment_id),
        amount: BigInt(String(amount)),
      })),

    async confirm(paymentId) {
      const { changes } = await engine.write(statements.confirmPurchase(paymentId, engine.rowLock));
      return changes === 1;
    },

    hold: (request) => engine.transact(() => takeHold(request), 'process'),

    settle: (holdId, settlement, now) =>
      engine.transact(function* (): Steps<Money | undefined> {
        const ended = yield* endedHold(statements.removeHold(holdId));
        if (!ended) return yield* settleLate(holdId, settlement, now);
        const { hold, key } = ended;
        const price = atMost(hold.amount, settlement.price);
        const { cost, note, named } = settlement;
        yield* post(key, { kind: 'settle', amount: hold.amount - price, price, cost, note, ...factsOf(hold), now });
        if (named) yield* keepCall(named, holdId, now, named.answer);
        return price;
      }, 'process'),

    refund: (request) => engine.transact(() => giveBack(request)),

    release: (holdId, note, now) =>
      engine.transact(() => giveBackHeld(statements.removeHold(holdId), note, now), 'process'),

    async releaseExpired(now) {
      let released = 0;
      for (const { id } of await engine.read(statements.listExpiredHolds(now))) {
        // Since it was listed, its owner may have prolonged it.
        const removal = statements.removeHold(String(id), now);
        if (await engine.transact(() => giveBackHeld(removal, LEASE_RAN_OUT, now))) released += 1;
      }
      return released;
    },

    async renew(owner, ids, leaseUntil) {
      if (ids.length === 0) return [];
      const { rows } = await engine.write(statements.renewHolds(owner, ids, leaseUntil, engine.among));
      return rows.map(({ id }) => String(id));
    },

    entries: async (keyId, limit) => (await engine.read(statements.listEntries(keyId, limit))).map(toEntry),

    movements: async (page) => (await engine.read(statements.listMovements(page))).map(toEntry),

    async liability() {
      const [row] = await engine.read(statements.liability());
      return BigInt(String(row?.total ?? 0));
    },

    sales: async (since) => (await engine.read(statements.sumSales(since))).map(toSales),

    knownSecret,

    async secret(name, fresh) {
      const known = await knownSecret(name);
      if (known !== undefined) return known;
      await engine.write(statements.insertSecret(name, fresh));
      return String(await knownSecret(name));
    },
  };
}

/** What the entry that ends a hold says of it. */
const factsOf = ({ id, route, model, day }: HeldRow) => ({ reference: id, route, model, heldOn: day });
