/** Keywords that hold no schemas. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../json.ts';
import { changed, type Judge, shown } from './difference.ts';

/** A limit; `least` is -1 where it bounds from below, 1 where from above. Without one, nothing is too small or too large. */
export const limit =
  (keyword: string, side: -1 | 1): Judge =>
  (was, is, path) => {
    const bound = (schema: JsonObject) => side * Number(schema[keyword] ?? side * Number.POSITIVE_INFINITY);
    return [changed(keyword, was, is, path, bound(is) < bound(was) ? 'narrower' : 'wider')];
  };

/** What is there or not: one more demand lets fewer values fit. How two of them compare is not known. */
export const demand =
  (keyword: string): Judge =>
  (was, is, path) => {
    const [had, has] = [was, is].map((schema) => (schema[keyword] ?? false) !== false);
    if (had && has) return [changed(keyword, was, is, path, 'unknown')];
    const direction = has ? 'narrower' : 'wider';
    return [{ ...changed(keyword, was, is, path, direction), what: `${keyword} ${has ? 'added' : 'removed'}` }];
  };

const ALL = ['null', 'boolean', 'object', 'array', 'string', 'integer', 'fraction'];

/** JSON types that fit, a number being an integer or a fraction. */
function typesOf({ type, enum: values, const: only }: JsonObject): readonly string[] {
  const listed = only === undefined ? values : [only];
  if (type === undefined && Array.isArray(listed)) {
    const kind = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
    return typesOf({ type: listed.map(kind) });
  }
  if (type === undefined) return ALL;
  return [type].flat().flatMap((name) => (name === 'number' ? ['integer', 'fraction'] : String(name)));
}

export const type: Judge = (was, is, path) => {
  const [old, now] = [typesOf(was), typesOf(is)];
  const loses = old.some((name) => !now.includes(name));
  const gains = now.some((name) => !old.includes(name));
  const direction = loses && gains ? 'both' : loses ? 'narrower' : 'wider';
  const names = (schema: JsonObject) => schema.type && [schema.type].flat().join(', ');
  const change = changed('type', { type: names(was) }, { type: names(is) }, path, direction);
  return loses || gains ? [change] : [];
};

const valuesOf = ({ enum: values, const: only }: JsonObject): readonly unknown[] | undefined =>
  only === undefined ? (Array.isArray(values) ? values : undefined) : [only];

export const choice: Judge = (was, is, path) => {
  const [old, now] = [valuesOf(was), valuesOf(is)];
  const list = (values: readonly unknown[] | undefined) => values?.map(shown).join(', ');
  if (!old || !now) {
    const direction = now ? 'narrower' : 'wider';
    return old || now ? [{ path, what: 'enum', before: list(old), after: list(now), direction }] : [];
  }
  const without = (values: readonly unknown[], others: readonly unknown[]) =>
    values.filter((value) => !others.some((other) => isDeepStrictEqual(value, other)));
  const [lost, gained] = [without(old, now), without(now, old)];
  return [
    ...(lost.length > 0 ? [{ path, what: 'enum loses', before: list(lost), direction: 'narrower' } as const] : []),
    ...(gained.length > 0 ? [{ path, what: 'enum gains', after: list(gained), direction: 'wider' } as const] : []),
  ];
};
