import { columnsOf } from '../engines/columns.ts';
import type { Row } from '../engines/statement.ts';
import type { Loss, Paid, Payment, Receipt, Sale } from '../store.ts';
import { FORGOTTEN, type StoredAnswer } from '../stored-answer.ts';
import type { PaymentState } from './states.ts';

const { filled, optional } = columnsOf('payments');

/** What the column holds is in no message: an answer may have a secret in it. */
const unreadable = (column: string): Error => new Error(`payments.${column} cannot be read in a row of the database`);

function fromJson<Value>(column: string, text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    throw unreadable(column);
  }
}

function atomic(row: Row, column: string): string {
  const amount = filled(row, column);
  if (!/^\d+$/.test(amount)) throw unreadable(column);
  return amount;
}

function toReceipt(text: string): Receipt {
  const receipt = fromJson<Receipt>('receipt', text);
  if (!/^\d+$/.test(receipt?.amount)) throw unreadable('receipt');
  return receipt;
}

/** What `forgetAnswers` writes. */
function toAnswer(answer: string | undefined): StoredAnswer | undefined {
  if (answer === undefined) return undefined;
  return answer === '' ? FORGOTTEN : fromJson<StoredAnswer>('answer', answer);
}

/** A row of `payments` as the store's callers know it. Throws where it cannot be read. */
export function toPayment(row: Row): Payment {
  const [receipt, door, lostAt] = ['receipt', 'door', 'lost_at'].map((column) => optional(row, column));
  return {
    id: filled(row, 'id'),
    rail: filled(row, 'rail'),
    network: filled(row, 'network'),
    asset: filled(row, 'asset'),
    payer: filled(row, 'payer'),
    payTo: filled(row, 'pay_to'),
    amount: atomic(row, 'amount'),
    route: filled(row, 'route'),
    requestDigest: filled(row, 'request_digest'),
    fingerprint: filled(row, 'fingerprint'),
    recoveryQuery: filled(row, 'recovery_query'),
    settleUpfront: Number(filled(row, 'settle_upfront')) === 1,
    ...(door !== undefined && { door }),
    state: filled(row, 'state') as PaymentState,
    attempt: Number(filled(row, 'attempt')),
    owner: filled(row, 'owner'),
    leaseUntil: Number(filled(row, 'lease_until')),
    answer: toAnswer(optional(row, 'answer')),
    receipt: receipt === undefined ? undefined : toReceipt(receipt),
    cost: optional(row, 'cost'),
    reason: optional(row, 'reason'),
    ...(lostAt !== undefined && { lostAt: Number(lostAt) }),
    createdAt: Number(filled(row, 'created_at')),
    updatedAt: Number(filled(row, 'updated_at')),
  };
}

export const toLoss = (row: Row): Loss => ({
  isCertain: row.state !== 'unknown',
  network: filled(row, 'network'),
  route: filled(row, 'route'),
  payer: filled(row, 'payer'),
  asset: filled(row, 'asset'),
  amount: atomic(row, 'amount'),
});

export const toSale = (row: Row): Sale => ({
  id: filled(row, 'id'),
  rail: filled(row, 'rail'),
  route: filled(row, 'route'),
  asset: filled(row, 'asset'),
  amount: toReceipt(filled(row, 'receipt')).amount,
  cost: optional(row, 'cost'),
  createdAt: Number(filled(row, 'created_at')),
  keyId: optional(row, 'key_id'),
});

export const toPaid = (row: Row): Paid => ({
  id: filled(row, 'id'),
  rail: filled(row, 'rail'),
  network: filled(row, 'network'),
  asset: filled(row, 'asset'),
  payer: filled(row, 'payer'),
  payTo: filled(row, 'pay_to'),
  route: filled(row, 'route'),
  state: filled(row, 'state') as PaymentState,
  cost: optional(row, 'cost'),
  receipt: toReceipt(filled(row, 'receipt')),
  isAnswered: Number(row.is_answered) === 1,
  keyId: optional(row, 'key_id'),
});
