/** The books say what the chain says, and nothing is left in between. */
import { type Books, isUnderWay } from '../books.ts';
import { USED } from '../upstream.ts';
import type { Evidence } from './evidence.ts';
import type { Violation } from './violation.ts';

export function checkQuiet({ payments, keys }: Books, markOf: Evidence['markOf']): Violation[] {
  const promise = 'nothing is left in between once the reconciler had its time';
  return [
    ...[...payments.values()]
      .filter((payment) => isUnderWay(payment) || payment.state === 'unknown')
      .map(({ id, state, owner, reason }) => {
        const text = `${state}${owner === '' ? '' : ', held'}${reason ? `: ${reason}` : ''}`;
        return { promise, text, mark: markOf(id) };
      }),
    ...keys
      .filter(({ key }) => key.held !== 0n)
      .map(({ key }) => ({ promise, text: `the API key ${key.id} has ${key.held} held` })),
  ];
}

export function checkBooks({ chain, quiet, books, markOf, purchases }: Evidence): Violation[] {
  const payments = new Map(
    purchases.flatMap(({ proofs }) => proofs.map(({ payment, signed }) => [payment, signed] as const)),
  );
  const violations: Violation[] = [];
  const broken = (promise: string, text: string, payment: string) =>
    violations.push({ promise, text, mark: markOf(payment) });

  for (const [payment, signed] of payments) {
    const transfer = chain.find(signed.kind, signed.payer, signed.nonce);
    const row = books.payments.get(payment);
    const before = quiet.payments.get(payment)?.state;
    if (transfer && before !== 'settled' && before !== 'owed') {
      broken('what was taken is settled or owed', `${transfer.moved} was taken, and the books say ${before}`, payment);
    }
    if (transfer && row?.state !== 'settled') {
      broken('what is owed is given', `${transfer.moved} was taken, and in the end it is ${row?.state}`, payment);
    }
    if (transfer?.kind === 'permit2' && transfer.moved !== USED) {
      broken('who pays by upto pays what was used', `${transfer.moved} was taken for ${USED}`, payment);
    }
    const [taken, booked] = [transfer, row?.receipt].map((each) => each && JSON.stringify(sumsOf(each)));
    if (taken !== booked)
      broken('the books are those of the chain', `the chain has ${taken}, the books ${booked}`, payment);
  }
  const known = new Set([...payments.values()].map(({ kind, payer, nonce }) => chain.find(kind, payer, nonce)));
  for (const transfer of chain.transfers) {
    if (!known.has(transfer)) broken('the books are those of the chain', 'a transfer that no payer signed', '');
  }
  return violations;
}

const sumsOf = (each: { transaction: string; moved?: bigint; amount?: string }) => [
  each.transaction,
  String(each.moved ?? each.amount),
];
