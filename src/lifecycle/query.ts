/** A query as the object that a body would be: its texts as what the fields of a request take. */
import { isList, jsonTypeOf, typesOf } from '../catalogue/endpoints/request-reads.ts';
import { Validators } from '../catalogue/schemas/validators.ts';
import type { JsonSchema } from '../catalogue/types.ts';
import { asJsonObject, asJsonObjects, type JsonObject } from '../json.ts';

const validators = new Validators({ strict: false, useDefaults: false, allErrors: false });

/** What a text may say, the likeliest first: a field that takes texts gets it as it is, and an empty one has no other word for null. */
const readingsOf = (text: string): unknown[] => [
  ...(text === '' ? [null] : []),
  text,
  ...(text.trim() === '' || Number.isNaN(Number(text)) ? [] : [Number(text)]),
  ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
];

function itemSchema(schema: JsonObject, index: number): unknown {
  const branches = [schema, ...asJsonObjects(schema.anyOf), ...asJsonObjects(schema.oneOf)];
  const { prefixItems, items } = branches.find((each) => 'items' in each || 'prefixItems' in each) ?? {};
  return (Array.isArray(prefixItems) ? prefixItems[index] : undefined) ?? items;
}

/** One text or several as what the schema takes; as they came where they are nothing of it. */
function readAs(texts: readonly [string, ...string[]], schema: JsonObject): unknown {
  const types = typesOf(schema) ?? [];
  const [first, ...others] = texts;
  const list = types.some(isList)
    ? [texts.map((text, index) => readAs([text], asJsonObject(itemSchema(schema, index))))]
    : [];
  const readings = [...(others.length === 0 ? readingsOf(first) : []), ...list];
  const taken = readings.filter((each) =>
    types.some((type) => (isList(type) ? Array.isArray(each) : jsonTypeOf(each) === type)),
  );
  if (taken.length === 0) return others.length === 0 ? first : texts;
  if (taken.length === 1) return taken[0];
  const fitting = taken.filter((each) => validators.of(schema)(each));
  return fitting.length === 0 ? taken[0] : fitting[0];
}

/** A repeated field becomes a list. */
export function readQuery(query: string, request: JsonSchema): Record<string, unknown> {
  const fields = new Map<string, [string, ...string[]]>();
  for (const [name, text] of new URLSearchParams(query)) {
    const known = fields.get(name);
    if (known) known.push(text);
    else fields.set(name, [text]);
  }
  const schemas = new Map(Object.entries(asJsonObject(request.properties)));
  return Object.fromEntries([...fields].map(([name, texts]) => [name, readAs(texts, asJsonObject(schemas.get(name)))]));
}
