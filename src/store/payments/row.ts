import type { Row } from '../engines/statement.ts';
import { FORGOTTEN, type Loss, type Paid, type Payment, type Receipt, type Sale, type StoredAnswer } from '../store.ts';
import type { PaymentState } from './states.ts';

/** A column that must be filled. */
function required(row: Row, column: string): string {
  const value = row[column];
  if (value === undefined || value === null) throw new Error(`payments.${column} is empty in a row of the database`);
  return String(value);
}

const optional = (row: Row, column: string): string | undefined => {
  const value = row[column];
  return value === undefined || value === null ? undefined : String(value);
};

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
  const amount = required(row, column);
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
  const receipt = optional(row, 'receipt');
  return {
    id: required(row, 'id'),
    rail: required(row, 'rail'),
    network: required(row, 'network'),
    asset: required(row, 'asset'),
    payer: required(row, 'payer'),
    payTo: required(row, 'pay_to'),
    amount: atomic(row, 'amount'),
    route: required(row, 'route'),
    requestDigest: required(row, 'request_digest'),
    fingerprint: required(row, 'fingerprint'),
    recoveryQuery: required(row, 'recovery_query'),
    settleUpfront: Number(required(row, 'settle_upfront')) === 1,
    ...(row.door !== null && row.door !== undefined && { door: String(row.door) }),
    state: required(row, 'state') as PaymentState,
    attempt: Number(required(row, 'attempt')),
    owner: required(row, 'owner'),
    leaseUntil: Number(required(row, 'lease_until')),
    answer: toAnswer(optional(row, 'answer')),
    receipt: receipt === undefined ? undefined : toReceipt(receipt),
    cost: optional(row, 'cost'),
    reason: optional(row, 'reason'),
    createdAt: Number(required(row, 'created_at')),
    updatedAt: Number(required(row, 'updated_at')),
  };
}

export const toLoss = (row: Row): Loss => ({
  isCertain: row.state !== 'unknown',
  network: required(row, 'network'),
  route: required(row, 'route'),
  payer: required(row, 'payer'),
  asset: required(row, 'asset'),
  amount: atomic(row, 'amount'),
});

export const toSale = (row: Row): Sale => ({
  id: required(row, 'id'),
  rail: required(row, 'rail'),
  route: required(row, 'route'),
  asset: required(row, 'asset'),
  amount: toReceipt(required(row, 'receipt')).amount,
  cost: optional(row, 'cost'),
  createdAt: Number(required(row, 'created_at')),
  keyId: optional(row, 'key_id'),
});

export const toPaid = (row: Row): Paid => ({
  id: required(row, 'id'),
  rail: required(row, 'rail'),
  network: required(row, 'network'),
  asset: required(row, 'asset'),
  payer: required(row, 'payer'),
  payTo: required(row, 'pay_to'),
  route: required(row, 'route'),
  state: required(row, 'state') as PaymentState,
  cost: optional(row, 'cost'),
  receipt: toReceipt(required(row, 'receipt')),
  isAnswered: Number(row.is_answered) === 1,
  keyId: optional(row, 'key_id'),
});
