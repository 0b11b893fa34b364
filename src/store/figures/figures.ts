import type { Engine } from '../engines/engine.ts';
import type { Row, Statement } from '../engines/statement.ts';
import { type Steps, unwatched } from '../engines/steps.ts';
import { reopenPayment } from '../payments/payment-statements.ts';
import {
  beginningOf,
  plus,
  receiptIn,
  summed,
  toCalls,
  toExchanges,
  toMoney,
  toSum,
  toTakenBack,
  toVisit,
} from './figures-row.ts';
import * as statements from './figures-statements.ts';
import {
  type CallCount,
  type ExchangeCount,
  type FiguresStore,
  type MoneySum,
  SPANS,
  type Span,
} from './figures-store.ts';

const spans = Object.keys(SPANS) as Span[];

/** After `lockFigures`. */
function* add(sums: readonly MoneySum[]): Steps<void> {
  for (const span of spans) {
    for (const sum of summed(span, sums)) {
      const { rows } = yield statements.findMoney(span, sum);
      yield unwatched(statements.writeMoney(span, plus(sum, rows[0] && toMoney(rows[0]))));
    }
  }
}

/** In one order everywhere: instances that wait for each other's rows would wait for ever. */
function rowsOf(span: Span, counts: readonly CallCount[]): CallCount[] {
  const named = counts.map((each) => {
    const count = { ...each, at: beginningOf(span, each.at) };
    const { at, endpoint, door, network, bucket } = count;
    return { name: JSON.stringify([at, endpoint, door, network, bucket]), count };
  });
  return named.sort((one, other) => (one.name < other.name ? -1 : 1)).map(({ count }) => count);
}

/** A chain took back a payment: what was counted of it is taken back with it. False where it is not to be reopened. */
export function* reopen(id: string, reason: string, now: number, rowLock: string): Steps<boolean> {
  yield unwatched(statements.lockFigures(now));
  const counted = statements.countedOf(id);
  // Locked first: of what it bought is asked when nobody can confirm that any more.
  const { rows } = yield { ...counted, text: `${counted.text} ${rowLock}` };
  const { changes } = yield reopenPayment(id, reason, now);
  if (changes === 1 && rows[0]) yield* add([toTakenBack(rows[0])]);
  return changes === 1;
}

/** Sums on an engine. */
export function figuresOn(engine: Engine): FiguresStore {
  /** One transaction over one sort of movements. Answers how many there were. */
  const counted = (read: Statement, mark: (rows: readonly Row[]) => Statement[]): Promise<number> =>
    engine.transact(function* (): Steps<number> {
      yield unwatched(statements.lockFigures(engine.now()));
      const { rows } = yield read;
      yield* add(rows.map(toSum));
      for (const statement of mark(rows)) yield unwatched(statement);
      return rows.length;
    });

  function markPayments(rows: readonly Row[]): Statement[] {
    const idsOf = (isAnswered: number) =>
      rows.filter((row) => Number(row.is_answered) === isAnswered).map(({ id }) => String(id));
    const unindexed = rows.flatMap(({ id, amount, transaction_id: known }) => {
      const { transaction } = receiptIn(String(amount));
      return known === null && transaction !== undefined ? [statements.indexTransaction(String(id), transaction)] : [];
    });
    return [
      statements.markPayments(idsOf(1), true, engine.among),
      statements.markPayments(idsOf(0), false, engine.among),
      ...unindexed,
    ];
  }

  const each = (mark: (id: string, number: number) => Statement) => (rows: readonly Row[]) =>
    rows.map(({ id, number }) => mark(String(id), Number(number)));

  function* addExchange(span: Span, count: ExchangeCount): Steps<void> {
    const sum = { ...count, at: beginningOf(span, count.at) };
    const { rows } = yield statements.findExchanges(span, sum);
    const before = rows[0] && toExchanges(rows[0]);
    const after = {
      ...sum,
      calls: sum.calls + (before?.calls ?? 0),
      failures: sum.failures + (before?.failures ?? 0),
      spend: sum.spend + (before?.spend ?? 0n),
    };
    yield unwatched(statements.writeExchanges(span, after));
  }

  return {
    async count(limit) {
      // Nothing is locked and nothing written while nothing happens.
      const sorts = [
        [statements.paymentsToCount(limit), markPayments],
        [statements.refundsToCount(limit), each(statements.markRefund)],
        [statements.entriesToCount(limit), each(statements.markEntry)],
      ] as const;
      let isMore = false;
      for (const [read, mark] of sorts) {
        const [first] = await engine.read({ ...read, values: [1] });
        if (first && (await counted(read, mark)) === limit) isMore = true;
      }
      return isMore;
    },

    async money(asked) {
      const rows = await engine.read(statements.listMoney(asked));
      const isFull = (kind: string) => rows.filter((row) => row.kind === kind).length >= statements.UNCOUNTED_AT_ONCE;
      return {
        sums: summed(asked.span, rows.map(toSum)),
        isWhole: !['payment', 'refund', 'entry'].some(isFull),
      };
    },

    addCalls: (counts, batch) =>
      engine.transact(function* (): Steps<void> {
        if ((yield statements.markBatch(batch, engine.now())).changes === 0) return;
        for (const span of spans)
          for (const count of rowsOf(span, counts)) yield unwatched(statements.addCalls(span, count));
      }, 'process'),

    calls: async (asked) => (await engine.read(statements.listCalls(asked))).map(toCalls),

    addExchanges: (counts, batch) =>
      engine.transact(function* (): Steps<void> {
        if ((yield statements.markBatch(batch, engine.now())).changes === 0) return;
        yield unwatched(statements.lockFigures(engine.now()));
        for (const count of counts) {
          for (const span of spans) yield* addExchange(span, count);
        }
      }, 'process'),

    exchanges: async (asked) => (await engine.read(statements.listExchanges(asked))).map(toExchanges),

    addVisits: (visits) =>
      engine.transact(function* (): Steps<void> {
        for (const visit of visits) yield unwatched(statements.addVisit(visit));
      }, 'process'),

    visitsOf: async (paymentId) => (await engine.read(statements.listVisits(paymentId))).map(toVisit),

    async forget({ visits, hours }) {
      for (const statement of [statements.forgetVisits(visits), ...statements.forgetHours(hours)]) {
        while ((await engine.write(statement)).changes > 0);
      }
    },
  };
}
