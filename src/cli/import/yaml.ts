/** Files of a catalogue as a person would write them. */
import {
  Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';

const STYLE = { lineWidth: 120, aliasDuplicateObjects: false, flowCollectionPadding: true } as const;
/** What fits here is written on one line. */
const SHORT = 90;

/** A file. Small maps and lists stand on one line, as `price: { rule: fixed, amount: "0.01" }`. */
export function fileYaml(file: object, comment?: string): string {
  return `${comment === undefined ? '' : `${comment}\n`}${yamlOf(file, 0)}`;
}

/** `blocks`: so many levels stand in lines of their own however short they are. */
function yamlOf(file: object, blocks: number): string {
  const document = new Document(file, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      const { value } = node;
      if (key === 'key' || typeof value !== 'string') return;
      // A block would lose a line of nothing but spaces.
      if (/[\n\r]/.test(value)) node.type = 'QUOTE_DOUBLE';
      else if (value.length > SHORT && /^\S.*\S$/.test(value)) node.type = 'BLOCK_FOLDED';
    },
    Collection(_key, node, path) {
      const depth = path.filter(isMap).length;
      if (depth <= blocks || !isShort(node)) return undefined;
      node.flow = true;
      return visit.SKIP;
    },
  });
  return document.toString(STYLE);
}

function isShort(node: YAMLMap | YAMLSeq): boolean {
  // First, for it looks no further down.
  if (hasDepth(node)) return false;
  const json = JSON.stringify(node);
  return json.length <= SHORT && !/\\[nr]/.test(json);
}

const inside = (node: unknown): unknown[] =>
  isCollection(node) ? node.items.map((item) => (isPair(item) ? item.value : item)) : [];

/** True where maps and lists stand in one another. */
const hasDepth = (node: YAMLMap | YAMLSeq): boolean => inside(node).some((inner) => inside(inner).some(isCollection));

/** The text of `upstreams.yaml` with one entry more behind all others. Whatever else it says stays as it is. */
export function withUpstream(text: string, name: string, entry: object): string {
  const added = yamlOf({ [name]: entry }, 1);
  const { contents } = parseDocument(text);
  const hasEntries = isMap(contents) && contents.items.length > 0;
  if (hasEntries) return `${text.trimEnd()}\n\n${added}`;
  const isEmptyMap = isMap(contents) || (isScalar(contents) && contents.value === null);
  return `${isEmptyMap ? text.replace(/^\{\s*\}\s*$/m, '') : text}${added}`;
}
