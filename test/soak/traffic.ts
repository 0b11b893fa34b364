/**
 * `npm run soak -- 60 [/image/]`: so many seconds of traffic, to all routes or those whose path contains the text, and a
 * table of how it went. Exits 1 where anything was wrong.
 */
import { type Group, type Memory, soak } from './soak.ts';

/** How far the heap may grow over the second half and still be called flat: caches fill, leaks go on. */
const FLAT_MEGABYTES = 24;
/** The same for resident memory, which keeps what the largest pictures of the sandbox once needed. */
const FLAT_RESIDENT = 1.35;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const line = (cells: readonly (string | number)[]): string =>
  cells.map((cell, index) => (index === 0 ? String(cell).padEnd(20) : String(cell).padStart(9))).join(' ');

const groupLine = ({ name, statuses, milliseconds }: Group): string => {
  const refused = [...statuses].filter(([status]) => status === 400).map(([, count]) => count)[0] ?? 0;
  const good = statuses.get(200) ?? 0;
  return line([
    name,
    milliseconds.length,
    good,
    refused,
    milliseconds.length - good - refused,
    median(milliseconds).toFixed(0),
  ]);
};

const memoryLine = (when: string, { heapMegabytes, residentMegabytes }: Memory): string =>
  line([when, heapMegabytes.toFixed(0), residentMegabytes.toFixed(0)]);

const [, , duration = '60', only = ''] = process.argv;
const seconds = Number(duration);
if (!(seconds > 0)) throw new Error(`${duration} is not a number of seconds: try npm run soak -- 60`);

const { calls, routes, visited, groups, faults, memory, seconds: took } = await soak({ seconds, only });
const { middle, end } = memory;
const flat =
  end.heapMegabytes - middle.heapMegabytes <= FLAT_MEGABYTES &&
  end.residentMegabytes <= middle.residentMegabytes * FLAT_RESIDENT;
const lines = [
  `${calls} paid calls in ${took.toFixed(0)} s, ${(calls / took).toFixed(1)} a second, to ${visited} of ${routes} routes`,
  '',
  line(['group', 'calls', '200', '400', 'other', 'median ms']),
  ...groups.map(groupLine),
  '',
  line(['memory, MB', 'heap', 'resident']),
  memoryLine('start', memory.start),
  memoryLine('middle', middle),
  memoryLine('end', end),
  '',
  ...[...faults].map(([fault, count]) => `${count} x ${fault}`),
  flat ? 'memory is flat over the second half' : 'memory grew over the second half: see the table',
];
console.log(lines.join('\n'));
if (faults.size > 0 || !flat) process.exitCode = 1;
