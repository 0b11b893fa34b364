/** A campaign in words. */
import type { Campaign } from './campaign.ts';
import { inLines } from './timeline.ts';

/** Of one promise that was broken, so many are shown with their timelines. */
const SHOWN = 3;

const counted = (names: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

const listed = (title: string, counts: ReadonlyMap<string, number>): string[] => [
  '',
  title,
  ...[...counts]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, count]) => `${String(count).padStart(8)}  ${name}`),
];

export function figuresOf({ purchases, chats, ledger, told, done, faults, books, seconds }: Campaign): string {
  const kills = [...done].filter(([what]) => what.startsWith('killed')).reduce((sum, [, count]) => sum + count, 0);
  const payments = purchases.reduce((sum, { proofs }) => sum + proofs.length, 0);
  const { size: lost } = told.missing;
  const neverSold = [...books.payments.values()].filter(({ state }) => state === 'unsettled').length;
  return [
    `${kills} kills, ${purchases.length} purchases with ${payments} payments, ${ledger.transfers.length} settled, ${chats.length} chats, ` +
      `${neverSold} finished or begun and never settled, ${lost} taken back by the chain after they were told, in ${Math.round(seconds)} s`,
    ...listed('Done to gateways and database', done),
    ...listed('Gone wrong in the world', faults),
    ...listed(
      'Answers',
      counted(
        purchases.flatMap(({ received }) =>
          received.map(({ answer }) => `${answer.status} ${answer.code.replaceAll(/\d[\d.x]*/g, '#').slice(0, 90)}`),
        ),
      ),
    ),
    ...listed('Chats', counted(chats.map(({ outcome, status, code }) => `${outcome} ${status} ${code}`))),
    ...listed(
      'Settled by',
      counted(
        purchases.flatMap(({ door, method, proofs }) =>
          proofs.filter(({ payment }) => ledger.find(payment)).map(() => `${door}: ${method}`),
        ),
      ),
    ),
    ...listed('Payments in the end', counted([...books.payments.values()].map(({ state }) => state))),
  ].join('\n');
}

/** Each with what happened to its purchase. */
export function violationsOf({ violations, timeline }: Campaign, seed: number): string {
  const promises = counted(violations.map(({ promise }) => promise));
  const shown = [...promises.keys()].flatMap((promise) =>
    violations.filter((violation) => violation.promise === promise).slice(0, SHOWN),
  );
  return [
    ...shown.flatMap(({ promise, text, mark }) => [
      '',
      `BROKEN (seed ${seed}): ${promise}`,
      `  ${mark ?? ''} ${text}`,
      ...(mark === undefined ? [] : inLines(timeline.of(mark))),
    ]),
    ...listed('Promises broken', promises),
  ].join('\n');
}
