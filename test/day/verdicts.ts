import type { Accounts } from './accounts.ts';

export interface Verdict {
  readonly promise: string;
  readonly found: string;
  readonly holds: boolean;
}

const shown = (amount: bigint): string => `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`;

/** What has to agree, and whether it does. */
export function verdictsOn({ networks, spent, books, console, metrics, owed }: Accounts): Verdict[] {
  const same = (promise: string, ...amounts: readonly bigint[]): Verdict => ({
    promise,
    found: amounts.map(shown).join(' = '),
    holds: amounts.every((amount) => amount === amounts[0]),
  });
  return [
    same('what was paid: books, console, metrics', books.paid, console.paid, metrics.paid),
    same('credits that were sold: books, console', books.creditsSold, console.creditsSold),
    same('credits that were charged: books, console', books.creditsCharged, console.creditsCharged),
    same('what went back: books, console, metrics', books.refunds, console.refunds, metrics.refunds),
    ...[...networks].map(([network, { books: inBooks, chain }]) =>
      same(`what came in on ${network}: books, chain`, inBooks, chain),
    ),
    // On Tempo the payer bears fees as well.
    ...[...networks].flatMap(([network, { books: inBooks, back }]) =>
      network === 'tempo'
        ? []
        : [same(`what the payer is short of on ${network}: books, chain`, inBooks - back, spent.get(network) ?? 0n)],
    ),
    { promise: 'nothing is owed at the end', found: String(owed), holds: owed === 0 },
  ];
}
