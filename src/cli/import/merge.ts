/** One schema out of several that a value has to fit at the same time. */
import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';

type Keywords = Record<string, unknown>;

const typesIn = (schema: JsonObject): readonly unknown[] | undefined =>
  schema.type === undefined ? undefined : [schema.type].flat();

/** The types that two schemas have in common. Undefined: there are none. */
function common(left: readonly unknown[], right: readonly unknown[]): readonly unknown[] | undefined {
  const takes = (types: readonly unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const shared = [...left.filter((type) => takes(right, type)), ...right.filter((type) => takes(left, type))];
  const unique = [...new Set(shared)];
  return unique.length === 0 ? undefined : unique;
}

const plainType = (types: readonly unknown[]): unknown => (types.length === 1 ? types[0] : types);

/** The schema for those values alone that are of `types` as well; undefined where none can be. */
export function narrowed(schema: unknown, types: readonly unknown[]): unknown {
  if (!isJsonObject(schema)) return schema;
  const own = typesIn(schema);
  if (own === undefined) return schema;
  const shared = common(own, types);
  return shared && { ...schema, type: plainType(shared) };
}

/**
 * The schema of what fits both, in one level: properties are put together, and of what both say in different words the
 * later is kept. Alternatives of both stay apart, in `allOf`.
 */
export function merged(left: JsonObject, right: JsonObject): JsonObject {
  const both: Keywords = { ...left, ...right };
  if (isJsonObject(left.properties) && isJsonObject(right.properties)) {
    const shared = Object.keys(left.properties).filter((name) => Object.hasOwn(asJsonObject(right.properties), name));
    both.properties = { ...left.properties, ...right.properties, ...sharedProperties(left, right, shared) };
  }
  if (Array.isArray(left.required) && Array.isArray(right.required)) {
    both.required = [...new Set([...left.required, ...right.required])];
  }
  const [leftTypes, rightTypes] = [typesIn(left), typesIn(right)];
  if (leftTypes && rightTypes) both.type = plainType(common(leftTypes, rightTypes) ?? rightTypes);
  if (Array.isArray(left.anyOf) && Array.isArray(right.anyOf)) {
    delete both.anyOf;
    both.allOf = [left, right].flatMap(({ allOf, anyOf }) => [...(Array.isArray(allOf) ? allOf : []), { anyOf }]);
  }
  // Closed parts would refuse each other's fields.
  if (both.additionalProperties === false && (left.properties ?? right.properties) !== undefined) {
    delete both.additionalProperties;
  }
  return both;
}

const sharedProperties = (left: JsonObject, right: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.map((name) => {
      const [one, other] = [asJsonObject(left.properties)[name], asJsonObject(right.properties)[name]];
      return [name, isJsonObject(one) && isJsonObject(other) ? merged(one, other) : other];
    }),
  );
