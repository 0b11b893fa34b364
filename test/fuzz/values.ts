/** Values that nobody means: what a schema forbids, what a language trips over, what is larger than it looks. */
import * as fc from 'fast-check';
import { character } from '../soak/inputs.ts';

/** Names that objects have by themselves. */
export const PROTOTYPE_NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'then',
];

const TEXTS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\nx-injected: 1',
  '\ud800',
  '\udfff\ud800',
  '\u202eabc',
  '\ufeff',
  'e\u0301'.repeat(50),
  '👩‍👩‍👧‍👦'.repeat(20),
  '%00',
  '%2e%2e%2f',
  '../../../etc/passwd',
  "' OR 1=1 --",
  '{{7*7}}',
  '<script>alert(1)</script>',
  'https://',
  'http://169.254.169.254/latest/meta-data',
  'https://user:password@example.com/a.png',
  'file:///etc/passwd',
  'data:image/png;base64,AAAA',
  'NaN',
  'Infinity',
  '-0',
  '0x',
  '0X10',
  '1e400',
  '9'.repeat(78),
  '9'.repeat(400),
  '0'.repeat(64),
  `0x${'f'.repeat(64)}`,
  `0x${'0'.repeat(64)}`,
  `0x${'0'.repeat(40)}`,
  'null',
  'undefined',
  '[object Object]',
  ...PROTOTYPE_NAMES,
];

const NUMBERS = [
  0,
  -0,
  -1,
  0.1,
  1e-300,
  5e-324,
  1e308,
  Number.MAX_VALUE,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  2 ** 63,
  2 ** 64,
  1e21,
  4_102_444_800,
  253_402_300_800,
];

function nested(depth: number, isList: boolean): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = isList ? [value] : { a: value };
  return value;
}

/** An object with a property of that name, which `{[name]: value}` would not always give. */
export function withProperty(object: object, name: string, value: unknown): object {
  return Object.defineProperty({ ...object }, name, { value, enumerable: true, configurable: true, writable: true });
}

export const oddTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: fc.string({ unit: character, maxLength: 60 }) },
);

export const oddValues: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddTexts },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...NUMBERS) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], [{}], [0, '0'], { length: 3 }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(2, 20, 63, 64, 65, 500), fc.boolean())
      .map(([depth, isList]) => nested(depth, isList)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...PROTOTYPE_NAMES).map((name) => withProperty({}, name, { polluted: true })),
  },
  { weight: 1, arbitrary: fc.constantFrom(200, 3_000).map((length) => Array.from({ length }, (_, at) => at)) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
);

export const oddNames: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...PROTOTYPE_NAMES, '', 'a'.repeat(5_000), 'a/b~c', '\0', '\ud800'),
  fc.string({ unit: character, maxLength: 12 }),
);
