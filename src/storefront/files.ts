/** The scripts and styles of the pages, as they were built into `generated/storefront/`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Document, makeDocument } from '../discovery/document.ts';

/** Beside the sources, or beside what was built of them. */
const DIRECTORY = join(import.meta.dirname, '..', '..', 'generated', 'storefront');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** Name -> file. */
export function builtFiles(): ReadonlyMap<string, Document> {
  const names = existsSync(DIRECTORY) ? readdirSync(DIRECTORY) : [];
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)];
      return type === undefined ? [] : [[name, makeDocument(readFileSync(join(DIRECTORY, name), 'utf8'), type)]];
    }),
  );
}
