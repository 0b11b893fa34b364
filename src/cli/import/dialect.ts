/** What OpenAPI 3.0 says in other words than JSON Schema 2020-12. */
import type { JsonObject } from '../../json.ts';
import { BOUNDS } from './keywords.ts';

/** The bounds that a schema says; in 3.0 exclusive ones are a word beside the others. */
export function boundsOf(source: JsonObject): JsonObject {
  const bounds: Record<string, unknown> = {};
  for (const keyword of BOUNDS) if (typeof source[keyword] === 'number') bounds[keyword] = source[keyword];
  for (const [least, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (source[exclusive] !== true || bounds[least] === undefined) continue;
    bounds[exclusive] = bounds[least];
    delete bounds[least];
  }
  return bounds;
}

/** The schema of what is null or fits: `nullable: true` in 3.0. */
export function withNull(schema: JsonObject): JsonObject {
  const types = schema.type === undefined ? undefined : [...new Set([schema.type, 'null'].flat())];
  const options = Array.isArray(schema.enum) ? [...new Set([...schema.enum, null])] : undefined;
  const alternatives = Array.isArray(schema.anyOf) ? [...schema.anyOf, { type: 'null' }] : undefined;
  return {
    ...schema,
    ...(types && { type: types }),
    ...(options && { enum: options }),
    ...(alternatives && { anyOf: alternatives }),
  };
}
