/** Files that show what an endpoint makes: `catalogue/samples/`, by the names that examples of results have them under. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const SAMPLES_PATH = '/storefront/samples';

const samplesIn = (catalogueDirectory: string): string => join(catalogueDirectory, 'samples');

export function samplesOf(catalogueDirectory: string): {
  readonly directory: string;
  readonly names: ReadonlySet<string>;
} {
  const directory = samplesIn(catalogueDirectory);
  return { directory, names: new Set(existsSync(directory) ? readdirSync(directory) : []) };
}
