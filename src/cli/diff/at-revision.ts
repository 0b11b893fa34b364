import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageProblem } from '../command-line.ts';

const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Calls `use` with a copy of `directory` as it was committed at a revision of the git repository that it lies in. The
 * copy is removed afterwards. Throws UsageProblem for what git does not know.
 */
export function atRevision<Result>(directory: string, revision: string, use: (copy: string) => Result): Result {
  if (!existsSync(directory))
    throw new UsageProblem(`there is no ${directory}; TURNPIKE_CATALOGUE names the catalogue`);
  const git = (...words: string[]) => run('git', ['-C', directory, ...words]);
  git('rev-parse', '--show-toplevel').orThrow(`${directory} is in no git repository`);
  const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)
    .orThrow(`git knows no revision ${revision}; see git log, and fetch it where the clone is shallow`)
    .toString()
    .trim();
  // In a folder git archives that folder alone.
  const archive = git('archive', '--format=tar', commit).orThrow(`${revision} has no ${directory}`);
  const copy = mkdtempSync(join(tmpdir(), 'turnpike-diff-'));
  try {
    run('tar', ['-x', '-f', '-', '-C', copy], archive).orThrow(`${directory} of ${revision} could not be unpacked`);
    return use(copy);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Runs a program to its end; what it printed, or a UsageProblem with what it says of its failure. */
function run(program: string, words: readonly string[], input?: Buffer) {
  const { status, stdout, stderr, error } = spawnSync(program, words, { input, maxBuffer: MOST_BYTES });
  return {
    orThrow(wrong: string): Buffer {
      if (status === 0) return stdout;
      const reason = error ? `${program}: ${error.message}` : stderr.toString().trim();
      throw new UsageProblem(reason === '' ? wrong : `${wrong} (${reason})`);
    },
  };
}
