/** One endpoint as the specification states it, and the words its rows are written in. */
import type { Shape } from './shape.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Field {
  readonly required: boolean;
  /** Values that are taken; the first is what a plain request has. */
  readonly accepts: readonly unknown[];
  /** Values one step beyond what is taken. */
  readonly refuses: readonly unknown[];
  readonly default?: unknown;
}

export interface Priced {
  /** What the plain request is changed by; undefined takes a field away. */
  readonly request: Fields;
  /** Dollars, as a decimal string. */
  readonly price: string;
}

export interface Mirror {
  readonly network: string;
  readonly path: string;
  readonly prices: readonly Priced[];
  readonly fields: Readonly<Record<string, Field>>;
  readonly rules: Rules;
  readonly result: Shape;
}

/** What one field means for another. */
export interface Rules {
  readonly accepts?: readonly Fields[];
  readonly refuses?: readonly Fields[];
}

export interface Row {
  readonly path: string;
  /** Default: POST. */
  readonly method?: 'GET';
  readonly fields: Readonly<Record<string, Field>>;
  readonly rules?: Rules;
  /** One price, or a price for each choice. */
  readonly price: string | readonly Priced[];
  /** What listings say of a price that depends on the request. */
  readonly listed?: { readonly price?: number; readonly minPrice: number };
  /** How many networks besides chain-a it is payable on, where the specification says. */
  readonly furtherNetworks?: number;
  readonly result: Shape;
  /** Paid calls whose choices give another result. */
  readonly more?: readonly PaidChoice[];
  readonly mirrors?: readonly MirrorOf[];
}

export interface PaidChoice {
  readonly request: Fields;
  readonly result: Shape;
  /** Default: the row's first. */
  readonly price?: string;
  /** The network that pays. Default: chain-a. */
  readonly on?: string;
}

/** A mirror by how it differs from its base route. */
export interface MirrorOf {
  readonly network: string;
  readonly prefix: string;
  readonly price?: string;
  readonly fields?: Readonly<Record<string, Field>>;
  readonly rules?: Rules;
  readonly result?: Shape;
}

export const pricesOf = (price: Row['price']): readonly Priced[] =>
  typeof price === 'string' ? [{ request: {}, price }] : price;

export function mirrorsOf(row: Row): Mirror[] {
  return (row.mirrors ?? []).map((mirror) => ({
    network: mirror.network,
    path: `/${mirror.prefix}${row.path}`,
    prices: pricesOf(mirror.price ?? row.price),
    fields: mirror.fields ?? row.fields,
    rules: mirror.rules ?? row.rules ?? {},
    result: mirror.result ?? row.result,
  }));
}

/** The smallest request: every required field, nothing else. */
export const plainRequest = (fields: Readonly<Record<string, Field>>): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => field.required)
      .map(([name, field]) => [name, field.accepts[0]]),
  );

/** The request with some fields changed; undefined takes one away. */
export const changed = (request: Fields, change: Fields): Fields =>
  Object.fromEntries(Object.entries({ ...request, ...change }).filter(([, value]) => value !== undefined));

export const required = (field: Field): Field => ({ ...field, required: true });

const optional = (accepts: readonly unknown[], refuses: readonly unknown[], byDefault?: unknown): Field => ({
  required: false,
  accepts,
  refuses,
  ...(byDefault === undefined ? {} : { default: byDefault }),
});

export const text = (example: string, byDefault?: string): Field => optional([example], [7, [example]], byDefault);

/** A text whose wrong forms are stated. */
export const textBut = (accepts: readonly string[], refuses: readonly string[], byDefault?: string): Field =>
  optional(accepts, [...refuses, 7], byDefault);

export const choice = (values: readonly string[], byDefault?: string): Field =>
  optional(values, ['no-such-choice', 7], byDefault);

export const flag = (): Field => optional([true, false], ['perhaps', 7]);

interface Bounds {
  readonly min?: number;
  readonly max?: number;
  /** Where there is no bound. */
  readonly example?: number;
  /** One step beyond a bound. Default: 1. */
  readonly step?: number;
  readonly default?: number;
}

export function number({ min, max, example, step = 1, default: byDefault }: Bounds): Field {
  const bounds = [min, max].filter((bound) => bound !== undefined);
  const beyond = [min === undefined ? undefined : min - step, max === undefined ? undefined : max + step];
  return optional(
    example === undefined ? bounds : [example, ...bounds],
    ['many', ...beyond.filter((bound) => bound !== undefined)],
    byDefault,
  );
}

/** Addresses that no server may be sent to, and one that is not encrypted. */
const FORBIDDEN = ['http://example.com/photo.jpg', 'https://127.0.0.1/photo.jpg', 'not an address'];

export const PHOTO = 'https://example.com/photo.jpg';
export const SPEECH = 'https://example.com/speech.mp3';

export const publicUrl = (example = PHOTO): Field => optional([example], [...FORBIDDEN, 7]);

/** A list of public https addresses of images. */
export function images(max?: number): Field {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `https://example.com/photo-${index}.jpg`);
  return optional(max === undefined ? [[PHOTO]] : [[PHOTO], many(max)], [
    PHOTO,
    [7],
    [FORBIDDEN[0]],
    [FORBIDDEN[1]],
    ...(max === undefined ? [] : [many(max + 1)]),
  ]);
}

export const texts = (example: string): Field => optional([[example]], [example, [7]]);
