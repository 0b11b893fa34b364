import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import type { CheckedCatalogue } from '../checked.ts';
import { compareDiagnostics, type Diagnostic } from './diagnostic.ts';

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
  /** What is YAML and has no value that JSON could have. */
  readonly faults: readonly { readonly offset: number; readonly message: string; readonly expected: string }[];
  readonly lineCounter: LineCounter;
}

/** A few lines of aliases of aliases can stand for more than a machine holds. */
const MOST_VALUES = 1_000_000;

const YAML_TAG = 'tag:yaml.org,2002:';

/** Those of JSON's types; what has another would be read as if it had none, or as what JSON does not have. */
const TAGS = new Set(['!', ...['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => YAML_TAG + name)]);

/** How whole numbers are written; some lose digits, zeros before them or a plus when they are read. */
const WHOLE = /^[-+]?[0-9]+$/;

const nameOf = (key: unknown): string | undefined => (isScalar(key) ? String(key.value ?? '') : undefined);

/** Whether two keys are one in an object: `1` and `"1"` are. */
const isSameKey = (one: unknown, other: unknown): boolean =>
  one === other || (isScalar(one) && nameOf(one) === nameOf(other));

function parse(text: string): Parsed {
  const lineCounter = new LineCounter();
  const yaml = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    keepSourceTokens: false,
    uniqueKeys: isSameKey,
  });
  const faults: { offset: number; message: string; expected: string }[] = [];
  const add = (node: Node, message: string, expected: string) =>
    faults.push({ offset: node.range?.[0] ?? 0, message, expected });
  visit(yaml, {
    Node(_key, node) {
      const tag = (isScalar(node) || isCollection(node)) && node.tag;
      if (tag && !TAGS.has(tag)) add(node, `the tag ${tag.replace(YAML_TAG, '!!')} means nothing here`, 'leave it out');
      if (!isScalar(node) || typeof node.value !== 'number' || !WHOLE.test(node.source ?? '')) return;
      const { source, value } = node;
      if (String(value) === source) return;
      add(node, `${source} is read as ${value}`, `write "${source}" for a text, or another number`);
    },
    Alias(_key, alias, path) {
      const { source } = alias;
      const anchored = alias.resolve(yaml);
      if (!anchored) add(alias, `there is no anchor &${source} above`, 'write the name without *');
      else if (path.includes(anchored)) {
        add(alias, `*${source} stands within what it stands for`, 'write out what is meant');
      }
    },
    Pair(_key, { key }) {
      if (!isScalar(key) || key.value !== '<<' || key.type !== 'PLAIN') return;
      add(key, 'YAML 1.2 has no key << that merges', 'write out its keys');
    },
  });
  if (faults.length === 0 && valuesIn(yaml.contents, yaml) > MOST_VALUES) {
    const message = `there are more than ${MOST_VALUES} values in it, its aliases written out`;
    faults.push({ offset: 0, message, expected: 'write fewer' });
  }
  return { lineCounter, yaml, faults };
}

/** How many values there are in a part of a document, with each alias written out. No alias stands within itself. */
function valuesIn(part: unknown, document: Document, counted = new Map<unknown, number>()): number {
  if (isAlias(part)) return valuesIn(part.resolve(document), document, counted);
  if (isPair(part)) return valuesIn(part.value, document, counted);
  if (!isCollection(part)) return 1;
  const known = counted.get(part);
  if (known !== undefined) return known;
  const count = part.items.reduce<number>((sum, item) => sum + valuesIn(item, document, counted), 1);
  counted.set(part, count);
  return count;
}

const offsetPosition = ({ lineCounter }: Parsed, offset: number) => {
  const { line, col } = lineCounter.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
};

/**
 * Reads one file; YAML errors and duplicate keys go to `diagnostics`, with the file's value left undefined. A file whose
 * value `checked` knows is parsed only to say where something stands.
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
