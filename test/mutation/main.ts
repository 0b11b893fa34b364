/**
 * `npm run mutate -- [--files src/payment/claim.ts] [--sample 50] [--seed 1]`: makes small mistakes in the code that money
 * depends on, one at a time, and looks whether a test fails with each. Prints those that no test notices, and exits 1
 * where they are more than one in ten.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { randomFrom } from '../random.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { areas, filesOf } from './subjects.ts';
import { openWorkshop } from './workshop.ts';

const LEAST_NOTICED = 0.9;
const WORKERS = 2;

const { values } = parseArgs({
  options: {
    files: { type: 'string', multiple: true },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

interface Trial {
  readonly file: string;
  readonly mutant: Mutant;
  readonly tests: readonly string[];
}

const wanted = values.files;
const all: Trial[] = areas.flatMap(({ files, tests }) => {
  const subjects = filesOf(files).filter((file) => wanted === undefined || wanted.includes(file));
  const looking = filesOf(tests);
  return subjects.flatMap((file) =>
    mutantsOf(file, readFileSync(file, 'utf8')).map((mutant) => ({ file, mutant, tests: looking })),
  );
});

const random = randomFrom(Number(values.seed));
const trials =
  values.sample === undefined
    ? all
    : all
        .map((trial) => ({ trial, place: random() }))
        .sort((one, other) => one.place - other.place)
        .slice(0, Number(values.sample))
        .map(({ trial }) => trial);

const print = (text: string) => process.stdout.write(`${text}\n`);
print(`${trials.length} of ${all.length} mutants`);

const waiting = [...trials];
let noticed = 0;
let tried = 0;

async function work(): Promise<void> {
  const workshop = openWorkshop();
  try {
    for (let trial = waiting.shift(); trial; trial = waiting.shift()) {
      const { file, mutant, tests } = trial;
      const by = await workshop.noticedBy(file, mutant, tests);
      tried += 1;
      if (by === undefined)
        print(`survived  ${file}:${mutant.line}  ${inOneLine(mutant.original)} -> ${mutant.replacement}`);
      else noticed += 1;
    }
  } finally {
    workshop.close();
  }
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 120);

await Promise.all(Array.from({ length: WORKERS }, work));
print(`${noticed} of ${tried} noticed (${((100 * noticed) / Math.max(1, tried)).toFixed(1)} %)`);
if (noticed < tried * LEAST_NOTICED) process.exitCode = 1;
