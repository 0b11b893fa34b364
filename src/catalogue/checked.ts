/**
 * Schemas that were found sound together with their examples. Compiling every schema is most of what reading a catalogue
 * takes, so a start that finds nothing new skips it; whatever changed is checked as ever.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

export interface CheckedSchemas {
  has(schema: unknown, examples: unknown): boolean;
  add(schema: unknown, examples: unknown): void;
}

/** Raised when the checks themselves change: what passed the old ones is then checked again. */
const CHECKS = 2;

const keyOf = (schema: unknown, examples: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([CHECKS, schema, examples]))
    .digest('base64url');

/** Remembers for as long as the process runs. */
export function checkedSchemas(known: Iterable<string> = []): CheckedSchemas & { keys(): readonly string[] } {
  const keys = new Set(known);
  return {
    has: (schema, examples) => keys.has(keyOf(schema, examples)),
    add: (schema, examples) => void keys.add(keyOf(schema, examples)),
    keys: () => [...keys],
  };
}

/** Remembers in a file. One that is not there or cannot be read is empty: then everything is checked. */
export function checkedSchemasIn(file: string): CheckedSchemas & { save(): void } {
  const known = readKeys(file);
  const checked = checkedSchemas(known);
  return {
    has: checked.has,
    add: checked.add,
    save() {
      const keys = checked.keys();
      if (keys.length === known.length) return;
      mkdirSync(dirname(file), { recursive: true });
      // Whoever writes it at the same time has a part of its own.
      const part = `${file}.${process.pid}.part`;
      writeFileSync(part, JSON.stringify(keys));
      renameSync(part, file);
    },
  };
}

function readKeys(file: string): string[] {
  try {
    const keys: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [];
  } catch {
    return [];
  }
}
