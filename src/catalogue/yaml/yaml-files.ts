import { existsSync, readdirSync } from 'node:fs';

/** A lock that an editor leaves beside what is edited, a system's note on a file: no part of the catalogue. */
const HIDDEN = /(^|[/\\])\./;

/** Names of the YAML files below a directory, sorted; none where there is no such directory. */
export function yamlFilesBelow(directory: string): string[] {
  const names = existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [];
  return names.filter((name) => /\.ya?ml$/.test(name) && !HIDDEN.test(name)).sort();
}
