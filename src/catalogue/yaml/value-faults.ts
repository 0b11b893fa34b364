/** What is YAML and has no value that JSON could have, or another than the one that is written. */
import { type Document, isAlias, isCollection, isPair, isScalar, type Node, visit } from 'yaml';

export interface ValueFault {
  /** In characters of the file. */
  readonly offset: number;
  readonly message: string;
  /** What to write instead. */
  readonly expected: string;
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
export const isSameKey = (one: unknown, other: unknown): boolean =>
  one === other || (isScalar(one) && nameOf(one) === nameOf(other));

/** All of them in a document. */
export function valueFaults(yaml: Document.Parsed): ValueFault[] {
  const faults: ValueFault[] = [];
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
  return faults;
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
