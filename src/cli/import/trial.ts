/** Tries values on schemas that are being made. */
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { openSchemaTrial, schemaFaults } from '../../catalogue/schemas/ajv.ts';
import type { JsonObject } from '../../json.ts';

// To open one takes longer than all that it is used for.
const ajv = openSchemaTrial();

export const isFormat = (name: string): boolean => name in ajv.formats;

/** Tells which values fit; false for all where the schema cannot be compiled, which the catalogue's check reports. */
export function trialOf(schema: JsonObject): (value: unknown) => boolean {
  if (schemaFaults(schema).length > 0) return () => false;
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema);
  } catch {
    return () => false;
  }
  // Validating fills defaults in.
  return (value) => validate(structuredClone(value));
}
