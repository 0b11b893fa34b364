import type { Input, JsonSchema } from '../catalogue/types.ts';

/** Where a provider's field comes from: a request field, with its values renamed or only the first of a list taken. */
export type MappedField =
  | string
  | {
      readonly from: string;
      /** Request value -> provider value. A value that is not listed passes unchanged; null sends nothing. */
      readonly values?: { readonly [requestValue: string]: unknown };
      readonly first?: boolean;
    };

/** Provider field -> where it comes from. */
export type InputMapping = { readonly [providerField: string]: MappedField };

/** The catalogue checker verifies that a mapping marked like this names fields of the request. */
export const inputMappingSchema: JsonSchema = {
  description: 'Provider field: the request field it comes from',
  type: 'object',
  'x-request-fields': true,
  additionalProperties: {
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        required: ['from'],
        additionalProperties: false,
        properties: {
          from: { type: 'string', minLength: 1 },
          values: { type: 'object', description: 'Request value: provider value; null sends nothing' },
          first: { type: 'boolean', description: 'Only the first of a list' },
        },
      },
    ],
  },
};

/** The provider's fields for a request. Fields that the request leaves out, and empty lists, are not sent. */
export function mapInput(mapping: InputMapping, input: Input): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const [field, source] of Object.entries(mapping)) {
    const value = typeof source === 'string' ? input[source] : mappedValue(source, input);
    if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) continue;
    mapped[field] = value;
  }
  return mapped;
}

function mappedValue(source: Exclude<MappedField, string>, input: Input): unknown {
  const given = input[source.from];
  const value = source.first === true && Array.isArray(given) ? given[0] : given;
  const isListed = source.values !== undefined && Object.hasOwn(source.values, String(value));
  return isListed ? source.values?.[String(value)] : value;
}
