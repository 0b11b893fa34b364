/** What a build was made from, so that one that is out of date is not run in place of its sources. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Beside what was built: path -> the source. */
export const SOURCES = 'sources.json';

export interface Source {
  readonly digest: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly written: number;
}

const digestOf = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('base64url').slice(0, 22);

/** Throws where there is no such file. */
export function sourceOf(file: string): Source {
  const { size, mtimeMs } = statSync(file);
  return { digest: digestOf(file), bytes: size, written: mtimeMs };
}

/** By content, for copies and checkouts have times of their own; what was not written since is not read: 40 ms of a start. */
function isChanged(file: string, { digest, bytes, written }: Source): boolean {
  const now = statSync(file, { throwIfNoEntry: false });
  if (now?.size !== bytes) return true;
  return now.mtimeMs !== written && digestOf(file) !== digest;
}

/**
 * The first source below `root` that is not what the build in `directory` was made from; undefined where all are, or where
 * there are none: in a package.
 */
export function changedSource(directory: string, root: string): string | undefined {
  if (!existsSync(join(root, 'src', 'built.ts'))) return undefined;
  const sources: Record<string, Source> = JSON.parse(readFileSync(join(directory, SOURCES), 'utf8'));
  return Object.entries(sources).find(([file, source]) => isChanged(join(root, file), source))?.[0];
}
