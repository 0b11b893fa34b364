import type { JsonSchema, Route } from '../catalogue/types.ts';
import { toDecimal } from '../money.ts';

/** The same as `format: amount`, in words that every reader of JSON Schema knows. */
export const AMOUNT = '^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,6})?$';

/** Without the catalogue's own words, and with `items` for every array: some readers refuse one without. */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { format, ...others }: Readonly<Record<string, unknown>> = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, published(value)]),
  );
  const isArray = [others.type].flat().includes('array') && !('items' in others);
  return {
    ...others,
    ...(format === 'amount' ? { pattern: AMOUNT } : format === undefined ? {} : { format }),
    ...(isArray ? { items: {} } : {}),
  };
}

/**
 * What a call takes. JSON Schema cannot bound a decimal string: the bounds of an amount that the request names stand
 * beside it as `x-minimum` and `x-maximum`, in dollars.
 */
export function requestSchema({ request, priceOptions, price }: Route): JsonSchema {
  const schema = published(request) as JsonSchema;
  const { rule, by } = priceOptions as { readonly rule: string; readonly by?: unknown };
  const properties = (schema.properties ?? {}) as Readonly<Record<string, object>>;
  const field = rule === 'amount' && typeof by === 'string' ? properties[by] : undefined;
  if (!field || typeof by !== 'string') return schema;
  const bounded = { ...field, 'x-minimum': toDecimal(price.min), 'x-maximum': toDecimal(price.max) };
  return { ...schema, properties: { ...properties, [by]: bounded } };
}

/** Keywords whose schemas only tell cases apart. */
const CONDITIONS = new Set(['if', 'then', 'else']);

/**
 * Means the same: linters of OpenAPI (Redocly) read a condition as if it stood for itself, and want what it requires among
 * its own properties, and others allowed; generators of clients (orval) stop where a field that may not be given is `false`.
 */
export function withOpenConditions(schema: JsonSchema): JsonSchema {
  const walk = (value: unknown, isCondition = false): unknown => {
    if (Array.isArray(value)) return value.map((item) => walk(item));
    if (typeof value !== 'object' || value === null) return value;
    const walked = Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, walk(item, CONDITIONS.has(key))]),
    );
    if (!isCondition) return walked;
    const { properties = {}, required = [], additionalProperties = true } = walked;
    const named = Object.fromEntries((required as string[]).map((name) => [name, {}]));
    const told = Object.entries(properties as object).map(([name, field]) => [
      name,
      field === false ? { not: {} } : field,
    ]);
    return { ...walked, properties: { ...named, ...Object.fromEntries(told) }, additionalProperties };
  };
  return walk(schema) as JsonSchema;
}

/** What a call answers, envelope included. Examples are left out: documents give them beside the schema. */
export function answerSchema(route: Route): JsonSchema {
  const { envelope } = route;
  const { examples: _, ...result } = published(route.result) as JsonSchema;
  const success = { type: 'boolean' };
  switch (envelope) {
    case undefined:
      return result;
    case 'data':
      return {
        type: 'object',
        required: ['success', 'data'],
        properties: { success, data: result },
        additionalProperties: true,
      };
    case 'flag': {
      const { required = [], properties = {} } = result;
      return {
        ...result,
        required: ['success', ...(required as string[])],
        properties: { success, ...(properties as object) },
      };
    }
  }
}

/** The request's fields by name. */
export const requestFields = (route: Route): [string, JsonSchema][] =>
  Object.entries((requestSchema(route).properties ?? {}) as Record<string, JsonSchema>);

export const requiredFields = (route: Route): readonly string[] => (route.request.required ?? []) as string[];
