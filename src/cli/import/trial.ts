/** Tries values on schemas that are being made. */
import { openSchemaTrial, triedValidator } from '../../catalogue/schemas/ajv.ts';
import type { JsonObject } from '../../json.ts';

// To open one takes longer than all that it is used for.
const ajv = openSchemaTrial();

// Many operations answer the same.
const tried = new Map<string, ReturnType<typeof triedValidator>>();

export const isFormat = (name: string): boolean => name in ajv.formats;

/** Tells which values fit; false for all where the schema cannot be compiled, which the catalogue's check reports. */
export function trialOf(schema: JsonObject): (value: unknown) => boolean {
  const key = JSON.stringify(schema);
  const validate = tried.has(key) ? tried.get(key) : triedValidator(schema, ajv);
  tried.set(key, validate);
  // Validating fills defaults in.
  return (value) => validate?.(structuredClone(value)) ?? false;
}
