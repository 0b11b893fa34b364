/** The edges of a schema: at each of its places the last value that it takes, and the first that it does not. */
import * as fc from 'fast-check';
import type { Input, JsonSchema } from '../../src/catalogue/types.ts';
import { isJsonObject } from '../../src/json.ts';

interface Edge {
  /** Names of properties, and 0 for the first item of a list. */
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

/** A text is as long as it has characters, however many bytes those take. */
const CHARACTERS = ['a', 'é', '漢', '👍'];
const LONGEST = 20_000;

function textEdges({ minLength = 0, maxLength = LONGEST }: { minLength?: number; maxLength?: number }): string[] {
  const most = Math.min(maxLength, LONGEST);
  return CHARACTERS.flatMap((character) =>
    [most, most + 1, minLength, minLength - 1].map((times) => character.repeat(Math.max(0, times))),
  );
}

function numberEdges({
  minimum = 0,
  maximum = 1_000_000,
  multipleOf = 1,
}: {
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
}): number[] {
  return [minimum, maximum].flatMap((edge) => [
    edge,
    edge - multipleOf,
    edge + multipleOf,
    edge + multipleOf / 2,
    -edge,
  ]);
}

function ownEdges(schema: JsonSchema): unknown[] {
  const types = [schema.type].flat();
  return [
    ...(types.includes('string') ? textEdges(schema) : []),
    ...(types.includes('number') || types.includes('integer') ? numberEdges(schema) : []),
    ...(types.includes('array')
      ? [[], Array.from({ length: Number(schema.maxItems ?? 100) + 1 }, (_, at) => `item ${at}`)]
      : []),
    ...(Array.isArray(schema.enum)
      ? [String(schema.enum[0]).toUpperCase(), `${schema.enum[0]} `, [schema.enum[0]]]
      : []),
  ];
}

function edgesOf(schema: JsonSchema, path: readonly string[] = []): Edge[] {
  const within = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const items = isJsonObject(schema.items) ? [['0', schema.items] as const] : [];
  const choices = [schema.anyOf, schema.oneOf].flat().filter(isJsonObject);
  return [
    { path, values: ownEdges(schema) },
    ...[...within, ...items].flatMap(([name, inner]) => edgesOf(inner, [...path, name])),
    ...choices.flatMap((choice) => edgesOf(choice, path)),
  ].filter(({ path: { length }, values }) => length > 0 && values.length > 0);
}

/** The value with another at that place, made where it is missing. */
function placed(value: unknown, [name, ...rest]: readonly string[], edge: unknown): unknown {
  if (name === undefined) return edge;
  if (Array.isArray(value)) return [placed(value[0], rest, edge), ...value.slice(1)];
  const object = isJsonObject(value) ? value : {};
  return { ...object, [name]: placed(object[name], rest, edge) };
}

/** Changes of a request, each to one edge of its schema. */
export function edgesIn(schema: JsonSchema): fc.Arbitrary<(input: Input) => unknown> {
  const changes = edgesOf(schema).flatMap(({ path, values }) => values.map((value) => ({ path, value })));
  if (changes.length === 0) return fc.constant((input) => input);
  return fc.constantFrom(...changes).map(
    ({ path, value }) =>
      (input: Input) =>
        placed(input, path, value),
  );
}
