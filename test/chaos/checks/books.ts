/** The books say what the chain says, and nothing is left in between. */

import type { Payment } from '../../../src/store/store.ts';
import { type Books, isUnderWay } from '../books.ts';
import type { Transfer } from '../ledger.ts';
import { USED } from '../upstream.ts';
import type { Evidence } from './evidence.ts';
import type { Violation } from './violation.ts';

export function checkQuiet({ payments, unconfirmed, keys }: Books, markOf: Evidence['markOf']): Violation[] {
  const promise = 'nothing is left in between once the reconciler had its time';
  return [
    ...[...payments.values()]
      .filter((payment) => isUnderWay(payment) || payment.state === 'unknown')
      .map(({ id, state, owner, reason }) => {
        const text = `${state}${owner === '' ? '' : ', held'}${reason ? `: ${reason}` : ''}`;
        return { promise, text, mark: markOf(id) };
      }),
    ...unconfirmed.map((id) => ({ promise, text: 'what it bought waits for confirmations', mark: markOf(id) })),
    ...keys
      .filter(({ key }) => key.held !== 0n)
      .map(({ key }) => ({ promise, text: `the API key ${key.id} has ${key.held} held` })),
  ];
}

export function checkBooks({ ledger, quiet, books, told, markOf, purchases }: Evidence): Violation[] {
  const methods = new Map(
    purchases.flatMap(({ proofs, method }) => proofs.map(({ payment }) => [payment, method] as const)),
  );
  const violations: Violation[] = [];
  const broken = (promise: string, text: string, payment: string) =>
    violations.push({ promise, text, mark: markOf(payment) });

  for (const [payment, method] of methods) {
    const row = books.payments.get(payment);
    const transfer = takenBackOf(ledger, row) ?? ledger.find(payment);
    const before = quiet.payments.get(payment)?.state;
    if (transfer && before !== 'settled' && before !== 'owed') {
      broken('what was taken is settled or owed', `${transfer.moved} was taken, and the books say ${before}`, payment);
    }
    if (transfer && row?.state !== 'settled') {
      broken('what is owed is given', `${transfer.moved} was taken, and in the end it is ${row?.state}`, payment);
    }
    if (transfer && method === 'upto' && transfer.moved !== USED) {
      broken('who pays by upto pays what was used', `${transfer.moved} was taken for ${USED}`, payment);
    }
    const [taken, booked] = [transfer, row?.receipt].map((each) => each && JSON.stringify(sumsOf(each)));
    if (taken !== booked)
      broken('the books are those of the chain', `the chain has ${taken}, the books ${booked}`, payment);
  }
  for (const { payment } of ledger.transfers) {
    if (!methods.has(payment)) {
      broken('the books are those of the chain', `nobody signed the transfer of ${payment}`, payment);
    }
  }
  return [...violations, ...checkGains(ledger, books), ...checkTold(ledger, books, told)];
}

/** What was told of a payment, which the chain took back afterwards: it stays in the books, and is the operator's loss. */
const takenBackOf = ({ takenBack }: Evidence['ledger'], row: Payment | undefined): Transfer | undefined =>
  takenBack.find(({ transaction }) => transaction === row?.receipt?.transaction);

/** Ids of the payments whose receipts in the books the chain took back. */
const takenBackIn = (ledger: Evidence['ledger'], { payments }: Books): string[] =>
  [...payments.values()].filter((row) => takenBackOf(ledger, row)).map(({ id }) => id);

/**
 * The operator's own comparison names what the chain took back, and nothing else. What a facilitator settled anew afterwards, by
 * itself, is under another transaction than the books have: it names that one as well.
 */
function checkTold(ledger: Evidence['ledger'], books: Books, { missing, others }: Evidence['told']): Violation[] {
  const promise = 'the operator is told what the chain took back';
  const takenBack = takenBackIn(ledger, books);
  const anew = takenBack.flatMap((id) => ledger.find(id)?.transaction ?? []);
  const isOf = (line: string, transaction: string) => line.includes(` in transaction ${transaction},`);
  return [
    ...takenBack.filter((id) => !missing.has(id)).map((id) => ({ promise, text: `it is not told of ${id}` })),
    ...[...missing].filter((id) => !takenBack.includes(id)).map((id) => ({ promise, text: `it is told of ${id}` })),
    ...anew
      .filter((transaction) => !others.some((line) => isOf(line, transaction)))
      .map((transaction) => ({ promise, text: `it is not told of ${transaction}` })),
    ...others.filter((line) => !anew.some((transaction) => isOf(line, transaction))).map((text) => ({ promise, text })),
  ];
}

const sumsOf = (each: { transaction: string; moved?: bigint; amount?: string }) => [
  each.transaction,
  String(each.moved ?? each.amount),
];

/** The names of payments have their network in them. */
function checkGains(ledger: Evidence['ledger'], books: Books): Violation[] {
  const lost = takenBackIn(ledger, books).filter((id) => !ledger.find(id));
  const rows = [...books.payments.values()].filter(({ id }) => !lost.includes(id));
  return [...ledger.gains].flatMap(([network, gained]) => {
    const own = rows.filter(({ id }) => id.includes(`:${network}:`));
    const booked = own.reduce((sum, { receipt }) => sum + BigInt(receipt?.amount ?? '0'), 0n);
    if (gained === booked) return [];
    const text = `on ${network} ${gained} were gained, and ${booked} are in the books`;
    return [{ promise: 'the books are those of the chain', text }];
  });
}
