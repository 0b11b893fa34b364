/** Values of any shape, as `JSON.parse` gives them, read without trust and without throwing. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** True for an object that is no list. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object, or an empty one for anything else. */
export const asJsonObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** The items of a list as objects; none for anything else. */
export const asJsonObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.map(asJsonObject) : []);

/** A text that is not empty. */
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** A finite number. */
export const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Seconds since the epoch, of a day that has a date. */
export const secondsOrNull = (value: unknown): number | null =>
  typeof value === 'number' && !Number.isNaN(new Date(value * 1000).getTime()) ? value : null;
