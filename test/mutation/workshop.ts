/** A copy of the project that holds all mutants, compiled once, and its tests, run with one of them or none. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMPILED } from '../words-for.ts';
import { type Mutant, mutatedBy } from './mutants.ts';

const PARTS = ['src', 'test', 'catalogue', 'codegen', 'generated', 'package.json', 'tsconfig.json', 'README.md'];
/** Without a mistake, and on a machine that has other work. */
const LONGEST_TEST_MS = 600_000;
/** With one: a test that waits for ever has noticed it, one that takes a little longer has not. */
const TIMES_AS_LONG = 3;

/** A test file, and what it meets where nobody has made a mistake. */
export interface Test {
  readonly name: string;
  readonly milliseconds: number;
  /** The mutants whose place it comes by. */
  readonly reaches: ReadonlySet<number>;
}

export interface Workshop {
  readonly mutants: readonly Mutant[];
  /** Undefined where the test fails although nobody has made a mistake, or takes longer than so many milliseconds. */
  known(name: string, longest?: number): Promise<Test | undefined>;
  notices(test: Test, mutant: Mutant): Promise<boolean>;
  close(): void;
}

/** With the mistakes of some files, to be looked for by some tests. */
export async function openWorkshop(files: readonly string[], tests: readonly string[]): Promise<Workshop> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-mutation-'));
  for (const part of PARTS) cpSync(part, join(directory, part), { recursive: true });
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));

  const mutants: Mutant[] = [];
  for (const file of files) {
    const mutated = mutatedBy(file, readFileSync(file, 'utf8'), mutants.length);
    writeFileSync(join(directory, file), mutated.text);
    mutants.push(...mutated.mutants);
  }
  // The environment reaches the processes and threads that a test starts, too.
  const first = `--import=${pathToFileURL(join(directory, 'test/mutation/switch.js'))}`;

  async function succeeds(words: readonly string[], longest: number, environment = {}): Promise<boolean> {
    const child = spawn(process.execPath, words, {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'ignore'],
      // With all that it started.
      detached: true,
      // The time is this trial's to say, not the test's own.
      env: { ...process.env, NODE_OPTIONS: first, TAP_TIMEOUT: String(LONGEST_TEST_MS / 1000), ...environment },
    });
    const end = () => child.pid && process.kill(-child.pid, 'SIGKILL');
    const timer = setTimeout(end, longest);
    // Nobody waits for the rest of what has failed.
    child.stdout.setEncoding('utf8').on('data', (text: string) => /^ *not ok /m.test(text) && end());
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    return code === 0;
  }

  const passes = (name: string, longest: number, environment: { readonly [name: string]: string }) =>
    succeeds(['--import=./test/preload.js', join(COMPILED, name.replace(/\.ts$/, '.js'))], longest, environment);

  if (!(await succeeds(['--import=tsx', 'test/compile.ts', ...tests], LONGEST_TEST_MS))) {
    throw new Error(`${directory} could not be compiled`);
  }
  let told = 0;
  return {
    mutants,
    async known(name, longest = LONGEST_TEST_MS) {
      told += 1;
      const file = join(directory, `reached-${told}`);
      const start = Date.now();
      if (!(await passes(name, longest, { TURNPIKE_REACHED: file }))) return undefined;
      const reached = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
      return { name, milliseconds: Date.now() - start, reaches: new Set(reached) };
    },
    notices: async ({ name, milliseconds }, { id }) =>
      !(await passes(name, 10_000 + TIMES_AS_LONG * milliseconds, { TURNPIKE_MUTANT: String(id) })),
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}
