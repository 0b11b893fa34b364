import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { yamlFilesBelow } from './yaml/yaml-files.ts';

/** A short name for what the YAML files in a directory say, the same wherever it stands. */
export function versionOf(directory: string): string {
  const hash = createHash('sha256');
  for (const name of yamlFilesBelow(directory)) {
    hash.update(JSON.stringify([name.split(sep).join('/'), readFileSync(join(directory, name), 'utf8')]));
  }
  return hash.digest('hex').slice(0, 12);
}
