/** An hour of a mixed crowd, and what came of it. Exits 1 where a promise does not hold. */
import { misused, programOptions } from '../program-options.ts';
import { crowd } from './crowd.ts';
import { verdicts } from './report.ts';
import { inTables } from './table.ts';

const USAGE = 'npm run crowd -- [--minutes 60] [--seed 1] [--rate 3]';

const values = programOptions(USAGE, {
  minutes: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  rate: { type: 'string', default: '3' },
});
const [minutes, seed, rate] = [values.minutes, values.seed, values.rate].map(Number);
if (!minutes || !rate || seed === undefined || !(minutes > 0) || !(rate > 0) || Number.isNaN(seed)) {
  misused(USAGE);
}
const found = await crowd({ seconds: minutes * 60, seed, rate });
process.stdout.write(inTables(found));
process.exitCode = verdicts(found).every(({ holds }) => holds) ? 0 : 1;
