/** What a build was made from, so that one that is out of date is not run in place of its sources. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beside what was built: path -> digest of its content. */
export const SOURCES = 'sources.json';

export const digestOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('base64url').slice(0, 22);

/**
 * The first source below `root` that is not what the build in `directory` was made from; undefined where all are, or where
 * there are none: in a package. By content, for copies and checkouts have times of their own.
 */
export function changedSource(directory: string, root: string): string | undefined {
  if (!existsSync(join(root, 'src', 'built.ts'))) return undefined;
  const sources: Record<string, string> = JSON.parse(readFileSync(join(directory, SOURCES), 'utf8'));
  return Object.entries(sources).find(([file, digest]) => {
    const path = join(root, file);
    return !existsSync(path) || digestOf(path) !== digest;
  })?.[0];
}
