/** The manual: README.md on top, and the pages beside the code that they describe. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const below = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.includes('templates'))
    .map((path) => join(directory, path));

/** Path -> text. */
export const pages: ReadonlyMap<string, string> = new Map(
  ['README.md', 'catalogue/README.md', 'test/README.md', ...below('src')].map((path) => [
    path,
    readFileSync(path, 'utf8'),
  ]),
);

/** All of it, one page after the other. */
export const manual = [...pages.values()].join('\n');
