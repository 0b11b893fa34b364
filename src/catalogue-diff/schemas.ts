/** What one schema takes that another does not, keyword by keyword: a value fits a schema when it fits every keyword. */
import { isDeepStrictEqual } from 'node:util';
import { asJsonObject, isJsonObject, type JsonObject } from '../json.ts';
import { changed, type Difference, type Judge, type Use } from './difference.ts';
import { choice, demand, limit, type } from './keywords.ts';

const below = (path: string, field: string): string => (path === '' ? field : `${path}.${field}`);

/** Schemas at another place in the value, or in the same: where there is none, everything fits. */
const inner =
  (keyword: string, place: (path: string) => string): Judge =>
  (was, is, path, use) =>
    compareSchemas(was[keyword] ?? true, is[keyword] ?? true, use, place(path));

/** Only where the condition is the same. */
const branch =
  (keyword: 'then' | 'else'): Judge =>
  (was, is, path, use) =>
    isDeepStrictEqual(was.if, is.if) ? inner(keyword, (same) => same)(was, is, path, use) : [];

/** Branches pair by pair, or some more of them. ajv fills in no defaults inside of `anyOf`. */
const branches =
  (keyword: 'anyOf' | 'allOf', more: 'wider' | 'narrower'): Judge =>
  (was, is, path, use) => {
    const [old, now] = [was[keyword], is[keyword]];
    if (!Array.isArray(old) || !Array.isArray(now)) return demand(keyword)(was, is, path, use);
    const fillsDefaults = use.fillsDefaults && keyword === 'allOf';
    if (old.length === now.length)
      return old.flatMap((schema, index) => compareSchemas(schema, now[index], { fillsDefaults }, path));
    const holds = (list: readonly unknown[], other: readonly unknown[]) =>
      other.every((schema) => list.some((each) => isDeepStrictEqual(each, schema)));
    const fewer = more === 'wider' ? 'narrower' : 'wider';
    const direction = holds(now, old) ? more : holds(old, now) ? fewer : 'unknown';
    return [{ path, what: `${keyword} ${now.length > old.length ? 'gains' : 'loses'} a form`, direction }];
  };

const fallback: Judge = (was, is, path, { fillsDefaults }) => {
  if (!fillsDefaults) return [];
  return [changed('default', was, is, path, 'default' in was && 'default' in is ? 'both' : 'unknown')];
};

/** Whether a field that `properties` does not name fits: undefined where that depends on its name or on other keywords. */
function takesOthers({ additionalProperties: others, patternProperties, unevaluatedProperties }: JsonObject) {
  if (patternProperties !== undefined || unevaluatedProperties !== undefined || isJsonObject(others)) return undefined;
  return others !== false;
}

const properties: Judge = (was, is, path, use) => {
  const [old, now] = [asJsonObject(was.properties), asJsonObject(is.properties)];
  return Object.keys({ ...old, ...now }).flatMap((name): Difference[] => {
    const at = below(path, name);
    if (Object.hasOwn(old, name) && Object.hasOwn(now, name)) return compareSchemas(old[name], now[name], use, at);
    if (Object.hasOwn(now, name)) {
      const others = takesOthers(was);
      return [{ path: at, what: 'new', direction: others === undefined ? 'unknown' : others ? 'narrower' : 'wider' }];
    }
    return [{ path: at, what: 'gone', direction: takesOthers(is) === false ? 'narrower' : 'unknown' }];
  });
};

/** A field with a default is never missing where defaults are filled in. */
function requiredOf({ required, properties }: JsonObject, { fillsDefaults }: Use): readonly string[] {
  const isFilled = (name: string) => fillsDefaults && 'default' in asJsonObject(asJsonObject(properties)[name]);
  return Array.isArray(required) ? required.map(String).filter((name) => !isFilled(name)) : [];
}

const required: Judge = (was, is, path, use) => {
  const [old, now] = [requiredOf(was, use), requiredOf(is, use)];
  const added = now.filter((name) => !old.includes(name));
  const dropped = old.filter((name) => !now.includes(name));
  return [
    ...added.map((name) => ({ path: below(path, name), what: 'is required now', direction: 'narrower' }) as const),
    ...dropped.map((name) => ({ path: below(path, name), what: 'is no longer required', direction: 'wider' }) as const),
  ];
};

const limits = (side: -1 | 1, keywords: readonly string[]) =>
  keywords.map((keyword) => [keyword, limit(keyword, side)] as const);

const DEMANDS = ['pattern', 'format', 'multipleOf', 'uniqueItems', 'x-not-above', 'x-country', 'oneOf', 'not', 'if'];
/** What these say depends on other keywords: on `const`, or on the fields' defaults. */
const LEAN_ON_OTHERS = ['type', 'enum', 'required'];
const SAYS_NOTHING = ['title', 'description', 'examples', 'deprecated', '$comment'];

const judges = new Map<string, Judge>([
  ...limits(-1, ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']),
  ...limits(1, ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']),
  ...DEMANDS.map((keyword) => [keyword, demand(keyword)] as const),
  ...SAYS_NOTHING.map((keyword) => [keyword, (): Difference[] => []] as const),
  ['type', type],
  ['enum', choice],
  ['const', choice],
  ['default', fallback],
  ['properties', properties],
  ['required', required],
  ['additionalProperties', inner('additionalProperties', (path) => below(path, '*'))],
  ['propertyNames', inner('propertyNames', (path) => below(path, '(name)'))],
  ['items', inner('items', (path) => `${path}[]`)],
  ['then', branch('then')],
  ['else', branch('else')],
  ['anyOf', branches('anyOf', 'wider')],
  ['allOf', branches('allOf', 'narrower')],
]);

/** Every difference that matters to a value, at `path`. A keyword that has no judge is `unknown` when it changes. */
export function compareSchemas(before: unknown, after: unknown, use: Use, path = ''): Difference[] {
  if (before === false || after === false) {
    const what = after === false ? 'is no longer taken' : 'is taken now';
    return before === after ? [] : [{ path, what, direction: after === false ? 'narrower' : 'wider' }];
  }
  const [was, is] = [asJsonObject(before), asJsonObject(after)];
  const keywords = new Set(Object.keys({ ...was, ...is }).map((keyword) => (keyword === 'const' ? 'enum' : keyword)));
  return [...keywords].flatMap((keyword) => {
    if (isDeepStrictEqual(was[keyword], is[keyword]) && !LEAN_ON_OTHERS.includes(keyword)) return [];
    const judge = judges.get(keyword);
    return judge ? judge(was, is, path, use) : [changed(keyword, was, is, path, 'unknown')];
  });
}
