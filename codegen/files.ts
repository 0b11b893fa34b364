import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How a generated file differs from what it should be. `left-over`: nothing generates it any more. */
interface Difference {
  readonly path: string;
  readonly state: 'stale' | 'missing' | 'left-over';
}

function present(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(directory, path)).isFile(),
  );
}

/**
 * What in `directory` differs from `files` (path below it -> text), sorted by path. Other files are left over, unless the
 * directory is `shared` with files that are nobody's business here.
 */
export function differences(directory: string, files: ReadonlyMap<string, string>, shared = false): Difference[] {
  const found: Difference[] = [];
  for (const [path, text] of files) {
    const location = join(directory, path);
    if (!existsSync(location)) found.push({ path, state: 'missing' });
    else if (readFileSync(location, 'utf8') !== text) found.push({ path, state: 'stale' });
  }
  for (const path of shared ? [] : present(directory)) if (!files.has(path)) found.push({ path, state: 'left-over' });
  return found.sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** Makes `directory` hold `files`, and nothing else where it is not `shared`; gives what had to be changed. */
export function write(directory: string, files: ReadonlyMap<string, string>, shared = false): Difference[] {
  const changed = differences(directory, files, shared);
  for (const { path, state } of changed) {
    const location = join(directory, path);
    if (state === 'left-over') rmSync(location);
    else {
      mkdirSync(dirname(location), { recursive: true });
      writeFileSync(location, files.get(path) ?? '');
    }
  }
  return changed;
}
