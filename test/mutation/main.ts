/**
 * `npm run mutate -- [--files src/payment/claim.ts] [--sample 50] [--seed 1] [--minutes 30]`: makes small mistakes in the
 * code that money depends on, one at a time, and looks whether a test fails with each. Prints those that no test notices,
 * and exits 1 where they are more than one in ten.
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
    minutes: { type: 'string', default: '1440' },
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
const until = Date.now() + Number(values.minutes) * 60_000;
let noticed = 0;
let tried = 0;

/** File -> test -> how many mistakes in the file it has noticed. */
const notices = new Map<string, Map<string, number>>();

/** What has noticed most in a file is likely to notice the next. */
function likeliestFirst({ file, tests }: Trial): string[] {
  const counts = notices.get(file);
  return tests.toSorted((one, other) => (counts?.get(other) ?? 0) - (counts?.get(one) ?? 0));
}

function remember(file: string, test: string): void {
  const counts = notices.get(file) ?? new Map<string, number>();
  notices.set(file, counts.set(test, (counts.get(test) ?? 0) + 1));
}

async function work(): Promise<void> {
  const workshop = openWorkshop();
  try {
    for (let trial = waiting.shift(); trial && Date.now() < until; trial = waiting.shift()) {
      const { file, mutant } = trial;
      const by = await workshop.noticedBy(file, mutant, likeliestFirst(trial));
      tried += 1;
      if (by === undefined) {
        print(`survived  ${file}:${mutant.line}  ${inOneLine(mutant.original)} -> ${mutant.replacement}`);
      } else {
        noticed += 1;
        remember(file, by);
      }
    }
  } finally {
    workshop.close();
  }
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 120);

await Promise.all(Array.from({ length: WORKERS }, work));
print(`${noticed} of ${tried} noticed (${((100 * noticed) / Math.max(1, tried)).toFixed(1)} %)`);
if (noticed < tried * LEAST_NOTICED) process.exitCode = 1;
