import { claim } from './claim-steps.ts';
import { renewHolds } from './credit-statements.ts';
import { creditsOn } from './credits.ts';
import type { Engine } from './engine.ts';
import { toPayment, toSale } from './row.ts';
import type { Statement } from './statements.ts';
import * as statements from './statements.ts';
import type { Store } from './store.ts';

/** The store on an engine: every rule about payments is here, in `claimable.ts` or in `statements.ts`. */
export function storeOn(engine: Engine): Store {
  const changesOne = async (statement: Statement) => (await engine.write(statement)) === 1;
  return {
    async find(id) {
      const [row] = await engine.read(statements.findPayment(id));
      return row && toPayment(row);
    },

    claim: (facts, options) => engine.transact(() => claim(facts, options, engine.rowLock)),

    fulfil: (claim, answer, { cost, now }) => changesOne(statements.fulfilPayment(claim, answer, cost, now)),
    settle: (claim, receipt, now) => changesOne(statements.settlePayment(claim, receipt, now)),
    giveUp: (claim, state, reason, now) => changesOne(statements.giveUpPayment(claim, state, reason, now)),

    resolve: (id, settlement, now) => changesOne(statements.resolvePayment(id, settlement, now)),

    reopen: (id, reason, now) => changesOne(statements.reopenPayment(id, reason, now)),

    async renew(owner, ids, leaseUntil) {
      if (ids.length === 0) return;
      await engine.write(statements.renewPayments(owner, ids, leaseUntil, engine.among));
      await engine.write(renewHolds(owner, ids, leaseUntil, engine.among));
    },

    async list(filter) {
      if (filter.states?.length === 0) return [];
      return (await engine.read(statements.listPayments(filter))).map(toPayment);
    },

    async losses(since) {
      const rows = await engine.read(statements.listLosses(since));
      return rows.map(({ network, route, payer, asset, amount, state }) => ({
        isCertain: state !== 'unknown',
        network: String(network),
        route: String(route),
        payer: String(payer),
        asset: String(asset),
        amount: String(amount),
      }));
    },

    sales: async (filter) => (await engine.read(statements.listSales(filter))).map(toSale),

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
        while ((await engine.write(statement)) === FORGET_AT_ONCE);
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

    credits: creditsOn(engine),

    close: () => engine.close(),
  };
}
