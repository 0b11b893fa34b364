import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A short name for what the YAML files in a directory say, the same wherever it stands. */
export function versionOf(directory: string): string {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name));
  const hash = createHash('sha256');
  for (const name of names.sort()) {
    hash.update(JSON.stringify([name.split(sep).join('/'), readFileSync(join(directory, name), 'utf8')]));
  }
  return hash.digest('hex').slice(0, 12);
}
