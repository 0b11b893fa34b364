/** Every key that a schema of files knows, as rows of a table: its type, its default, what it is and an example. */
import { stringify } from 'yaml';
import { duration } from '../src/catalogue/files/common.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../src/json.ts';

interface Key {
  /** `mirrors`, `[]`, `path`; `<name>` stands for names of one's own. */
  readonly path: readonly string[];
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

const ITEM = '[]';
export const NAME = '<name>';

/** The keys of a schema's objects, those inside of others after them. What is a part of its own is described there. */
function keysOf(schema: unknown, path: readonly string[] = []): Key[] {
  if (!isJsonObject(schema) || (path.length > 0 && schema['x-part'] !== undefined)) return [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const named = Object.entries(asJsonObject(schema.properties)).flatMap(([name, inner]): Key[] => {
    const at = [...path, name];
    return [{ path: at, schema: asJsonObject(inner), isRequired: required.includes(name) }, ...keysOf(inner, at)];
  });
  return [
    ...named,
    ...formsOf(schema).flatMap((form) => keysOf(form, path)),
    ...keysOf(schema.items, [...path, ITEM]),
    ...keysOf(schema.additionalProperties, [...path, NAME]),
  ];
}

/** Every value at a path. */
function valuesAt(value: unknown, [step, ...rest]: readonly string[]): unknown[] {
  if (step === undefined) return value === undefined ? [] : [value];
  if (step === ITEM) return (Array.isArray(value) ? value : []).flatMap((item) => valuesAt(item, rest));
  if (!isJsonObject(value)) return [];
  return step === NAME ? Object.values(value).flatMap((each) => valuesAt(each, rest)) : valuesAt(value[step], rest);
}

const LONGEST = 72;

/** As code in a cell of a table. */
export const code = (text: string): string => {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST).trimEnd()}...` : text;
  return `\`${short.replaceAll('`', "'").replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')}\``;
};

/** In one line, as the catalogue's files are written. */
const inYaml = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim().replaceAll('[ ', '[').replaceAll(' ]', ']');

/** The ways of writing a value that a schema allows one of. */
const formsOf = (schema: JsonObject): JsonObject[] =>
  [schema.anyOf, schema.oneOf, schema.then, schema.else].flat().filter(isJsonObject);

/** A value that the schema names, or that is made of those that the schemas in it name. */
function sampleOf(schema: JsonObject): unknown {
  const { examples, enum: choices, const: only, default: fallback, type, items, additionalProperties: named } = schema;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  for (const said of [examples, choices]) if (Array.isArray(said)) return said[0];
  if (type === 'boolean') return fallback !== true;
  if (only !== undefined || fallback !== undefined) return only ?? fallback;
  const [form] = formsOf(schema);
  if (form) return sampleOf(form);
  if (isJsonObject(items)) return [sampleOf(items)];
  const inner = Object.entries(asJsonObject(schema.properties));
  const shown = inner.filter(([name], index) => (required.length > 0 ? required.includes(name) : index === 0));
  if (shown.length > 0) return Object.fromEntries(shown.map(([name, each]) => [name, sampleOf(asJsonObject(each))]));
  if (isJsonObject(named)) return { name: sampleOf(named) };
  return schema.minimum;
}

/** As the first of the files that have the key has it, else as the schema says. */
function exampleOf({ path, schema }: Key, files: readonly unknown[]): string {
  const [used] = files.flatMap((file) => valuesAt(file, path));
  const value = used ?? sampleOf(schema);
  return value === undefined ? '' : code(`${path.at(-1)}: ${inYaml(value)}`);
}

const PARTS: Readonly<Record<string, string>> = {
  price: '[price](#price-rules)',
  upstream: '[upstream](#upstream)',
  schema: '[JSON Schema](#schemasnameyaml)',
};

const FORMATS: Readonly<Record<string, string>> = {
  amount: 'dollars',
  rate: 'dollars, to 12 decimals',
  uri: 'URL',
  email: 'e-mail address',
};

function rangeOf({ minimum, maximum, exclusiveMinimum }: JsonObject): string {
  if (maximum !== undefined) return `, ${minimum ?? 'up'} to ${maximum}`;
  if (exclusiveMinimum !== undefined) return `, more than ${exclusiveMinimum}`;
  return minimum === undefined ? '' : `, ${minimum} or more`;
}

function typeName(schema: JsonObject): string {
  const { type, enum: choices, const: only, format, pattern, items, additionalProperties: named } = schema;
  const forms = formsOf(schema);
  const part = PARTS[String(schema['x-part'])];
  if (part) return [part, ...(Array.isArray(type) ? [`a list of them`] : [])].join(' or ');
  if (forms.length > 0) return forms.map(typeName).join(' or ');
  if (Array.isArray(choices) || only !== undefined) {
    return [only ?? choices]
      .flat()
      .map((choice) => code(String(choice)))
      .join(', ');
  }
  if (schema['x-names'] !== undefined) return `name of a ${schema['x-names']}`.replace('a EVM', 'an EVM');
  if (pattern === duration.pattern) return 'duration';
  if (type === 'array') return `list of ${isJsonObject(items) ? typeName(items) : 'anything'}`;
  if (type === 'object') return isJsonObject(named) && typeName(named) !== 'map' ? `map to ${typeName(named)}` : 'map';
  const words: Readonly<Record<string, string>> = { string: 'text', boolean: '`true`, `false`' };
  const name = String(type ?? 'anything');
  return FORMATS[String(format)] ?? `${words[name] ?? name}${rangeOf(schema)}`;
}

/**
 * A row for each key of a schema, with examples from the first of `files` that have it. `under` leads to where the keys
 * stand.
 */
export function rowsOf(schema: JsonObject, files: readonly unknown[], under: readonly string[] = []): string[] {
  return keysOf(schema).map((key) => {
    const { default: fallback, description } = key.schema;
    const unsaid = key.isRequired ? '**required**' : fallback === undefined ? '' : code(inYaml(fallback));
    const name = [...under, ...key.path].join('.').replaceAll(`.${ITEM}`, ITEM);
    const what = String(description ?? '')
      .replaceAll('|', '\\|')
      .replaceAll('<', '&lt;');
    return `| \`${name}\` | ${typeName(key.schema)} | ${unsaid} | ${what} | ${exampleOf(key, files)} |`;
  });
}

/** A table of rows, each once; an empty list where there are none. */
export const tableOf = (rows: readonly string[]): string[] =>
  rows.length === 0
    ? []
    : [['| Key | Type | Default | What it is | Example |', '|---|---|---|---|---|', ...new Set(rows)].join('\n')];
