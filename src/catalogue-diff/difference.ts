import { isJsonObject, type JsonObject } from '../json.ts';

export interface Difference {
  /** Where in the values: `messages[].content`; empty for the whole. */
  readonly path: string;
  /** The keyword, or what happened to the field. */
  readonly what: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Whether fewer or more values fit than before; `both` where some no longer fit and others do, or mean something else. */
  readonly direction: 'narrower' | 'wider' | 'both' | 'unknown';
}

/** `fillsDefaults`: whether the gateway gives fields that were left out their defaults before it checks, as in requests. */
export interface Use {
  readonly fillsDefaults: boolean;
}

export type Judge = (was: JsonObject, is: JsonObject, path: string, use: Use) => Difference[];

/** A scalar as it is written; nothing for what is too long to show. */
export const shown = (value: unknown): string | undefined => {
  if (Array.isArray(value) || isJsonObject(value)) return undefined;
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
};

/** A keyword with its values. */
export const changed = (
  keyword: string,
  was: JsonObject,
  is: JsonObject,
  path: string,
  direction: Difference['direction'],
): Difference => ({ path, what: keyword, before: shown(was[keyword]), after: shown(is[keyword]), direction });
