import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { codeOf } from '../error-code.ts';
import { CatalogueErrors, type Diagnostic } from './yaml/diagnostic.ts';
import { yamlFilesBelow } from './yaml/yaml-files.ts';

/**
 * A short name for what the YAML files in a directory say, the same wherever it stands. Throws CatalogueErrors, with all
 * of them that the system does not let be read.
 */
export function versionOf(directory: string): string {
  const hash = createHash('sha256');
  const unread: Diagnostic[] = [];
  for (const name of yamlFilesBelow(directory)) {
    const path = join(directory, name);
    try {
      hash.update(JSON.stringify([name.split(sep).join('/'), readFileSync(path, 'utf8')]));
    } catch (error) {
      unread.push({
        file: relative(process.cwd(), path),
        line: 1,
        column: 1,
        message: `this file cannot be read (${codeOf(error)})`,
        expected: 'let this user read it, or take it away',
      });
    }
  }
  if (unread.length > 0) throw new CatalogueErrors(unread);
  return hash.digest('hex').slice(0, 12);
}
