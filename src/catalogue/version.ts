import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { CatalogueErrors, type Diagnostic } from './yaml/diagnostic.ts';
import { unread, yamlFilesBelow } from './yaml/yaml-files.ts';

/**
 * A short name for what the YAML files in a directory say, the same wherever it stands. Throws CatalogueErrors, with all
 * of them that the system does not let be read.
 */
export function versionOf(directory: string): string {
  const hash = createHash('sha256');
  const problems: Diagnostic[] = [];
  for (const name of yamlFilesBelow(directory)) {
    const path = join(directory, name);
    try {
      hash.update(JSON.stringify([name.split(sep).join('/'), readFileSync(path, 'utf8')]));
    } catch (error) {
      problems.push(unread(path, 'file', error));
    }
  }
  if (problems.length > 0) throw new CatalogueErrors(problems);
  return hash.digest('hex').slice(0, 12);
}
