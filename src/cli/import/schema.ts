/** Schemas of OpenAPI 3.0 and 3.1 as the catalogue's: JSON Schema 2020-12 without references. */
import type { CheckedCatalogue } from '../../catalogue/checked.ts';
import { patternFault } from '../../catalogue/schemas/patterns.ts';
import { mapSubschemas } from '../../catalogue/schemas/schema-walk.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import { boundsOf, withNull } from './dialect.ts';
import { at } from './document.ts';
import { ANY_TYPE, impliedType, tidied } from './keywords.ts';
import { merged, narrowed } from './merge.ts';
import { shortened } from './text.ts';
import { isFormat, trialOf } from './trial.ts';

const LONGEST_DESCRIPTION = 300;
/** Schemas inlined one in another grow beyond what a person reads, or a machine holds. */
const MOST_SCHEMAS = 1000;
const DEPTHS = [16, 8, 6, 5, 4, 3, 2, 1];
/** Keywords that are let go: what they refuse, the provider refuses. */
const NOT_CARRIED = ['not', 'if', 'then', 'else', 'patternProperties', 'prefixItems', 'dependentSchemas', 'contains'];

class TooLarge extends Error {}

export interface SchemaContext {
  readonly root: JsonObject;
  readonly checked: CheckedCatalogue;
}

export interface Converted {
  readonly schema: JsonObject;
  /** What could not be carried over, in words. */
  readonly notes: readonly string[];
}

/** Where a schema stands: the references that led to it, how deep it is, how people find it. */
interface Place {
  readonly within: readonly string[];
  readonly depth: number;
  readonly name: string;
  /** Alternatives: defaults are not filled in there. */
  readonly isAlternative?: boolean;
}

/**
 * Converts a schema, with everything that it refers to inside. A circular one is cut off at its second turn, one that is
 * too large at the depth where it fits. `name` is how people find it: `body`, `query.days`.
 */
export function convertSchema(
  source: unknown,
  use: 'request' | 'result',
  name: string,
  context: SchemaContext,
): Converted {
  for (const deepest of DEPTHS) {
    try {
      return new Conversion(use, deepest, context).run(source, name);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
    }
  }
  return { schema: {}, notes: [`${name}: too large; anything is taken`] };
}

class Conversion {
  readonly #use: 'request' | 'result';
  readonly #deepest: number;
  readonly #context: SchemaContext;
  readonly #notes = new Set<string>();
  #count = 0;

  constructor(use: 'request' | 'result', deepest: number, context: SchemaContext) {
    this.#use = use;
    this.#deepest = deepest;
    this.#context = context;
  }

  run(source: unknown, name: string): Converted {
    const schema = this.#withKnown(this.#convert(source, { within: [], depth: 0, name }), name);
    return { schema, notes: [...this.#notes] };
  }

  /** Nothing is required that the document does not describe: callers could not know what to send, nor what they get. */
  #withKnown(schema: JsonObject, name: string): JsonObject {
    const inside = mapSubschemas(schema, (inner) => (isJsonObject(inner) ? this.#withKnown(inner, name) : inner));
    const { properties, required, ...rest } = inside;
    if (!isJsonObject(properties) || !Array.isArray(required)) return tidied(inside);
    const known = required.filter((key) => Object.hasOwn(properties, String(key)));
    for (const key of required.filter((key) => !known.includes(key))) {
      this.#notes.add(`${name}: ${key} is required and not described: it may be left out`);
    }
    return tidied({ ...rest, properties, ...(known.length > 0 && { required: known }) });
  }

  #convert(source: unknown, place: Place): JsonObject {
    this.#count += 1;
    if (this.#count > MOST_SCHEMAS) throw new TooLarge();
    if (!isJsonObject(source)) return {};
    const { $ref: reference, ...own } = source;
    if (typeof reference !== 'string') return this.#plain(own, place);
    const target = at(this.#context.root, reference);
    if (place.within.includes(reference)) {
      const [, , , title = place.name] = reference.startsWith('#/components/') ? reference.split('/') : [];
      this.#notes.add(`${title} contains itself: cut off at its second turn`);
      return { description: `${title}, as above: cut off here` };
    }
    if (!isJsonObject(target)) this.#notes.add(`${place.name}: ${reference} does not exist; anything is taken`);
    return this.#convert({ ...asJsonObject(target), ...own }, { ...place, within: [...place.within, reference] });
  }

  #plain(source: JsonObject, place: Place): JsonObject {
    const { allOf, anyOf, oneOf, nullable, ...rest } = source;
    const parts = Array.isArray(allOf) ? allOf.map((part) => this.#convert(part, place)) : [];
    const described = [...parts, this.#keywords(rest, place)];
    let schema = described.reduce(merged, {});
    for (const branches of [anyOf, oneOf]) {
      if (Array.isArray(branches)) schema = this.#alternatives(schema, branches, place);
    }
    if (schema.type === undefined) {
      const type = impliedType(schema);
      if (type !== undefined) schema = { ...schema, type };
    }
    return tidied(nullable === true ? withNull(schema) : schema);
  }

  #alternatives(schema: JsonObject, branches: readonly unknown[], place: Place): JsonObject {
    const inside = { ...place, isAlternative: true };
    const types = schema.type === undefined ? ANY_TYPE : [schema.type].flat();
    const all = branches.map((branch) => narrowed(this.#convert(branch, inside), types)).filter(isJsonObject);
    // Where one takes anything, all do.
    if (all.length === 0 || all.some((branch) => Object.keys(branch).every((key) => key === 'description')))
      return schema;
    const [only] = all;
    return all.length === 1 && only ? merged(schema, only) : merged(schema, { anyOf: all });
  }

  /** What a schema says itself. */
  #keywords(source: JsonObject, place: Place): JsonObject {
    const { name } = place;
    const words: Record<string, unknown> = {};
    const text = source.description ?? source.title;
    if (typeof text === 'string' && text.trim() !== '') words.description = shortened(text, LONGEST_DESCRIPTION);
    const types = [source.type].flat().filter((type) => ANY_TYPE.includes(String(type)) || type === 'integer');
    if (types.length > 0) words.type = types.length === 1 ? types[0] : [...new Set(types)];
    if (Array.isArray(source.enum) && source.enum.length > 0) words.enum = [...new Set(source.enum)];
    for (const keyword of ['const', 'deprecated', 'uniqueItems']) {
      if (source[keyword] !== undefined) words[keyword] = source[keyword];
    }
    if (typeof source.format === 'string' && isFormat(source.format)) words.format = source.format;
    Object.assign(words, boundsOf(source));
    const { pattern } = source;
    if (typeof pattern === 'string' && this.#use === 'request') {
      const fault = patternFault(pattern, this.#context.checked);
      if (fault) this.#notes.add(`${name}: the pattern ${pattern} is left out: ${fault.message}`);
      else words.pattern = pattern;
    }
    for (const keyword of NOT_CARRIED) {
      if (source[keyword] !== undefined) this.#notes.add(`${name}: ${keyword} is not carried over`);
    }
    Object.assign(words, this.#inside(source, place));
    const examples = [
      ...(Array.isArray(source.examples) ? source.examples : []),
      source.example ?? source['x-example'],
    ];
    const given = examples.filter((example) => example !== undefined);
    if (given.length > 0) words.examples = given;
    if (source.default !== undefined && !place.isAlternative && this.#use === 'request') {
      if (trialOf(tidied(words))(source.default)) words.default = source.default;
      else this.#notes.add(`${name}: the default ${JSON.stringify(source.default)} does not fit, and is left out`);
    }
    return words;
  }

  /** Properties and items. */
  #inside(source: JsonObject, place: Place): JsonObject {
    const { items, properties, additionalProperties: more } = source;
    const parts: Record<string, unknown> = {};
    const below = (step: string): Place => ({ ...place, depth: place.depth + 1, name: `${place.name}${step}` });
    if (place.depth >= this.#deepest) {
      if ((items ?? properties ?? more) === undefined) return {};
      this.#notes.add(`${place.name.split('.')[0]}: too large, cut off ${this.#deepest} levels down`);
      return properties ? { type: 'object' } : items ? { type: 'array' } : {};
    }
    if (isJsonObject(items)) parts.items = this.#convert(items, below('[]'));
    const hidden = this.#use === 'request' ? 'readOnly' : 'writeOnly';
    const shown = Object.entries(asJsonObject(properties)).filter(
      ([, property]) => asJsonObject(property)[hidden] !== true,
    );
    if (isJsonObject(properties)) {
      const converted = shown.map(([key, property]) => [key, this.#convert(property, below(`.${key}`))]);
      parts.properties = Object.fromEntries(converted);
    }
    if (Array.isArray(source.required)) {
      const isHidden = (key: unknown) =>
        Object.hasOwn(asJsonObject(properties), String(key)) && !shown.some(([name]) => name === key);
      const required = source.required.filter((key) => typeof key === 'string' && !isHidden(key));
      if (required.length > 0) parts.required = [...new Set(required)];
    }
    if (isJsonObject(more) && Object.keys(more).length > 0)
      parts.additionalProperties = this.#convert(more, below('.*'));
    else if (more === false && this.#use === 'request' && !source.patternProperties) parts.additionalProperties = false;
    return parts;
  }
}
