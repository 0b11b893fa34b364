import type { ValidateFunction } from 'ajv/dist/2020.js';
import { openSchemaTrial, schemaFaults } from '../../../catalogue/schemas/ajv.ts';
import type { JsonSchema } from '../../../catalogue/types.ts';

/** The first of the texts that a field takes; undefined also where its schema is wrong, which is reported with the request. */
export function firstTaken(schema: JsonSchema, texts: readonly string[]): string | undefined {
  if (schemaFaults(schema).length > 0) return undefined;
  let takes: ValidateFunction;
  try {
    takes = openSchemaTrial().compile(schema);
  } catch {
    return undefined;
  }
  return texts.find((text) => takes(text));
}
