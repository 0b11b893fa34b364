/** Results as the specification's section 2.2 words them. Keys that it does not name may be there as well. */

/** What is wrong with a value, each with its place; empty where nothing is. */
export type Shape = (value: unknown, place: string) => string[];

const told = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

const where = (is: (value: unknown) => boolean, name: string): Shape => {
  return (value, place) => (is(value) ? [] : [`${place} is not ${name}: ${told(value)}`]);
};

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const string = where((value) => typeof value === 'string', 'a string');
export const filled = where((value) => typeof value === 'string' && value.length > 0, 'a string with something in it');
export const number = where(isNumber, 'a number');
export const integer = where(Number.isInteger, 'a whole number');
export const boolean = where((value) => typeof value === 'boolean', 'a boolean');
export const object = where(isObject, 'an object');
export const url = where((value) => typeof value === 'string' && URL.canParse(value), 'a URL');
/** The specification names the field, not its type. */
export const named = where((value) => value !== undefined, 'there');

export const exactly = (wanted: unknown): Shape => where((value) => value === wanted, told(wanted));

export const oneOf = (...values: readonly unknown[]): Shape =>
  where((value) => values.includes(value), `one of ${values.join(', ')}`);

export const between = (min: number, max: number): Shape =>
  where((value) => isNumber(value) && Number(value) >= min && Number(value) <= max, `a number from ${min} to ${max}`);

export const matching = (pattern: RegExp): Shape =>
  where((value) => typeof value === 'string' && pattern.test(value), `text like ${pattern}`);

/** Where the source knows of no value. */
export const orNull =
  (shape: Shape): Shape =>
  (value, place) =>
    value === null ? [] : shape(value, place);

export const maybe =
  (shape: Shape): Shape =>
  (value, place) =>
    value === undefined ? [] : shape(value, place);

interface ListOptions {
  readonly length?: number;
  readonly most?: number;
  /** At least one, so that the items are really looked at. */
  readonly some?: true;
}

export const list =
  (item: Shape, { length, most, some }: ListOptions = {}): Shape =>
  (value, place) => {
    if (!Array.isArray(value)) return [`${place} is not an array: ${told(value)}`];
    const faults = value.flatMap((entry, index) => item(entry, `${place}/${index}`));
    if (length !== undefined && value.length !== length)
      faults.push(`${place} has ${value.length} items, not ${length}`);
    if (most !== undefined && value.length > most) faults.push(`${place} has ${value.length} items, at most ${most}`);
    if (some && value.length === 0) faults.push(`${place} is empty`);
    return faults;
  };

export const record =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value, place) => {
    if (!isObject(value)) return [`${place} is not an object: ${told(value)}`];
    return Object.entries(fields).flatMap(([name, shape]) => shape(value[name], `${place}/${name}`));
  };

/** Records with a key whose name the specification only describes. */
export const someKey =
  (name: RegExp, shape: Shape): Shape =>
  (value, place) => {
    const key = isObject(value) ? Object.keys(value).find((each) => name.test(each)) : undefined;
    return key === undefined
      ? [`${place} has no key like ${name}`]
      : shape((value as Record<string, unknown>)[key], `${place}/${key}`);
  };

/** All of several shapes. */
export const both =
  (...shapes: readonly Shape[]): Shape =>
  (value, place) =>
    shapes.flatMap((shape) => shape(value, place));

/** Fields that are told in prose: anywhere in the result will do. */
export const somewhere =
  (...names: readonly string[]): Shape =>
  (value, place) => {
    const keys = new Set<string>();
    const collect = (part: unknown): void => {
      if (isObject(part)) for (const key of Object.keys(part)) keys.add(key);
      if (typeof part === 'object' && part !== null) for (const each of Object.values(part)) collect(each);
    };
    collect(value);
    return names.filter((name) => !keys.has(name)).map((name) => `${place} has no ${name}`);
  };

/** `{success: true, data}` around a result. */
export const wrapped = (shape: Shape): Shape => record({ success: exactly(true), data: shape });

/** The result with `success: true` in it. */
export const flagged = (shape: Shape): Shape => both(record({ success: exactly(true) }), shape);
