/** A copy of the project in which a mutant can live while the tests look for it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { COMPILED } from '../words-for.ts';
import type { Mutant } from './mutants.ts';

const PARTS = ['src', 'test', 'catalogue', 'codegen', 'generated', 'package.json', 'tsconfig.json', 'README.md'];
/** A test that waits for ever has noticed. */
const LONGEST_TEST_MS = 180_000;

export interface Workshop {
  /** The test that fails with the mutant; undefined where none does. */
  noticedBy(file: string, mutant: Mutant, tests: readonly string[]): Promise<string | undefined>;
  close(): void;
}

export function openWorkshop(): Workshop {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-mutation-'));
  for (const part of PARTS) cpSync(part, join(directory, part), { recursive: true });
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));

  async function succeeds(words: readonly string[]): Promise<boolean> {
    const child = spawn(process.execPath, words, {
      cwd: directory,
      stdio: 'ignore',
      // With all that it started.
      detached: true,
      env: { ...process.env, TAP_BAIL: '1' },
    });
    const timer = setTimeout(() => child.pid && process.kill(-child.pid, 'SIGKILL'), LONGEST_TEST_MS);
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    return code === 0;
  }

  const passes = (test: string): Promise<boolean> =>
    succeeds(['--import=./test/preload.js', join(COMPILED, test.replace(/\.ts$/, '.js'))]);

  return {
    async noticedBy(file, { start, end, replacement }, tests) {
      const path = join(directory, file);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.slice(0, start) + replacement + text.slice(end));
      try {
        if (!(await succeeds(['--import=tsx', 'test/compile.ts', ...tests]))) throw new Error(`${file}: not compiled`);
        for (const test of tests) if (!(await passes(test))) return test;
        return undefined;
      } finally {
        writeFileSync(path, text);
      }
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}
