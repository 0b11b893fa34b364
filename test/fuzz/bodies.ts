/** Requests for everything that is sold, without a payment: what their schemas take, and what they nearly take. */
import * as fc from 'fast-check';
import type { JsonSchema, Route } from '../../src/catalogue/types.ts';
import { plausibleRequests } from '../soak/inputs.ts';
import { edgesIn } from './boundaries.ts';
import { type Body, type Call, GAP, JSON_TYPE } from './call.ts';
import { edited, edits } from './edits.ts';
import { fewHeaders } from './odd-headers.ts';
import { type Probe, probe } from './probe.ts';
import type { Watched } from './watched.ts';

/** Inputs of a schema, as they are or changed a little. */
function nearlyValid(schema: JsonSchema): fc.Arbitrary<unknown> {
  const plausible = plausibleRequests(schema);
  return fc.oneof(
    { weight: 2, arbitrary: plausible },
    { weight: 3, arbitrary: fc.tuple(plausible, edgesIn(schema)).map(([input, change]) => change(input)) },
    { weight: 4, arbitrary: fc.tuple(plausible, edits).map(([input, list]) => edited(input, list)) },
  );
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** What a JSON text is damaged by, character by character. */
const DAMAGE = [
  '',
  '{',
  '}',
  '"',
  ',',
  ':',
  '\\',
  '\0',
  '\n',
  '[',
  ']',
  '\x80',
  '\xff',
  '\xc3\x28',
  '\xed\xa0\x80',
  '\\u0000',
  '\\ud800',
  'e',
  '-',
  '/*',
  '\ufeff',
];

const damaged = (texts: fc.Arbitrary<string>): fc.Arbitrary<Body> =>
  fc
    .tuple(
      texts,
      fc.array(fc.tuple(fc.nat(10_000), fc.nat(3), fc.constantFrom(...DAMAGE)), { minLength: 1, maxLength: 4 }),
    )
    .map(([text, damage]) => {
      let bytes = Buffer.from(text).toString('latin1');
      for (const [at, length, put] of damage) {
        const place = at % (bytes.length + 1);
        bytes = bytes.slice(0, place) + put + bytes.slice(place + length);
      }
      return { text: bytes, encoding: 'latin1' };
    });

/** What a body is filled with to its endpoint's limit, as it stands inside a text. */
const UNITS = [
  'a',
  'fog ',
  '漢',
  '👍',
  '\\n',
  '\\u0000',
  '\\ud800',
  ' ',
  '1',
  '\\\\',
  'aZ9-é',
  '\u0300',
  '{[,',
  '\\u00e9',
];
/** The same between the items of a list. */
const ITEMS = [
  ',0',
  ',""',
  ',{}',
  ',[]',
  ',{"role":"user","content":"a"}',
  ',{"type":"text","text":"a"}',
  ',null',
  ',1e9',
];

/** A text of the schema's own, with the gap where its first text begins, or its first list. */
function withGap(input: unknown, isList: boolean): string | undefined {
  const text = textOf(input);
  const at = isList ? text.indexOf('[{') : text.indexOf('":"') + 2;
  if (at < 2) return undefined;
  return isList ? text.replace('[{', `[{}${GAP},{`) : `${text.slice(0, at + 1)}${GAP}${text.slice(at + 1)}`;
}

function large({ example, bodyLimitBytes }: Route): fc.Arbitrary<Body> {
  const sizes = fc.constantFrom(0.01, 0.2, 0.5, 0.98, 1.01);
  return fc.tuple(fc.constantFrom(...UNITS, ...ITEMS), sizes).map(([unit, part]) => {
    const text = withGap(example, ITEMS.includes(unit)) ?? `{"x":"${GAP}"}`;
    return {
      text,
      encoding: 'utf8',
      fill: { unit, times: Math.floor((bodyLimitBytes * part) / Buffer.byteLength(unit)) },
    };
  });
}

function bodiesOf(route: Route): fc.Arbitrary<Body> {
  const texts = nearlyValid(route.request).map(textOf);
  const whole = texts.map((text): Body => ({ text, encoding: 'utf8' }));
  const small = fc.oneof({ weight: 6, arbitrary: whole }, { weight: 2, arbitrary: damaged(texts) });
  const cut = fc
    .tuple(small, fc.constantFrom(undefined, undefined, undefined, 7, 1_000))
    .map(([body, chunkBytes]) => ({ ...body, chunkBytes }));
  return fc.oneof({ weight: 60, arbitrary: cut }, { weight: 1, arbitrary: large(route) });
}

const queryOf = (input: unknown): string =>
  Object.entries(Object(input) as object)
    .flatMap(([name, value]) =>
      [value].flat().map((item) => `${encode(name)}=${encode(typeof item === 'string' ? item : textOf(item))}`),
    )
    .join('&');

/** Half pairs have no encoding of their own. */
const encode = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

const queries = (route: Route): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 4, arbitrary: nearlyValid(route.request).map(queryOf) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '&',
        '=',
        '?',
        '%',
        '%zz',
        '__proto__=1',
        'a&'.repeat(5_000),
        'x[y]=1',
        'a=%00',
        'a=%ff',
        '+',
      ),
    },
  );

function callsOf(route: Route): fc.Arbitrary<Call> {
  return fc.oneof(
    ...route.methods.map((method) =>
      method === 'GET'
        ? queries(route).map((query): Call => ({ method, target: `${route.path}?${query}`, headers: [] }))
        : fc
            .tuple(bodiesOf(route), fewHeaders)
            .map(([body, headers]): Call => ({ method, target: route.path, headers: [JSON_TYPE, ...headers], body })),
    ),
  );
}

export const bodiesProbe = (watched: Watched, routes: readonly Route[]): Probe =>
  probe('bodies', fc.oneof(...routes.map(callsOf)), async (call) => {
    await watched.send(call);
  });
