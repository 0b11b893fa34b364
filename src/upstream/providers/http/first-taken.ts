import { triedValidator } from '../../../catalogue/schemas/ajv.ts';
import type { JsonSchema } from '../../../catalogue/types.ts';

/** The first of the texts that a field takes; undefined also where its schema is wrong, which is reported with the request. */
export function firstTaken(schema: JsonSchema, texts: readonly string[]): string | undefined {
  const takes = triedValidator(schema);
  return takes && texts.find((text) => takes(text));
}
