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

export function checkBooks({ ledger, quiet, books, markOf, purchases }: Evidence): Violation[] {
  const methods = new Map(
    purchases.flatMap(({ proofs, method }) => proofs.map(({ payment }) => [payment, method] as const)),
  );
  const violations: Violation[] = [];
  const broken = (promise: string, text: string, payment: string) =>
    violations.push({ promise, text, mark: markOf(payment) });

  for (const [payment, method] of methods) {
    const transfer = ledger.find(payment);
    const row = books.payments.get(payment);
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
  return [...violations, ...checkGains(ledger, books)];
}

const sumsOf = (each: { transaction: string; moved?: bigint; amount?: string }) => [
  each.transaction,
  String(each.moved ?? each.amount),
];

/** The names of payments have their network in them. */
function checkGains({ gains }: Evidence['ledger'], { payments }: Books): Violation[] {
  const rows = [...payments.values()];
  return [...gains].flatMap(([network, gained]) => {
    const own = rows.filter(({ id }) => id.includes(`:${network}:`));
    const booked = own.reduce((sum, { receipt }) => sum + BigInt(receipt?.amount ?? '0'), 0n);
    if (gained === booked) return [];
    const text = `on ${network} ${gained} were gained, and ${booked} are in the books`;
    return [{ promise: 'the books are those of the chain', text }];
  });
}
