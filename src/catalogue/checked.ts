/**
 * What was found sound before: schemas together with their examples, and files with the values that they parse to. That is
 * most of what reading a catalogue takes, so a start that finds nothing new skips it; whatever changed is read and checked
 * as ever. All is known by its content, so that nothing that was remembered can be out of date.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../json.ts';
import { makeDirectory } from '../made-directory.ts';

export interface CheckedCatalogue {
  has(schema: unknown, examples: unknown): boolean;
  add(schema: unknown, examples: unknown): void;
  /** What a file of this text says, where that is known. */
  valueOf(text: string): unknown;
  addValue(text: string, value: unknown): void;
}

/** Raised when the checks themselves, or how files are parsed, change: what passed the old ones is then checked again. */
const CHECKS = 4;

/** A name for these, and for nothing else. */
export const digest = (...parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify([CHECKS, ...parts]))
    .digest('base64url');

interface Known {
  readonly schemas: readonly string[];
  /** Of a file's text -> what it says. */
  readonly values: Readonly<Record<string, unknown>>;
}

const NOTHING: Known = { schemas: [], values: {} };

/** Remembers for as long as the process runs. */
export function checkedCatalogue(before: readonly Known[] = []): CheckedCatalogue & { news(): Known | undefined } {
  const schemas = new Set(before.flatMap((known) => known.schemas));
  const values = new Map(before.flatMap((known) => Object.entries(known.values)));
  const used = new Map<string, unknown>();
  let isNew = false;
  return {
    has: (schema, examples) => schemas.has(digest(schema, examples)),
    add(schema, examples) {
      const key = digest(schema, examples);
      isNew ||= !schemas.has(key);
      schemas.add(key);
    },
    valueOf(text) {
      const key = digest(text);
      const value = used.get(key) ?? values.get(key);
      if (value !== undefined) used.set(key, value);
      return value;
    },
    addValue(text, value) {
      // YAML says more than JSON does: `.inf`.
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value)) return;
      isNew = true;
      used.set(digest(text), value);
    },
    /** All that is known now, without files that were not read again; undefined where nothing was learnt. */
    news: () => (isNew ? { schemas: [...schemas], values: Object.fromEntries(used) } : undefined),
  };
}

/**
 * Remembers in a file; `shipped` is another, which is only read. One that is not there or cannot be read is empty: then
 * everything is checked.
 */
export function checkedCatalogueIn(file: string, shipped?: string): CheckedCatalogue & { save(): void } {
  const before = [file, shipped].map((each) => (each === undefined ? NOTHING : readKnown(each)));
  const { news, ...checked } = checkedCatalogue(before);
  return {
    ...checked,
    save: () => saveChecked(file, news()),
  };
}

/** For `checkedCatalogueIn`; where nothing was learnt, or it cannot be written, the file stays as it is. */
export function saveChecked(file: string, known: Known | undefined): void {
  if (!known) return;
  // Whoever writes it at the same time has a part of its own.
  const part = `${file}.${process.pid}.part`;
  try {
    makeDirectory(dirname(file));
    writeFileSync(part, JSON.stringify(known));
    renameSync(part, file);
  } catch {
    // A full disk keeps no catalogue from being sold: it is checked again at the next start.
    rmSync(part, { force: true });
  }
}

function readKnown(file: string): Known {
  try {
    const { schemas, values } = JSON.parse(readFileSync(file, 'utf8'));
    if (!Array.isArray(schemas) || !isJsonObject(values)) return NOTHING;
    return { schemas: schemas.filter((key) => typeof key === 'string'), values };
  } catch {
    return NOTHING;
  }
}
