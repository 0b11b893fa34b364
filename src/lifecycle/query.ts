/** A query as the object that a body would be: its texts as what the fields of a request take. */
import { isList, typesOf } from '../catalogue/endpoints/request-reads.ts';
import { Validators } from '../catalogue/schemas/validators.ts';
import type { JsonSchema } from '../catalogue/types.ts';
import { asJsonObject, asJsonObjects, type JsonObject } from '../json.ts';

const validators = new Validators({ strict: false, useDefaults: false, allErrors: false });

/** What a schema takes. */
interface Field {
  readonly schema: JsonObject;
  readonly types: ReadonlySet<string>;
  readonly places: readonly Field[];
  /** What else stands in a list. */
  readonly items: Field | undefined;
}

/** A query may have thousands of texts. */
const fields = new WeakMap<JsonObject, Field>();

function fieldOf(schema: JsonObject): Field {
  const known = fields.get(schema);
  if (known) return known;
  // Only what stands in a list may leave out what it is.
  const types = typesOf(schema) ?? ['string'];
  const branches = [schema, ...asJsonObjects(schema.anyOf), ...asJsonObjects(schema.oneOf)];
  const { prefixItems, items } = branches.find((each) => 'items' in each || 'prefixItems' in each) ?? {};
  const field: Field = {
    schema,
    types: new Set(types.map((type) => (isList(type) ? 'array' : type))),
    places: asJsonObjects(prefixItems).map(fieldOf),
    items: items === undefined ? undefined : fieldOf(asJsonObject(items)),
  };
  fields.set(schema, field);
  return field;
}

const isNumber = (text: string): boolean => text.trim() !== '' && !Number.isNaN(Number(text));

/** What a text may say, the likeliest first: a field that takes texts gets it as it is, and an empty one has no other word for null. */
function readingsOf(text: string, types: Field['types']): unknown[] {
  const readings: unknown[] = [];
  if (text === '' && types.has('null')) readings.push(null);
  if (types.has('string')) readings.push(text);
  if (types.has('number') && isNumber(text)) readings.push(Number(text));
  if (types.has('boolean') && (text === 'true' || text === 'false')) readings.push(text === 'true');
  return readings;
}

/** One text or several as what the field takes; as they came where they are nothing of it. */
function readAs(texts: readonly [string, ...string[]], field: Field | undefined): unknown {
  const [first, ...others] = texts;
  const asItCame = others.length === 0 ? first : texts;
  if (!field) return asItCame;
  const { types, places, items } = field;
  const readings = others.length === 0 ? readingsOf(first, types) : [];
  if (types.has('array')) readings.push(texts.map((text, index) => readAs([text], places[index] ?? items)));
  if (readings.length < 2) return readings.length === 0 ? asItCame : readings[0];
  const fits = validators.of(field.schema);
  return readings.find((reading) => fits(reading)) ?? readings[0];
}

/** A repeated field becomes a list. */
export function readQuery(query: string, request: JsonSchema): Record<string, unknown> {
  const given = new Map<string, [string, ...string[]]>();
  for (const [name, text] of new URLSearchParams(query)) {
    const known = given.get(name);
    if (known) known.push(text);
    else given.set(name, [text]);
  }
  const properties = asJsonObject(request.properties);
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? asJsonObject(properties[name]) : undefined);
  return Object.fromEntries(
    [...given].map(([name, texts]) => {
      const schema = schemaOf(name);
      return [name, readAs(texts, schema && fieldOf(schema))];
    }),
  );
}
