import { columnsOf } from '../engines/columns.ts';
import type { Engine } from '../engines/engine.ts';
import type { Row } from '../engines/statement.ts';
import type { Steps } from '../engines/steps.ts';
import { findPayment } from '../payments/payment-statements.ts';
import { toPayment } from '../payments/row.ts';
import type { Payment } from '../store.ts';
import * as statements from './refund-statements.ts';
import type { Refund, RefundOutcome, RefundRefusal, RefundRequest, RefundState, RefundStore } from './refund-store.ts';

const { filled, optional } = columnsOf('refunds');

const toRefund = (row: Row): Refund => ({
  paymentId: filled(row, 'payment_id'),
  number: Number(row.number),
  network: filled(row, 'network'),
  asset: filled(row, 'asset'),
  payee: filled(row, 'payee'),
  amount: filled(row, 'amount'),
  reason: filled(row, 'reason'),
  isAutomatic: Number(row.is_automatic) === 1,
  reference: optional(row, 'reference'),
  state: filled(row, 'state') as RefundState,
  attempt: Number(row.attempt),
  recoveryQuery: optional(row, 'recovery_query'),
  fault: optional(row, 'fault'),
  transaction: optional(row, 'transaction_id'),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
});

/** True where its result is owed, whether or not its request has found that out. */
const isOwed = ({ state, answer }: Payment): boolean =>
  state === 'owed' || (state === 'settled' && answer === undefined);

/** Why the amount may not be given back, or undefined where it may. Pure; asked about a row that nobody else can change. */
function refusalOf(
  payment: Payment,
  left: bigint,
  amount: bigint,
  { isAutomatic, seen = payment.state, now }: RefundRequest,
): RefundRefusal | undefined {
  const { state, receipt, leaseUntil } = payment;
  if (state === 'claimed' || state === 'fulfilled' || state === 'unknown') return 'in-progress';
  if (state !== seen) return 'changed';
  if (!receipt) return 'unpaid';
  if (state === 'settled' && payment.answer === undefined && leaseUntil > now) return 'in-progress';
  // Its payer may have come back for its result since somebody saw that it was owed.
  if (isAutomatic && state === 'settled' && payment.answer !== undefined) return 'delivered';
  if (amount <= 0n && left > 0n) return 'nothing';
  if (amount <= 0n || amount > left) return 'too-much';
  return isOwed(payment) && amount !== left ? 'whole-only' : undefined;
}

/** Refunds on an engine. */
export function refundsOn(engine: Engine): RefundStore {
  const changesOne = async (statement: ReturnType<typeof statements.sentRefund>) =>
    (await engine.write(statement)).changes === 1;

  function* want(request: RefundRequest): Steps<RefundOutcome> {
    const { paymentId, now } = request;
    const find = findPayment(paymentId);
    const { rows: found } = yield { ...find, text: `${find.text} ${engine.rowLock}` };
    const payment = found[0] && toPayment(found[0]);
    if (!payment) return { refused: 'unknown', left: 0n };
    const { rows } = yield statements.refundsOf(paymentId);
    const before = rows.map(toRefund);
    const taken = BigInt(payment.receipt?.amount ?? 0);
    const left = before.reduce((rest, { amount }) => rest - BigInt(amount), taken);
    const done = before.find(({ reference }) => reference !== undefined && reference === request.reference);
    if (done) {
      const isSame = request.amount === undefined || BigInt(done.amount) === request.amount;
      return isSame ? { refund: done } : { refused: 'reference', left };
    }
    const amount = request.amount ?? left;
    const { rows: credits } = yield statements.creditsBoughtWith(paymentId);
    const refused = refusalOf(payment, left, amount, request) ?? (credits.length > 0 ? 'credits' : undefined);
    if (refused) return { refused, left };
    yield isOwed(payment) ? statements.endOwed(paymentId, now) : statements.keepForRefund(paymentId, now);
    const { network, asset, payer: payee } = payment;
    const facts = { paymentId, number: before.length + 1, network, asset, payee, amount: amount.toString() };
    const { rows: inserted } = yield statements.insertRefund(facts, request);
    return { refund: toRefund(inserted[0] as Row) };
  }

  const end = (refund: Pick<Refund, 'paymentId' | 'number'>, transaction: string, now: number, isByHand: boolean) =>
    engine.transact(function* (): Steps<boolean> {
      const { changes } = yield statements.sentRefund(refund, transaction, now, isByHand);
      if (changes === 1) yield statements.tellTransaction(refund.paymentId, transaction, now);
      return changes === 1;
    });

  return {
    want: (request) => engine.transact(() => want(request)),
    async take(by) {
      const { rows } = await engine.write(statements.takeRefunds(by));
      return rows.map(toRefund).sort((one, other) => one.updatedAt - other.updatedAt);
    },
    sending: (attempt, recoveryQuery, now) => changesOne(statements.sendingRefund(attempt, recoveryQuery, now)),
    sent: (refund, transaction, now) => end(refund, transaction, now, false),
    sentByHand: (refund, transaction, now) => end(refund, transaction, now, true),
    failed: (attempt, fault, now) => changesOne(statements.failedRefund(attempt, fault, now)),
    of: async (paymentId) => (await engine.read(statements.refundsOf(paymentId))).map(toRefund),
    sentIn: async (page) => (await engine.read(statements.sentRefunds(page))).map(toRefund),
    open: async (limit) => (await engine.read(statements.openRefunds(limit))).map(toRefund),
    list: async (filter) => (await engine.read(statements.listRefunds(filter))).map(toRefund),
  };
}
