import type { Input, JsonSchema } from '../catalogue/types.ts';
import { isConstant, isTaken, type MappedField, type TakenField } from '../catalogue/upstreams/mapped-field.ts';
import { isJsonObject } from '../json.ts';

/** Provider field -> where it comes from. */
export type InputMapping = { readonly [providerField: string]: MappedField };

const mappedField: JsonSchema = {
  anyOf: [
    { type: 'string', minLength: 1, examples: ['prompt'] },
    {
      type: 'object',
      required: ['from'],
      additionalProperties: false,
      properties: {
        from: { type: 'string', minLength: 1, description: 'The request field', examples: ['prompt'] },
        values: {
          type: 'object',
          description: 'Request value: provider value; null sends nothing',
          examples: [{ small: 1, large: 2 }],
        },
        first: { type: 'boolean', default: false, description: 'Only the first of a list' },
        scale: { type: 'number', description: 'What a number is multiplied by, for another unit', examples: [1000] },
        join: {
          type: 'string',
          description: 'Makes one text of a list, with this between its items',
          examples: [','],
        },
      },
    },
    {
      type: 'object',
      required: ['value'],
      additionalProperties: false,
      properties: { value: { description: 'Sent with every request', examples: ['metric'] } },
    },
  ],
};

/** The catalogue checker verifies that a mapping marked like this names fields of the request. */
export const inputMappingSchema: JsonSchema = {
  description: 'Provider field: the request field it comes from',
  type: 'object',
  'x-request-fields': true,
  additionalProperties: mappedField,
};

/** The provider's fields for a request. Fields that the request leaves out, and empty lists, are not sent. */
export function mapInput(mapping: InputMapping, input: Input): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const [field, source] of Object.entries(mapping)) {
    const value = mapField(source, input);
    if (!isNothing(value)) mapped[field] = value;
  }
  return mapped;
}

/**
 * A nested value for a request: strings name request fields, `{from: ...}` and `{value: ...}` are mapped fields, any other
 * object or list is mapped part by part, and numbers and booleans stand for themselves. What is left out leaves out
 * everything that consists of nothing else; undefined where nothing is left at all. A null or an empty list that the
 * request has is sent: with it callers clear what a thing had.
 */
export function mapTemplate(template: unknown, input: Input): unknown {
  if (typeof template === 'string' || isTaken(template) || isConstant(template)) return mapField(template, input);
  if (Array.isArray(template)) {
    const items = template.map((item) => mapTemplate(item, input)).filter((item) => !isNothing(item));
    return items.length === 0 ? undefined : items;
  }
  if (!isJsonObject(template)) return template ?? undefined;
  const parts = Object.entries(template).map(([name, part]) => [name, mapTemplate(part, input)] as const);
  const kept = parts.filter(([, part]) => part !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function mapField(source: MappedField, input: Input): unknown {
  if (typeof source === 'string') return givenIn(input, source);
  return isConstant(source) ? source.value : taken(source, input);
}

/** What a request has in a field, which may be called what every object inherits, such as `constructor`. */
export const givenIn = (input: Input, field: string): unknown =>
  Object.hasOwn(input, field) ? input[field] : undefined;

function taken({ from, first, values, scale, join }: TakenField, input: Input): unknown {
  const given = givenIn(input, from);
  const value = first === true && Array.isArray(given) ? given[0] : given;
  const named = (one: unknown): unknown => {
    if (values !== undefined && Object.hasOwn(values, String(one))) return values[String(one)] ?? undefined;
    return scale !== undefined && typeof one === 'number' ? scaled(one, scale) : one;
  };
  if (!Array.isArray(value) || (values ?? scale ?? join) === undefined) return named(value);
  const items = value.map(named).filter((item) => !isNothing(item));
  if (items.length === 0) return undefined;
  return join === undefined ? items : items.join(join) || undefined;
}

/** Without the digits that binary fractions add, 0.07 * 100 is 7; decimals have as many as this in any case. */
const scaled = (value: number, scale: number): number => Number((value * scale).toPrecision(15));
