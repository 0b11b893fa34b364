/** Values that fit a JSON Schema, the same for the same seed: for examples, and what doubles answer in a given form. */

import { textForPattern } from './pattern-text.ts';
import { type Seeded, seeded } from './seed.ts';

type Schema = Readonly<Record<string, unknown>>;

const words = ['steady', 'bright', 'early', 'open', 'quiet', 'rising', 'simple', 'broad', 'warm', 'clear'] as const;
const DEEPEST = 8;
/** Values one in another, alternatives and references among them. */
const MOST_NESTED = 200;
/** Values and characters together. */
const MOST_MADE = 100_000;

/**
 * Honours type, enum, const, examples, the bounds of numbers, strings and lists, simple patterns, common formats,
 * anyOf/oneOf and local `$ref`. What has no end, or wants a billion items, is cut off, and does not fit.
 */
export function instanceOf(schema: unknown, seed: string): unknown {
  const root = asSchema(schema);
  const random = seeded(seed);
  let left = MOST_MADE;
  let nested = 0;

  function make(part: unknown, name: string, depth: number): unknown {
    if (left <= 0 || nested === MOST_NESTED) return null;
    left -= 1;
    nested += 1;
    const value = filled(resolve(root, asSchema(part)), name, depth);
    nested -= 1;
    return value;
  }

  function filled(here: Schema, name: string, depth: number): unknown {
    if ('const' in here) return here.const;
    if (Array.isArray(here.enum) && here.enum.length > 0) return here.enum[random.integer(0, here.enum.length - 1)];
    if (Array.isArray(here.examples) && here.examples.length > 0) return here.examples[0];
    const choices = here.anyOf ?? here.oneOf;
    if (Array.isArray(choices)) return make(choices[0], name, depth);
    switch (Array.isArray(here.type) ? here.type[0] : (here.type ?? (here.properties ? 'object' : 'string'))) {
      case 'object':
        return makeObject(here, depth);
      case 'array':
        return makeList(here, name, depth);
      case 'integer':
        return Math.ceil(makeNumber(here, random));
      case 'number':
        return makeNumber(here, random);
      case 'boolean':
        return random.number() < 0.5;
      case 'null':
        return null;
      default:
        return makeString(here, name);
    }
  }

  function makeString(schema: Schema, name: string): string {
    const text = makeText(schema, name, random, left);
    left -= text.length;
    return text;
  }

  function makeObject({ properties, required }: Schema, depth: number): Record<string, unknown> {
    const needed = new Set(Array.isArray(required) ? required : []);
    const entries = Object.entries(asSchema(properties)).filter(([name]) => depth < DEEPEST || needed.has(name));
    return Object.fromEntries(entries.map(([name, part]) => [name, make(part, name, depth + 1)]));
  }

  function makeList({ items, prefixItems, minItems, maxItems }: Schema, name: string, depth: number): unknown[] {
    const first = Array.isArray(prefixItems) ? prefixItems : [];
    const least = typeof minItems === 'number' ? minItems : Math.min(2, typeof maxItems === 'number' ? maxItems : 2);
    const length = Math.max(first.length, depth < DEEPEST ? least : Number(minItems ?? 0));
    return Array.from({ length: Math.min(length, left) }, (_, index) =>
      make(first[index] ?? items ?? {}, name, depth + 1),
    );
  }

  return make(root, 'answer', 0);
}

const asSchema = (value: unknown): Schema => (typeof value === 'object' && value !== null ? (value as Schema) : {});

/** Follows `$ref: '#/$defs/name'`; one that leads back to itself names nothing. */
function resolve(root: Schema, schema: Schema, seen: readonly string[] = []): Schema {
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return schema;
  if (seen.includes(reference)) return {};
  const steps = reference.replace(/^#\/?/, '').split('/').filter(Boolean);
  return resolve(
    root,
    steps.reduce<Schema>((place, step) => asSchema(place[step]), root),
    [...seen, reference],
  );
}

function makeNumber(schema: Schema, random: Seeded): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const isWhole = schema.type === 'integer';
  const least = numberOr(minimum, numberOr(exclusiveMinimum, 0));
  const most = numberOr(maximum, numberOr(exclusiveMaximum, least + 100));
  const step = numberOr(multipleOf, isWhole ? 1 : (most - least) / 1000);
  // One step inside both ends keeps clear of exclusive bounds.
  const inset = exclusiveMinimum !== undefined || exclusiveMaximum !== undefined ? 1 : 0;
  const steps = Math.max(inset, Math.floor((most - least) / step) - inset);
  const value = least + random.integer(inset, steps) * step;
  return Math.round(value * 1e6) / 1e6;
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);

const FORMATTED: Readonly<Record<string, string>> = {
  date: '2026-01-15',
  time: '12:00:00Z',
  'date-time': '2026-01-15T12:00:00Z',
  duration: 'PT5M',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '7d1c1f0a-2f0e-4d7c-9b7e-3a5c0e8f4b21',
  byte: 'ZXhhbXBsZQ==',
};

const addressOf = (name: string, random: Seeded): string => `https://example.com/${name}/${random.integer(100, 999)}`;

/** Patterns of addresses that are asked for. */
const BEGINNINGS: readonly unknown[] = ['^https://', '^https?://'];

function makeText(
  { pattern, format, minLength, maxLength }: Schema,
  name: string,
  random: Seeded,
  longest: number,
): string {
  const fits = ({ length }: string) => length >= numberOr(minLength, 0) && length <= numberOr(maxLength, length);
  const isAddress = format === 'uri' || format === 'uri-reference';
  // Such a pattern says how an address begins, and no more.
  if (isAddress && BEGINNINGS.includes(pattern)) {
    const address = addressOf(name, random);
    if (fits(address)) return address;
  }
  if (typeof pattern === 'string') {
    const usual = textForPattern(pattern, random, { longest });
    if (usual !== undefined && fits(usual)) return usual;
    const filled = textForPattern(pattern, random, { longest, filledTo: numberOr(minLength, 0) });
    const text = filled !== undefined && fits(filled) ? filled : usual;
    if (text !== undefined) return text;
  }
  if (isAddress) return addressOf(name, random);
  const formatted = FORMATTED[String(format)];
  if (formatted !== undefined) return formatted;
  const least = Math.min(numberOr(minLength, 0), longest);
  const most = numberOr(maxLength, Math.max(60, least));
  let text = `${random.pick(words)} ${name.replaceAll(/[_-]/g, ' ')}`;
  while (text.length < least) text += ` ${random.pick(words)}`;
  return text.slice(0, most);
}
