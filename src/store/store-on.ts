import type { Log } from '../log.ts';
import { forgetAlerts } from './alerts/alert-statements.ts';
import { alertsOn } from './alerts/alerts.ts';
import { spendAllowance } from './allowance-statements.ts';
import { ClaimLost, channelsOn, resolveFromChannel, settleFromChannel } from './channels/channels.ts';
import { creditsOn } from './credits/credits.ts';
import type { Engine } from './engines/engine.ts';
import type { Row, Statement } from './engines/statement.ts';
import { figuresOn, reopen } from './figures/figures.ts';
import * as forgotten from './forget-statements.ts';
import { forgetUnpaid } from './forget-unpaid.ts';
import { findKept, keepValue } from './kept-statements.ts';
import { shortenLeases } from './lease-statements.ts';
import { returnNonce, takeNonce } from './nonce-statements.ts';
import { claim } from './payments/claim-steps.ts';
import { listPayments } from './payments/payment-list-statements.ts';
import * as statements from './payments/payment-statements.ts';
import { toLoss, toPaid, toPayment, toSale } from './payments/row.ts';
import { reasonOf } from './problem.ts';
import { refundsOn } from './refunds/refunds.ts';
import type { Store } from './store.ts';

/** Hears of payments that cannot be read: of each once. */
export type StoreLog = Pick<Log, 'error'>;

/** How a store is opened, whatever its database. */
export interface Opening {
  readonly log?: StoreLog | undefined;
  /** False: a database of an earlier release is refused, and stays as it is. Default: it is brought up to date. */
  readonly upgrades?: boolean | undefined;
}

function nothingWhereLost(error: unknown): undefined {
  if (!(error instanceof ClaimLost)) throw error;
}

/** The store on an engine: every rule about payments is here, in `claimable.ts` or in `payment-statements.ts`. */
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
      await engine.check();
      await engine.write(keepValue('written to see that it can be', '', engine.now()));
    },

    async find(id) {
      const [row] = await engine.read(statements.findPayment(id));
      return row && toPayment(row);
    },

    claim: (facts, options) => engine.transact(() => claim(facts, options, engine.rowLock)),

    cover: (claim) => changesOne(statements.coverPayment(claim)),

    fulfil: (claim, answer, { cost, now }) => changesOne(statements.fulfilPayment(claim, answer, cost, now)),

    async settle(claim, receipt, now, fulfilled) {
      const settle = fulfilled
        ? statements.settleWithAnswer(claim, receipt, fulfilled, now)
        : statements.settlePayment(claim, receipt, now);
      const { channel } = receipt;
      if (!channel) return Number((await engine.write(settle)).rows[0]?.attempt) === claim.attempt;
      const settling = engine.transact(() => settleFromChannel(claim.id, channel, settle, now));
      return (await settling.catch(nothingWhereLost)) === claim.attempt;
    },

    giveUp: (claim, state, reason, now) => changesOne(statements.giveUpPayment(claim, state, reason, now)),

    async resolve(id, became, now, takenUntil = 0) {
      const resolve = statements.resolvePayment(id, became, now, takenUntil);
      const channel = became.state === 'settled' ? became.receipt.channel : undefined;
      if (!channel) return changesOne(resolve);
      return engine.transact(() => resolveFromChannel(id, channel, resolve, now, engine.rowLock));
    },

    takeUnknown: (attempt, by) => changesOne(statements.takeUnknown(attempt, by)),

    reopen: (id, reason, now) => engine.transact(() => reopen(id, reason, now, engine.rowLock)),

    async renew(owner, claims, leaseUntil) {
      if (claims.length === 0) return [];
      const { rows } = await engine.write(statements.renewPayments(owner, claims, leaseUntil, engine.among));
      return rows.map(({ id, attempt }) => ({ id: String(id), attempt: Number(attempt) }));
    },

    async shortenLeases(now) {
      for (const statement of shortenLeases(now)) await engine.write(statement);
    },

    async list({ limit, ...filter }) {
      if (filter.states?.length === 0) return [];
      // What cannot be read never changes, and must not take the places of others for ever.
      const most = { ...filter, limit: limit + unreadable.size };
      const rows = await engine.read(listPayments(most));
      const isOld = rows.length === 0 && filter.transaction !== undefined;
      const old = isOld ? await engine.read(listPayments(most, true)) : [];
      const found = readable([...rows, ...old], toPayment);
      return filter.ofEachNetwork ? found : found.slice(0, limit);
    },

    losses: async (since) => readable(await engine.read(statements.listLosses(since)), toLoss),

    async oldestLate() {
      const [row] = await engine.read(statements.OLDEST_LATE);
      return row && Number(row.created_at);
    },

    sales: async (filter) => readable(await engine.read(statements.listSales(filter)), toSale),

    async paid(page) {
      const rows = await engine.read(statements.listPaid(page));
      const last = rows.at(-1);
      const isLast = last === undefined || rows.length < page.limit;
      const next = isLast ? undefined : { settledAt: Number(last.settled_at), id: String(last.id) };
      return { payments: readable(rows, toPaid), next };
    },

    async cached(key, notBefore) {
      const [row] = await engine.read(findKept(key, notBefore));
      return row && { value: String(row.value), storedAt: Number(row.stored_at) };
    },

    async keep(key, value, now) {
      await engine.write(keepValue(key, value, now));
    },

    async forget({ values, answers, payments, alerts = 0 }) {
      const { forgetPaid, forgetRefunds, forgetAnswers, FORGET_AT_ONCE } = forgotten;
      const { rowLock } = engine;
      const paid = payments === undefined ? [] : [forgetPaid(payments, rowLock), forgetRefunds(payments)];
      const kept = [forgotten.forgetKept, forgotten.forgetPayers, forgotten.forgetAllowances].map((forget) =>
        forget(values, rowLock),
      );
      const old = [...kept, forgetAlerts(alerts), forgetAnswers(answers, rowLock), ...paid];
      for (const statement of old) {
        while ((await engine.write(statement)).changes >= FORGET_AT_ONCE);
      }
      while ((await engine.transact(() => forgetUnpaid(answers, engine))) >= FORGET_AT_ONCE);
    },

    spendAllowances: (spent, now) =>
      engine.transact(function* () {
        const wholeAt = new Map<string, number>();
        // In one order everywhere: instances that wait for each other's rows would wait for ever.
        for (const each of [...spent].sort((one, other) => (one.name < other.name ? -1 : 1))) {
          const { rows } = yield spendAllowance(each, now);
          wholeAt.set(each.name, Number(rows[0]?.whole_at));
        }
        return spent.map(({ name }) => wholeAt.get(name) ?? now);
      }),

    async takeNonce(request) {
      const next = await engine.transact(function* () {
        const { rows } = yield takeNonce(request);
        return Number(rows[0]?.next);
      });
      return next - 1;
    },

    async returnNonce(account, nonce) {
      await engine.write(returnNonce(account, nonce));
    },

    alerts: alertsOn(engine),
    channels: channelsOn(engine),
    refunds: refundsOn(engine),
    credits: creditsOn(engine),
    figures: figuresOn(engine),

    close: () => engine.close(),
  };
}
