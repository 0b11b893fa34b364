import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { CheckedCatalogue } from '../checked.ts';
import { compareDiagnostics, type Diagnostic } from './diagnostic.ts';
import { isSameKey, type ValueFault, valueFaults } from './value-faults.ts';

export type Step = string | number;

/** One file of the catalogue: its value, and where each part of it stands. */
export interface CatalogueDocument {
  /** Relative to the working directory. */
  readonly file: string;
  /** Undefined when the file is not YAML, or empty. */
  readonly value: unknown;
  /** Line and column of the key or value at `path`, or of the nearest part that is there. */
  position(path: readonly Step[], part: 'key' | 'value'): { line: number; column: number };
  /** A scalar as it is written: `0.050`, not 0.05. */
  source(path: readonly Step[]): string | undefined;
}

/** Where something stands. `part` is the key or, by default, the value. */
export interface SourceLocation {
  readonly document: CatalogueDocument;
  readonly path: readonly Step[];
  readonly part?: 'key' | 'value';
}

export const below = (location: SourceLocation, ...steps: readonly Step[]): SourceLocation => ({
  document: location.document,
  path: [...location.path, ...steps],
});

export const keyOf = (location: SourceLocation): SourceLocation => ({ ...location, part: 'key' });

/** `mirrors[0].price`: a path for people. */
export function pathName(path: readonly Step[]): string {
  let name = '';
  for (const step of path) name += typeof step === 'number' ? `[${step}]` : name === '' ? step : `.${step}`;
  return name;
}

/** Collects every mistake, whoever finds it. */
export class Diagnostics {
  readonly #found = new Map<string, Diagnostic>();

  add(location: SourceLocation, message: string, expected?: string): void {
    const { line, column } = location.document.position(location.path, location.part ?? 'value');
    const diagnostic = { file: location.document.file, line, column, message, expected };
    this.#found.set(`${diagnostic.file}:${line}:${column}:${message}`, diagnostic);
  }

  get count(): number {
    return this.#found.size;
  }

  sorted(): Diagnostic[] {
    return [...this.#found.values()].sort(compareDiagnostics);
  }
}

function childOf(node: unknown, step: Step): { key: Node; value: unknown } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item === undefined ? undefined : { key: item as Node, value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step));
  return pair && { key: pair.key as Node, value: pair.value ?? pair.key };
}

function walk(root: unknown, path: readonly Step[]): { key: Node | undefined; value: unknown; complete: boolean } {
  let key: Node | undefined;
  let value = root;
  for (const step of path) {
    const child = childOf(value, step);
    if (!child) return { key, value, complete: false };
    ({ key, value } = child);
  }
  return { key, value, complete: true };
}

interface Parsed {
  readonly yaml: Document.Parsed;
  readonly faults: readonly ValueFault[];
  readonly lineCounter: LineCounter;
}

function parse(text: string): Parsed {
  const lineCounter = new LineCounter();
  const options = { lineCounter, prettyErrors: false, keepSourceTokens: false, uniqueKeys: isSameKey };
  const yaml = parseDocument(text, options);
  return { lineCounter, yaml, faults: valueFaults(yaml) };
}

const offsetPosition = ({ lineCounter }: Parsed, offset: number) => {
  const { line, col } = lineCounter.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
};

/**
 * Reads one file; YAML errors and duplicate keys go to `diagnostics`, with the file's value left undefined. A file whose
 * value is known, or that is sound YAML, is parsed anew only to say where something stands.
 */
export function readDocument(
  path: string,
  diagnostics: Diagnostics,
  checked?: Pick<CheckedCatalogue, 'valueOf' | 'addValue'>,
): CatalogueDocument {
  const file = relative(process.cwd(), path);
  const text = readFileSync(path, 'utf8');
  let last: Parsed | undefined;
  const parsed = () => {
    last ??= parse(text);
    return last;
  };
  const known = checked?.valueOf(text);
  const value = known ?? contentOf(parsed());
  // It takes many times the memory of the value, and is seldom asked where something stands.
  if (value !== undefined) last = undefined;
  const document: CatalogueDocument = {
    file,
    value,
    position(steps, part) {
      const { key, value, complete } = walk(parsed().yaml.contents, steps);
      const node = complete && part === 'value' ? (value as Node | null) : (key ?? (value as Node | null));
      return offsetPosition(parsed(), node?.range?.[0] ?? 0);
    },
    source(steps) {
      const { value, complete } = walk(parsed().yaml.contents, steps);
      return complete && isScalar(value) ? value.source : undefined;
    },
  };
  if (known !== undefined) return document;
  if (value === undefined) reportUnreadable(document, parsed(), text, diagnostics);
  else checked?.addValue(text, value);
  return document;
}

const contentOf = ({ yaml, faults }: Parsed): unknown =>
  yaml.errors.length > 0 || faults.length > 0 || yaml.contents === null ? undefined : yaml.toJS({ maxAliasCount: -1 });

function reportUnreadable(document: CatalogueDocument, parsed: Parsed, text: string, diagnostics: Diagnostics): void {
  const { faults } = parsed;
  const { errors } = parsed.yaml;
  const at = (offset: number): SourceLocation => ({
    document: { ...document, position: () => offsetPosition(parsed, offset) },
    path: [],
  });
  if (errors.length === 0 && faults.length === 0) {
    diagnostics.add({ document, path: [] }, 'the file is empty', 'write it, or remove it');
  }
  for (const { offset, message, expected } of faults) diagnostics.add(at(offset), message, expected);
  for (const error of errors) {
    const duplicate = error.code === 'DUPLICATE_KEY';
    const written = /^[^\s:]+/.exec(text.slice(error.pos[0]))?.[0] ?? '';
    diagnostics.add(
      at(error.pos[0]),
      duplicate ? `the key ${written} is there twice` : `not YAML: ${error.message}`,
      duplicate ? 'keep one of the two' : undefined,
    );
  }
}
