/** Examples: the document's own where they fit, else made from the schemas. */
import { mapSubschemas } from '../../catalogue/schemas/schema-walk.ts';
import { instanceOf } from '../../examples/schema-instance.ts';
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import { resolved } from './document.ts';
import { trialOf } from './trial.ts';
import { Unsupported } from './unsupported.ts';

/** Longer ones are no help to who reads a catalogue. */
const LONGEST_EXAMPLE = 6000;
/** What has none shorter than this is no call that anybody makes. */
const LARGEST_EXAMPLE = 50_000;

/** What a parameter or media type gives as its example. */
export function exampleIn(source: JsonObject, root: JsonObject): unknown {
  const [first] = Object.values(asJsonObject(source.examples));
  return source.example ?? resolved(root, first).value;
}

/** The schema with nothing that is not required: its instances are short. */
const leastOf = (schema: unknown): unknown => {
  if (!isJsonObject(schema)) return schema;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const kept = Object.entries(asJsonObject(schema.properties)).filter(([name]) => required.includes(name));
  const least = schema.properties === undefined ? schema : { ...schema, properties: Object.fromEntries(kept) };
  return mapSubschemas(least, leastOf);
};

const withoutExamples = (schema: unknown): unknown => {
  if (!isJsonObject(schema)) return schema;
  const { examples: _, ...rest } = schema;
  return mapSubschemas(rest, withoutExamples);
};

/**
 * The first candidate that the rules take, or the last one: the catalogue's own check then says why it does not fit. Throws
 * Unsupported where that one is too large to write down.
 */
function firstFitting<Value>(candidates: readonly (() => Value)[], rules: JsonObject): Value | undefined {
  const fits = trialOf(rules);
  let last: Value | undefined;
  for (const make of candidates) {
    last = make();
    if (last === undefined || JSON.stringify(last).length > LONGEST_EXAMPLE) continue;
    if (fits(last)) return last;
  }
  if (last !== undefined && JSON.stringify(last).length > LARGEST_EXAMPLE) {
    throw new Unsupported('asks for so many items or characters that no example of it can be made');
  }
  return last;
}

/** A request with its required fields and those that the document has an example of. Throws Unsupported. */
export function requestExample(request: JsonObject, documented: JsonObject): JsonObject {
  const properties = asJsonObject(request.properties);
  const required = Object.keys(properties).filter((name) => [request.required].flat().includes(name));
  const made = (schema: unknown, seed = 'request'): JsonObject => {
    const fields = required.map((name) => [name, asJsonObject(asJsonObject(schema).properties)[name]]);
    return asJsonObject(instanceOf({ type: 'object', properties: Object.fromEntries(fields), required }, seed));
  };
  const only = Object.fromEntries(Object.entries(documented).filter(([name]) => required.includes(name)));
  const candidates = [
    () => ({ ...made(request), ...documented }),
    () => ({ ...made(request), ...only }),
    () => made(request),
    () => made(leastOf(withoutExamples(request))),
    // A text by a pattern may be too short for the rest of its schema.
    ...['request again', 'another request', 'one more'].map((seed) => () => made(withoutExamples(request), seed)),
  ];
  return firstFitting(candidates, { ...request, type: 'object', additionalProperties: false }) ?? {};
}

/**
 * An answer that the result schema takes. `strict` is the document's own schema, whose formats make better texts. Throws
 * Unsupported.
 */
export function resultExample(rules: JsonObject, strict: JsonObject, documented: readonly unknown[]): unknown {
  const given = [...documented, ...(Array.isArray(strict.examples) ? strict.examples : [])];
  const candidates = [
    ...given.map((example) => () => example),
    // The rules alone, which bound nothing, come last: the document may ask for more than anybody answers.
    ...[strict, withoutExamples(strict), leastOf(strict), leastOf(withoutExamples(strict)), rules].map(
      (schema) => () => instanceOf(schema, 'result'),
    ),
  ];
  return firstFitting(candidates, rules);
}
