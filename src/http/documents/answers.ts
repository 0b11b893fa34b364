/** What the gateway's own operations are described with. */
import type { JsonSchema } from '../../catalogue/types.ts';
import type { AnyOperation, Parameter, Reference } from '../../discovery/openapi.ts';

export const text = { type: 'string' } as const;
/** A decimal string in dollars. */
export const dollars = { ...text, pattern: '^-?[0-9]+(\\.[0-9]+)?$' } as const;
export const moment = { ...text, format: 'date-time' } as const;

/** Everything in it is always there, unless `optional` says otherwise. */
export const record = (properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []) => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

export const listOf = (items: JsonSchema) => ({ type: 'array', items }) as const;

export const orNull = (schema: JsonSchema) => ({ anyOf: [schema, { type: 'null' }] }) as const;

export const named = (schema: string) => ({ $ref: `#/components/schemas/${schema}` }) as const;

type Responses = AnyOperation['responses'];

export const json = (description: string, schema: JsonSchema): Responses[string] => ({
  description,
  content: { 'application/json': { schema } },
});

/** Failures in the words that everything sold has for them. */
export const failures = (...statuses: readonly number[]): Responses =>
  Object.fromEntries(
    statuses.map((status): [string, Reference] => [String(status), { $ref: `#/components/responses/${status}` }]),
  );

export const inPath = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: text,
});
