import { existsSync, readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { codeOf } from '../../error-code.ts';
import { CatalogueErrors, type Diagnostic } from './diagnostic.ts';

/** A lock that an editor leaves beside what is edited, a system's note on a file: no part of the catalogue. */
const HIDDEN = /(^|[/\\])\./;

/** Names of the YAML files below a directory, sorted; none where there is no such directory. Throws CatalogueErrors. */
export function yamlFilesBelow(directory: string): string[] {
  const names = existsSync(directory) ? namesBelow(directory) : [];
  return names.filter((name) => /\.ya?ml$/.test(name) && !HIDDEN.test(name)).sort();
}

function namesBelow(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    const { path = directory } = error as NodeJS.ErrnoException;
    throw new CatalogueErrors([unread(path, 'folder', error)]);
  }
}

/** What to say of a file or folder at `path` that the system did not let be read. */
export const unread = (path: string, kind: 'file' | 'folder', error: unknown): Diagnostic => ({
  file: relative(process.cwd(), path),
  line: 1,
  column: 1,
  message: `this ${kind} cannot be read (${codeOf(error)})`,
  expected: 'let this user read it, or take it away',
});
