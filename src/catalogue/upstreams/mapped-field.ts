/** How a provider's field is made from the request: `text: prompt`, `lang: { from: language, values: { en: en-US } }`. */
import { isJsonObject } from '../../json.ts';

/** A request field, with its values renamed, counted in another unit, or only the first of a list taken. */
export interface TakenField {
  readonly from: string;
  /** Request value -> provider value. A value that is not listed passes unchanged; null sends nothing. */
  readonly values?: { readonly [requestValue: string]: unknown };
  readonly first?: boolean;
  /** What a number is multiplied by: 1000 where the request has seconds and the provider wants milliseconds. */
  readonly scale?: number;
  /** Makes one text of a list, with this between its items. */
  readonly join?: string;
}

/** The same for every request. */
export interface ConstantField {
  readonly value: unknown;
}

/** A string is the name of a request field. */
export type MappedField = string | TakenField | ConstantField;

const TAKEN = ['from', 'values', 'first', 'scale', 'join'];

const hasOnly = (value: object, names: readonly string[]): boolean =>
  Object.keys(value).every((name) => names.includes(name));

export const isTaken = (value: unknown): value is TakenField =>
  isJsonObject(value) && typeof value.from === 'string' && hasOnly(value, TAKEN);

export const isConstant = (value: unknown): value is ConstantField =>
  isJsonObject(value) && 'value' in value && hasOnly(value, ['value']);

/** One request field that a template takes, and where in the template. */
export interface FieldTaken {
  readonly path: readonly (string | number)[];
  readonly field: string;
  /** What is done with it; undefined where the field is named by itself. */
  readonly taken: TakenField | undefined;
}

/** Every request field that a nested template takes: see `mapTemplate`. */
export function fieldsTaken(template: unknown, path: readonly (string | number)[] = []): FieldTaken[] {
  if (typeof template === 'string') return [{ path, field: template, taken: undefined }];
  if (isTaken(template)) return [{ path, field: template.from, taken: template }];
  if (isConstant(template)) return [];
  if (Array.isArray(template)) return template.flatMap((item, index) => fieldsTaken(item, [...path, index]));
  if (!isJsonObject(template)) return [];
  return Object.entries(template).flatMap(([name, part]) => fieldsTaken(part, [...path, name]));
}
