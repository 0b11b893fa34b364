import { freesItsKey, stateOnClaim } from './claimable.ts';
import { renewHolds } from './credit-statements.ts';
import { creditsOn } from './credits.ts';
import type { Outlives } from './grouped-commit.ts';
import { toPayment, toSale } from './row.ts';
import type { Row, Statement } from './statements.ts';
import * as statements from './statements.ts';
import type { Steps } from './steps.ts';
import type { ClaimOptions, ClaimOutcome, PaymentFacts, SharedKey, Store } from './store.ts';

/** What a database must offer to be a store. */
export interface Engine {
  /** Appended to a SELECT inside `transact` so that nobody else changes its rows before the end: `FOR UPDATE`, or nothing. */
  readonly rowLock: string;
  /** The condition that goes after a column: its text is in the JSON array of texts at `place`. */
  among(place: string): string;
  /** Sees every write whose promise resolved. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** Rows changed. Durable once it resolves. */
  write(statement: Statement): Promise<number>;
  /** All steps or none; durable once it resolves, as `outlives` says. An error thrown by the steps undoes them and rejects. */
  transact<Result>(steps: () => Steps<Result>, outlives?: Outlives): Promise<Result>;
  close(): Promise<void>;
}

/** The store on an engine: every rule about payments is here, in `claimable.ts` or in `statements.ts`. */
export function storeOn(engine: Engine): Store {
  const changesOne = async (statement: Statement) => (await engine.write(statement)) === 1;
  return {
    async find(id) {
      const [row] = await engine.read(statements.findPayment(id));
      return row && toPayment(row);
    },

    async claim(facts, options) {
      const { key } = options;
      if (key) return engine.transact(() => claimUnderKey(facts, options, key, engine.rowLock));
      if (await changesOne(statements.insertPayment(facts, options))) {
        return { won: true, claim: { id: facts.id, attempt: 1 }, before: undefined };
      }
      return engine.transact(() => claimAgain(facts, options, engine.rowLock));
    },

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

    credits: creditsOn(engine),

    close: () => engine.close(),
  };
}

function* claimAgain(facts: PaymentFacts, options: ClaimOptions, rowLock: string): Steps<ClaimOutcome> {
  const find = statements.findPayment(facts.id);
  const { rows } = yield { ...find, text: `${find.text} ${rowLock}` };
  const [row] = rows;
  if (row === undefined) throw new Error(`Payment ${facts.id} was removed from the database while it was claimed`);
  const before = toPayment(row);
  const state = stateOnClaim(before, facts, options);
  if (state === undefined) return { won: false, payment: before };
  yield statements.takePayment(facts, state, options);
  return { won: true, claim: { id: facts.id, attempt: before.attempt + 1 }, before };
}

/** The key's row is made and locked first: of two payments that come at once, the second sees what the first became. */
function* claimUnderKey(
  facts: PaymentFacts,
  options: ClaimOptions,
  { name, since }: SharedKey,
  rowLock: string,
): Steps<ClaimOutcome> {
  yield statements.reserveKept(name, since, options.now);
  const find = statements.findKept(name, since);
  const { rows: kept } = yield { ...find, text: `${find.text} ${rowLock}` };
  const holder = kept[0]?.value;
  if (holder && holder !== facts.id) {
    const { rows } = yield statements.findPayment(String(holder));
    const other = rows[0] && toPayment(rows[0]);
    if (other && !freesItsKey(other)) return { won: false, payment: other };
  }
  const { changes } = yield statements.insertPayment(facts, options);
  const outcome: ClaimOutcome =
    changes === 1
      ? { won: true, claim: { id: facts.id, attempt: 1 }, before: undefined }
      : yield* claimAgain(facts, options, rowLock);
  if (outcome.won) yield statements.keepValue(name, facts.id, options.now);
  return outcome;
}
