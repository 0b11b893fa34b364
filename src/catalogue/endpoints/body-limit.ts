/** How large a request's body may be. */
import type { JsonSchema, Model } from '../types.ts';

/** What every endpoint takes. */
const LEAST_BYTES = 1_048_576;

/** The largest body that any endpoint takes. Bounds what a request's text can cost. */
export const LARGEST_BODY_BYTES = 6 * 1_048_576;

/** A token of prose is between four and five characters long. */
const BYTES_PER_TOKEN = 5;

/** As much as the longest context window takes among the models that the endpoint or its request can name. */
export function bodyLimitOf(
  named: readonly (string | undefined)[],
  request: JsonSchema,
  models: ReadonlyMap<string, Model> | undefined,
): number {
  const { model } = (request.properties ?? {}) as { model?: { enum?: unknown } };
  const asked: readonly unknown[] = Array.isArray(model?.enum) ? model.enum : [];
  const windows = [...named, ...asked].map((name) => models?.get(String(name))?.contextWindow ?? 0);
  return Math.min(LARGEST_BODY_BYTES, Math.max(LEAST_BYTES, ...windows.map((tokens) => tokens * BYTES_PER_TOKEN)));
}
