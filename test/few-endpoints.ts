/** Catalogues that load in a fraction of the time that the shipped one takes. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

const ENDPOINTS = join('catalogue', 'endpoints');

/** Copies the shipped catalogue, but of its endpoints only those that are named, or folders of them: `llm/vendor5-k3`, `shop`. */
export function copySelling(sold: readonly string[], directory: string): void {
  const isSold = (file: string) =>
    sold.some((name) => file === join(ENDPOINTS, `${name}.yaml`) || file.startsWith(join(ENDPOINTS, name, '/')));
  const filter = (file: string) => !file.startsWith(ENDPOINTS) || !file.endsWith('.yaml') || isSold(file);
  cpSync('catalogue', directory, { recursive: true, filter });
}

/** One in the test's own directory, which is made anew: ask for the directory itself no more afterwards. */
export function catalogueOf(t: Test, sold: readonly string[]): string {
  const directory = join(t.testdir({}), 'catalogue');
  copySelling(sold, directory);
  return directory;
}
