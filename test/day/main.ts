/** A day of business, and whether all accounts of it agree. Exits 1 where they do not. */
import { misused, programOptions } from '../program-options.ts';
import { runDay } from './day.ts';
import { verdictsOn } from './verdicts.ts';

const USAGE = 'npm run day -- [--calls 10000] [--seed 1] [--callers 8]';

const values = programOptions(USAGE, {
  calls: { type: 'string', default: '10000' },
  seed: { type: 'string', default: '1' },
  callers: { type: 'string', default: '8' },
});
const [calls = 0, seed = 0, callers = 0] = [values.calls, values.seed, values.callers].map(Number);
if (!(calls > 0) || !(callers > 0) || Number.isNaN(seed)) misused(USAGE);
const say = (line: string) => void process.stdout.write(`${line}\n`);
const day = await runDay({ calls, seed, callers, networks: ['chain-a', 'chain-c'], say });
for (const [name, count] of [...day.outcomes].sort()) say(`${String(count).padStart(7)}  ${name}`);
const verdicts = verdictsOn(day.accounts);
for (const { promise, found, holds } of verdicts) say(`${holds ? 'holds ' : 'BROKEN'}  ${promise}: ${found}`);
say(`${calls} calls in ${Math.round(day.seconds)} s`);
process.exitCode = verdicts.every(({ holds }) => holds) ? 0 : 1;
