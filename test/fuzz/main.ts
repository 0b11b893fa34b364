/**
 * Whatever a stranger may send, at every path of a gateway in its sandbox. Prints what breaks a promise with what repeats
 * it, and exits 1.
 */
import { misused, programOptions } from '../program-options.ts';
import { fuzz } from './fuzz.ts';
import type { Size } from './measured-gateway.ts';
import type { Found } from './probe.ts';

const USAGE = 'npm run fuzz -- [--minutes 10 | --seconds 30] [--seed 1] [--only <probe>]';

const values = programOptions(USAGE, {
  minutes: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
});
const seconds = values.seconds === undefined ? Number(values.minutes ?? '1') * 60 : Number(values.seconds);
const seed = Number(values.seed);
if (!(seconds > 0) || !Number.isInteger(seed)) misused(USAGE);

const LONGEST_SHOWN = 4_000;
let violations = 0;

function report({ probe, seed: ofRound, what, reproduction }: Found): void {
  violations += 1;
  process.stdout.write(
    `\n${probe}: ${what}\n  again: npm run fuzz -- ${probe === 'all' ? '' : `--only '${probe}' `}--seed ${ofRound}\n  by hand: ${reproduction.slice(0, LONGEST_SHOWN)}\n`,
  );
}

console.log(`fuzzing for ${seconds} s with seed ${seed}`);
const { inputs, statuses, sizes, leftovers } = await fuzz({ seconds, seed, only: values.only, report });
const counted = (counts: ReadonlyMap<string | number, number>) =>
  [...counts]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
const through = (figure: (size: Size) => string | number) =>
  [sizes.start, sizes.middle, sizes.end].map(figure).join(' -> ');
console.log(
  [
    '',
    `inputs    ${counted(inputs)}`,
    `answers   ${counted(statuses)}`,
    `heap      ${through(({ heapMegabytes }) => heapMegabytes.toFixed(0))} MB; open files ${through(({ descriptors }) => descriptors)}`,
    ...leftovers,
    violations + leftovers.length === 0
      ? 'every promise held'
      : `${violations + leftovers.length} promises did not hold`,
  ].join('\n'),
);
if (violations + leftovers.length > 0) process.exitCode = 1;
