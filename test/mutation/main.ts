/**
 * Makes small mistakes in the code that money depends on, one at a time, and looks whether a test fails with each; with
 * `--within`, only tests that end within so many seconds look. Prints those that no test notices, and exits 1 where they
 * are more than one in ten.
 */
import { misused, programOptions } from '../program-options.ts';
import { randomFrom } from '../random.ts';
import type { Mutant } from './mutants.ts';
import { areas, filesOf } from './subjects.ts';
import { openWorkshop, type Test, type Workshop } from './workshop.ts';

const LEAST_NOTICED = 0.9;

const USAGE =
  'npm run mutate -- [--files <path>] [--tests <path>] [--sample 50] [--seed 1] [--minutes 30] [--within 5] [--workers 2]';

const values = programOptions(USAGE, {
  files: { type: 'string', multiple: true },
  tests: { type: 'string', multiple: true },
  sample: { type: 'string' },
  seed: { type: 'string', default: '1' },
  minutes: { type: 'string', default: '1440' },
  within: { type: 'string', default: '600' },
  workers: { type: 'string', default: '2' },
});

const print = (text: string) => process.stdout.write(`${text}\n`);
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 120);

/** Takes each in turn, as many at once as there are workers. */
async function forEach<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const work = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
}

const wanted = values.files && new Set(filesOf(values.files));
const chosen = areas
  .map(({ files, tests }) => ({ files: filesOf(files).filter((file) => wanted?.has(file) ?? true), tests }))
  .filter(({ files }) => files.length > 0);
const inAreas = chosen.flatMap(({ files }) => files);
const others = [...(wanted ?? [])].filter((file) => !inAreas.includes(file));
if (others.length > 0 && !values.tests)
  misused(`--files: name the tests of ${others.join(', ')} as well, with --tests`);
const names = [...new Set(filesOf(values.tests ?? chosen.flatMap(({ tests }) => tests)))];
const workshop = await openWorkshop([...inAreas, ...others], names);
try {
  await look(workshop);
} finally {
  workshop.close();
}

async function look({ mutants, known, notices }: Workshop): Promise<void> {
  const tests: Test[] = [];
  await forEach(names, async (name) => {
    const test = await known(name, Number(values.within) * 1000);
    if (test) tests.push(test);
    else print(`left out  ${name} does not pass within ${values.within} s without any mistake, either`);
  });
  tests.sort((one, other) => one.milliseconds - other.milliseconds);

  const random = randomFrom(Number(values.seed));
  const sampled = mutants
    .map((mutant) => ({ mutant, place: random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, Number(values.sample ?? mutants.length))
    .map(({ mutant }) => mutant);
  print(`${sampled.length} of ${mutants.length} mutants, ${tests.length} tests`);

  /** File -> test -> how many mistakes in the file it has noticed: it is likely to notice the next. */
  const counts = new Map<string, Map<Test, number>>();
  const noticing = async (mutant: Mutant): Promise<Test | undefined> => {
    const count = counts.get(mutant.file);
    const looking = tests
      .filter(({ reaches }) => reaches.has(mutant.id))
      .sort((one, other) => (count?.get(other) ?? 0) - (count?.get(one) ?? 0));
    for (const test of looking) if (await notices(test, mutant)) return test;
    return undefined;
  };

  const until = Date.now() + Number(values.minutes) * 60_000;
  let noticed = 0;
  let tried = 0;
  await forEach(sampled, async (mutant) => {
    if (Date.now() > until) return;
    const { file, line, original, replacement } = mutant;
    const by = await noticing(mutant);
    tried += 1;
    if (by === undefined) {
      const reached = tests.some(({ reaches }) => reaches.has(mutant.id));
      const how = reached ? 'survived ' : 'unreached';
      print(`${how}  ${file}:${line}  ${inOneLine(original)} -> ${inOneLine(replacement)}`);
      return;
    }
    noticed += 1;
    const count = counts.get(file) ?? new Map<Test, number>();
    counts.set(file, count.set(by, (count.get(by) ?? 0) + 1));
  });
  print(`${noticed} of ${tried} noticed (${((100 * noticed) / Math.max(1, tried)).toFixed(1)} %)`);
  if (noticed < tried * LEAST_NOTICED) process.exitCode = 1;
}
