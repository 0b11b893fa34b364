/** Headers that the gateway reads, with values that nobody means, too often, too many, too long. */
import * as fc from 'fast-check';
import { PROTOTYPE_NAMES } from './values.ts';

type Header = readonly [name: string, value: string];

const NAMES = [
  'authorization',
  'payment-signature',
  'x-payment',
  'idempotency-key',
  'accept-payment',
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'accept',
  'accept-encoding',
  'access-control-request-headers',
  'access-control-request-method',
  'connection',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'if-none-match',
  'if-modified-since',
  'origin',
  'range',
  'te',
  'trailer',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-http-method-override',
  'x-request-id',
  ...PROTOTYPE_NAMES,
];

const VALUES = [
  '',
  ' ',
  ',',
  ',,,,',
  '"',
  '"unfinished',
  '\\',
  'Bearer',
  'Bearer ',
  'Bearer tp_0000',
  'bearer\ttp_0000',
  'Payment',
  'Payment e30',
  'Payment e30, Payment e30',
  'Payment eyJjaGFsbGVuZ2UiOnt9LCJwYXlsb2FkIjp7fX0',
  'Basic YTpi',
  'e30=',
  'eyJ4NDAyVmVyc2lvbiI6Mn0=',
  'eyJ4NDAyVmVyc2lvbiI6MSwicGF5bG9hZCI6e319',
  'application/json',
  'application/json; charset=utf-16',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=',
  'text/plain',
  'gzip',
  'gzip, br, zstd',
  'identity;q=0, *;q=0',
  '100-continue',
  '200-nonsense',
  'websocket',
  'h2c',
  'upgrade',
  'close',
  'keep-alive, upgrade',
  'chunked',
  'chunked, chunked',
  'bytes=0-',
  'bytes=-1',
  'bytes=5-1',
  'bytes=0-0,1-1,2-2',
  'bytes=0-99999999999999999999',
  '*',
  'W/"x"',
  '-1',
  '0',
  '00',
  '1e3',
  '0x10',
  '99999999999999999999',
  '__proto__',
  'null',
  'http://[',
  'evil.example:99999',
  'x'.repeat(256),
  'x'.repeat(7_900),
  'x'.repeat(8_300),
  'x'.repeat(16_500),
  `${'a,'.repeat(4_000)}`,
  'é'.repeat(40),
];

/** Whatever a header may hold, and what ends it. */
const bytes = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});
const visible = fc.string({
  unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 60,
});

const header: fc.Arbitrary<Header> = fc.tuple(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...NAMES) }, { weight: 1, arbitrary: bytes }),
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...VALUES) },
    { weight: 2, arbitrary: visible },
    { weight: 1, arbitrary: bytes },
  ),
);

/** From one header to a hundred and some. */
export const oddHeaders: fc.Arbitrary<readonly Header[]> = fc
  .tuple(fc.array(header, { minLength: 1, maxLength: 6 }), fc.constantFrom(1, 1, 1, 1, 2, 3, 30, 101))
  .map(([headers, times]) => Array.from({ length: times }, () => headers).flat());

/** Few of them, and only what HTTP allows: the request is read, and the body with it. */
export const fewHeaders: fc.Arbitrary<readonly Header[]> = fc.array(
  fc.tuple(
    fc.constantFrom(
      'idempotency-key',
      'accept-payment',
      'content-type',
      'accept',
      'content-encoding',
      'origin',
      'x-forwarded-for',
    ),
    fc.oneof(fc.constantFrom(...VALUES.filter((value) => value.length < 300)), visible),
  ),
  { maxLength: 2 },
);
