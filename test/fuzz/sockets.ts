/** Bytes that are not quite HTTP: damaged, cut, pipelined, too early at their end, for what no gateway does. */
import * as fc from 'fast-check';
import { type Call, JSON_TYPE, jsonBody, requestBytes } from './call.ts';
import { type Probe, probe } from './probe.ts';
import type { Watched } from './watched.ts';
import type { Script } from './wire.ts';

const SOUND: readonly Call[] = [
  { method: 'GET', target: '/healthz', headers: [] },
  { method: 'GET', target: '/v1/models', headers: [] },
  { method: 'GET', target: '/nothing', headers: [] },
  { method: 'GET', target: '/stock/arb', headers: [] },
  { method: 'GET', target: 'http://gateway.example/stock/arb', headers: [] },
  { method: 'POST', target: '/image/family-a-2-pro', headers: [JSON_TYPE], body: jsonBody({ prompt: 'fog' }) },
  {
    method: 'POST',
    target: '/image/family-a-2-pro',
    headers: [JSON_TYPE],
    body: { ...jsonBody({ prompt: 'fog' }), chunkBytes: 3 },
  },
  { method: 'POST', target: '/mpp/image/family-e-2', headers: [JSON_TYPE], body: jsonBody({ prompt: 'fog' }) },
  {
    method: 'POST',
    target: '/v1/chat/completions',
    headers: [JSON_TYPE, ['authorization', 'Bearer tp_none']],
    body: jsonBody({}),
  },
  {
    method: 'POST',
    target: '/image/family-a-2-pro',
    headers: [JSON_TYPE, ['expect', '100-continue']],
    body: jsonBody({ prompt: 'fog' }),
  },
];

/** Nothing follows it at once: Node drops what comes in the same piece, for it may be of another protocol. */
const UPGRADE: Call = {
  method: 'GET',
  target: '/healthz',
  headers: [
    ['connection', 'upgrade'],
    ['upgrade', 'websocket'],
  ],
};

const POST = 'POST /image/family-a-2-pro HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n';
const ODD = [
  'GET',
  'GET \r\n\r\n',
  'GET /healthz\r\n\r\n',
  'GET /healthz HTTP/0.9\r\n\r\n',
  'GET /healthz HTTP/1.0\r\n\r\n',
  'GET /healthz HTTP/1.1\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n',
  'GET /healthz HTTP/2.0\r\nhost: a\r\n\r\n',
  'GET /healthz HTTP/9.9\r\nhost: a\r\n\r\n',
  'GET  /healthz  HTTP/1.1\r\nhost: a\r\n\r\n',
  'get /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET /healthz HTTP/1.1\nhost: a\n\n',
  'GET /healthz HTTP/1.1\r\n host: a\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost : a\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: a\r\n: empty\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: a\r\nx: 1\r\n folded\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nhost: a\0b\r\n\r\n',
  'GET /health z HTTP/1.1\r\nhost: a\r\n\r\n',
  'GET http:// HTTP/1.1\r\nhost: a\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n',
  'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n',
  'CONNECT /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'BREW /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '\r\n\r\n\r\nGET /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
  `${POST}content-length: 5\r\n\r\n{}`,
  `${POST}content-length: 1\r\n\r\n{"prompt":"fog"}`,
  `${POST}content-length: -1\r\n\r\n{}`,
  `${POST}content-length: 2, 2\r\n\r\n{}`,
  `${POST}content-length: 2\r\ncontent-length: 2\r\n\r\n{}`,
  `${POST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
  `${POST}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${POST}content-length: 99999999999999999999\r\n\r\n{}`,
  `${POST}content-length: 99999999\r\n\r\n{}`,
  `${POST}content-length: +2\r\n\r\n{}`,
  `${POST}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  `${POST}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`,
  `${POST}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  `${POST}transfer-encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n`,
  `${POST}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`,
  `${POST}transfer-encoding: chunked\r\n\r\n2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  `${POST}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-payment: e30=\r\n\r\n`,
  `${POST}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${'x: y\r\n'.repeat(4_000)}\r\n`,
  `${POST}expect: 100-continue\r\ncontent-length: 2\r\n\r\n`,
  `${POST}expect: something-else\r\ncontent-length: 2\r\n\r\n{}`,
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\nhost: a\r\n${'x: y\r\n'.repeat(5_000)}\r\n`,
  `GET /healthz HTTP/1.1\r\nhost: a\r\n${'x'.repeat(20_000)}`,
];

interface Bytes {
  readonly bytes: Buffer;
  readonly methods: readonly string[];
  readonly isSound: boolean;
}

const sound: fc.Arbitrary<Bytes> = fc
  .tuple(fc.array(fc.constantFrom(...SOUND), { minLength: 1, maxLength: 5 }), fc.constantFrom([], [], [], [UPGRADE]))
  .map(([calls, last]) => [...calls, ...last])
  .map((calls) => ({
    bytes: Buffer.concat(calls.map(requestBytes)),
    methods: calls.map(({ method }) => method),
    isSound: true,
  }));

const unsound = (texts: fc.Arbitrary<Buffer>): fc.Arbitrary<Bytes> =>
  texts.map((bytes) => ({ bytes, methods: Array<string>(20).fill('GET'), isSound: false }));

const odd = unsound(
  fc
    .tuple(fc.array(fc.constantFrom(...SOUND), { maxLength: 2 }), fc.constantFrom(...ODD))
    .map(([before, text]) => Buffer.concat([...before.map(requestBytes), Buffer.from(text, 'latin1')])),
);

const damaged = unsound(
  fc
    .tuple(sound, fc.array(fc.tuple(fc.nat(5_000), fc.nat(255)), { minLength: 1, maxLength: 3 }))
    .map(([{ bytes }, changes]) => {
      const copy = Buffer.from(bytes);
      for (const [at, value] of changes) copy[at % copy.length] = value;
      return copy;
    }),
);

const cut = unsound(fc.tuple(sound, fc.nat(5_000)).map(([{ bytes }, at]) => bytes.subarray(0, at % bytes.length)));

const inPieces = (bytes: Buffer, size: number): Buffer[] =>
  size === 0
    ? [bytes]
    : Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));

/** Some write byte by byte, some leave in the middle. */
const scripts: fc.Arbitrary<Script & { readonly isSound: boolean }> = fc
  .record({
    written: fc.oneof(sound, odd, damaged, cut),
    pieceBytes: fc.constantFrom(0, 0, 0, 1, 40),
    pauseMs: fc.constantFrom(0, 0, 1),
    leaves: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  })
  .map(({ written: { bytes, methods, isSound }, pieceBytes, pauseMs, leaves }) => ({
    pieces: inPieces(bytes, bytes.length > 2_000 ? 0 : pieceBytes),
    pauseMs,
    ending: leaves ? 'leave' : isSound ? 'wait' : 'finish',
    methods,
    isSound: isSound && !leaves,
  }));

export const socketsProbe = (watched: Watched): Probe =>
  probe('sockets', scripts, async ({ isSound, ...script }) => {
    await watched.converse(script, isSound);
  });
