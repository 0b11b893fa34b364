/** Leases that a clock has dated which was ahead, as a gateway leaves that is killed then: nobody could have what they are on. */
import type { Statement } from './engines/statement.ts';

/** No lease is for so long. */
const TOO_LONG_MS = 3_600_000;
/** Whoever is there all the same prolongs it before. */
const LEFT_MS = 30_000;

const leases = [
  ['payments', 'lease_until', "owner <> '' AND"],
  ['holds', 'lease_until', ''],
  ['refunds', 'lease_until', "state <> 'sent' AND"],
  ['channels', 'claiming_until', ''],
  ['channels', 'refunding_until', ''],
] as const;

export const shortenLeases = (now: number): readonly Statement[] =>
  leases.map(([table, column, also]) => ({
    text: `UPDATE ${table} SET ${column} = ?1 WHERE ${also} ${column} > ?2`,
    values: [now + LEFT_MS, now + TOO_LONG_MS],
  }));
