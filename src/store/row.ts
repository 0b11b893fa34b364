import type { Row } from './statements.ts';
import { FORGOTTEN, type Payment, type PaymentState, type Receipt, type Sale, type StoredAnswer } from './store.ts';

/** What `forgetAnswers` writes. */
function toAnswer(answer: string | undefined): StoredAnswer | undefined {
  if (answer === undefined) return undefined;
  return answer === '' ? FORGOTTEN : (JSON.parse(answer) as StoredAnswer);
}

/** A row of `payments` as the store's callers know it. Throws where a column that must be filled is empty. */
export function toPayment(row: Row): Payment {
  const text = (column: string): string | undefined => {
    const value = row[column];
    return value === null || value === undefined ? undefined : String(value);
  };
  const required = (column: string): string => {
    const value = text(column);
    if (value === undefined) throw new Error(`payments.${column} is empty in a row of the database`);
    return value;
  };
  const receipt = text('receipt');
  return {
    id: required('id'),
    rail: required('rail'),
    network: required('network'),
    asset: required('asset'),
    payer: required('payer'),
    payTo: required('pay_to'),
    amount: required('amount'),
    route: required('route'),
    requestDigest: required('request_digest'),
    fingerprint: required('fingerprint'),
    recoveryQuery: required('recovery_query'),
    settleUpfront: Number(required('settle_upfront')) === 1,
    state: required('state') as PaymentState,
    attempt: Number(required('attempt')),
    owner: required('owner'),
    leaseUntil: Number(required('lease_until')),
    answer: toAnswer(text('answer')),
    receipt: receipt === undefined ? undefined : (JSON.parse(receipt) as Receipt),
    cost: text('cost'),
    reason: text('reason'),
    createdAt: Number(required('created_at')),
    updatedAt: Number(required('updated_at')),
  };
}

export function toSale(row: Row): Sale {
  const receipt = JSON.parse(String(row.receipt)) as Receipt;
  return {
    id: String(row.id),
    rail: String(row.rail),
    route: String(row.route),
    asset: String(row.asset),
    amount: receipt.amount,
    cost: row.cost === null || row.cost === undefined ? undefined : String(row.cost),
    createdAt: Number(row.created_at),
  };
}
