import type { Log } from '../log.ts';
import { claim } from './claim-steps.ts';
import { creditsOn } from './credits.ts';
import type { Engine } from './engine.ts';
import { reasonOf } from './problem.ts';
import { refundsOn } from './refunds.ts';
import { toLoss, toPaid, toPayment, toSale } from './row.ts';
import type { Row, Statement } from './statements.ts';
import * as statements from './statements.ts';
import type { Store } from './store.ts';

/** Hears of payments that cannot be read: of each once. */
export type StoreLog = Pick<Log, 'error'>;

/** The store on an engine: every rule about payments is here, in `claimable.ts` or in `statements.ts`. */
export function storeOn(engine: Engine, log?: StoreLog): Store {
  const changesOne = async (statement: Statement) => (await engine.write(statement)).changes === 1;

  const unreadable = new Set<string>();

  /** Of many rows those that can be read, for one that cannot must be in nobody's way. */
  function readable<Read>(rows: readonly Row[], read: (row: Row) => Read): Read[] {
    return rows.flatMap((row) => {
      try {
        return [read(row)];
      } catch (error) {
        const payment = String(row.id);
        if (!unreadable.has(payment)) {
          log?.error(
            { payment, reason: reasonOf(error) },
            'a payment in the database cannot be read, and is left alone',
          );
        }
        unreadable.add(payment);
        return [];
      }
    });
  }

  return {
    now: engine.now,

    async check() {
      await engine.write(statements.keepValue('written to see that it can be', '', engine.now()));
      await engine.readClock();
    },

    async find(id) {
      const [row] = await engine.read(statements.findPayment(id));
      return row && toPayment(row);
    },

    claim: (facts, options) => engine.transact(() => claim(facts, options, engine.rowLock)),

    fulfil: (claim, answer, { cost, now }) => changesOne(statements.fulfilPayment(claim, answer, cost, now)),
    async settle(claim, receipt, now) {
      const { rows } = await engine.write(statements.settlePayment(claim, receipt, now));
      return Number(rows[0]?.attempt) === claim.attempt;
    },

    giveUp: (claim, state, reason, now) => changesOne(statements.giveUpPayment(claim, state, reason, now)),

    resolve: (id, settlement, now) => changesOne(statements.resolvePayment(id, settlement, now)),

    reopen: (id, reason, now) => changesOne(statements.reopenPayment(id, reason, now)),

    async renew(owner, claims, leaseUntil) {
      if (claims.length === 0) return [];
      const { rows } = await engine.write(statements.renewPayments(owner, claims, leaseUntil, engine.among));
      return rows.map(({ id, attempt }) => ({ id: String(id), attempt: Number(attempt) }));
    },

    async list({ limit, ...filter }) {
      if (filter.states?.length === 0) return [];
      // What cannot be read never changes, and must not take the places of others for ever.
      const most = limit + unreadable.size;
      return readable(await engine.read(statements.listPayments({ ...filter, limit: most })), toPayment).slice(
        0,
        limit,
      );
    },

    losses: async (since) => readable(await engine.read(statements.listLosses(since)), toLoss),

    sales: async (filter) => readable(await engine.read(statements.listSales(filter)), toSale),

    async paid(page) {
      const rows = await engine.read(statements.listPaid(page));
      const last = rows.at(-1);
      const isLast = last === undefined || rows.length < page.limit;
      const next = isLast ? undefined : { settledAt: Number(last.settled_at), id: String(last.id) };
      return { payments: readable(rows, toPaid), next };
    },

    async cached(key, notBefore) {
      const [row] = await engine.read(statements.findKept(key, notBefore));
      return row && { value: String(row.value), storedAt: Number(row.stored_at) };
    },

    async keep(key, value, now) {
      await engine.write(statements.keepValue(key, value, now));
    },

    async forget({ values, payments }) {
      const { forgetKept, forgetAnswers, forgetUnpaid, FORGET_AT_ONCE } = statements;
      for (const statement of [forgetKept(values), forgetAnswers(payments), forgetUnpaid(payments)]) {
        while ((await engine.write(statement)).changes === FORGET_AT_ONCE);
      }
    },

    async takeNonce(request) {
      const next = await engine.transact(function* () {
        const { rows } = yield statements.takeNonce(request);
        return Number(rows[0]?.next);
      });
      return next - 1;
    },

    async returnNonce(account, nonce) {
      await engine.write(statements.returnNonce(account, nonce));
    },

    refunds: refundsOn(engine),
    credits: creditsOn(engine),

    close: () => engine.close(),
  };
}
