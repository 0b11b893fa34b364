/** Small changes to a JSON value, each at any of its places, also inside texts that are themselves encoded. */
import * as fc from 'fast-check';
import { isJsonObject } from '../../src/json.ts';
import { oddNames, oddValues, withProperty } from './values.ts';

type Change =
  | { readonly kind: 'put'; readonly value: unknown }
  | { readonly kind: 'remove' }
  | { readonly kind: 'add'; readonly name: string; readonly value: unknown }
  | { readonly kind: 'rename'; readonly name: string }
  | { readonly kind: 'twist'; readonly twist: keyof typeof TWISTS; readonly seed: number };

export interface Edit {
  /** Which place: modulo how many there are. */
  readonly at: number;
  readonly change: Change;
}

/** A valid text or number as another writes it, or damaged in one place. */
const TWISTS = {
  upper: (text: string) => text.toUpperCase(),
  lower: (text: string) => text.toLowerCase(),
  padded: (text: string) => ` ${text} `,
  zeros: (text: string) => (/^\d/.test(text) ? `000${text}` : text.replace(/^0x/, '0x0000')),
  longer: (text: string) => text + text.slice(-2),
  shorter: (text: string, seed: number) => text.slice(0, seed % (text.length + 1)),
  doubled: (text: string) => text + text,
  flipped: flipped,
  spread: (text: string) => [...text].join('\u200b'),
};

/** One character, or one byte of what base64 or hex stand for, is another. */
function flipped(text: string, seed: number): string {
  const hex = /^0x(?:[0-9a-f]{2})+$/i.test(text);
  const base64 = !hex && text.length > 40 && /^[A-Za-z0-9+/_-]+=*$/.test(text);
  const bytes = Buffer.from(hex ? text.slice(2) : text, hex ? 'hex' : base64 ? 'base64' : 'latin1');
  if (bytes.length === 0) return String.fromCharCode(seed % 256);
  const at = seed % bytes.length;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (Math.floor(seed / bytes.length) % 8));
  if (hex) return `0x${bytes.toString('hex')}`;
  return base64
    ? bytes.toString(text.includes('_') || text.includes('-') ? 'base64url' : 'base64')
    : bytes.toString('latin1');
}

export const edits: fc.Arbitrary<readonly Edit[]> = fc.array(
  fc.record({
    at: fc.nat(1_000),
    change: fc.oneof<fc.Arbitrary<Change>[]>(
      fc.record({ kind: fc.constant('put'), value: oddValues }),
      fc.record({ kind: fc.constant('remove') }),
      fc.record({ kind: fc.constant('add'), name: oddNames, value: oddValues }),
      fc.record({ kind: fc.constant('rename'), name: oddNames }),
      fc.record({
        kind: fc.constant('twist'),
        twist: fc.constantFrom(...(Object.keys(TWISTS) as (keyof typeof TWISTS)[])),
        seed: fc.nat(100_000),
      }),
    ),
  }),
  { minLength: 1, maxLength: 3 },
);

/** JSON inside a text: as it stands, or in base64. */
function inner(text: string): { value: unknown; encode(value: unknown): string } | undefined {
  if (!/^[A-Za-z0-9+/_-]{8,}=*$/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64').toString());
    if (!isJsonObject(value)) return undefined;
    const encoding = text.endsWith('=') ? 'base64' : 'base64url';
    return { value, encode: (changed) => Buffer.from(JSON.stringify(changed)).toString(encoding) };
  } catch {
    return undefined;
  }
}

function places(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + places(item), 1);
  if (isJsonObject(value)) return Object.values(value).reduce<number>((sum, item) => sum + places(item), 1);
  const hidden = typeof value === 'string' ? inner(value) : undefined;
  return hidden ? 1 + places(hidden.value) : 1;
}

const REMOVED = Symbol('removed');

function changed(value: unknown, change: Change): unknown {
  switch (change.kind) {
    case 'put':
      return change.value;
    case 'remove':
      return REMOVED;
    case 'add':
      if (Array.isArray(value)) return [...value, change.value];
      return isJsonObject(value) ? withProperty(value, change.name, change.value) : change.value;
    case 'rename': {
      if (!isJsonObject(value)) return value;
      const [first, ...others] = Object.entries(value);
      return first ? withProperty(Object.fromEntries(others), change.name, first[1]) : value;
    }
    case 'twist': {
      if (typeof value !== 'string' && typeof value !== 'number') return value;
      const twisted = TWISTS[change.twist](String(value), change.seed);
      const number = Number(twisted);
      return typeof value === 'number' && !Number.isNaN(number) ? number : twisted;
    }
  }
}

/** `at` counts places from the outside in; 0 is the value itself. */
function editAt(value: unknown, at: number, change: Change): unknown {
  if (at === 0) return changed(value, change);
  let left = at - 1;
  if (typeof value === 'string') {
    const hidden = inner(value);
    if (!hidden) return value;
    const edited = editAt(hidden.value, left, change);
    return edited === REMOVED ? '' : hidden.encode(edited);
  }
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const here = left;
      left -= places(item);
      if (here < 0 || here >= here - left) return [item];
      const edited = editAt(item, here, change);
      return edited === REMOVED ? [] : [edited];
    });
  }
  let object: object = {};
  for (const [name, item] of Object.entries(value as object)) {
    const here = left;
    left -= places(item);
    const edited = here < 0 || here >= here - left ? item : editAt(item, here, change);
    if (edited !== REMOVED) object = withProperty(object, name, edited);
  }
  return object;
}

/** The value with all edits made, one after the other. */
export function edited(value: unknown, list: readonly Edit[]): unknown {
  let result = value;
  for (const { at, change } of list) {
    const next = editAt(result, at % places(result), change);
    result = next === REMOVED ? undefined : next;
  }
  return result;
}
