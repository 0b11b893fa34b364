/** Every path that is not sold, and paths that are written oddly, by every method. */
import * as fc from 'fast-check';
import type { Route } from '../../src/catalogue/types.ts';
import { asCurl, type Body, type Call, JSON_TYPE, jsonBody, send } from './call.ts';
import { edited, edits } from './edits.ts';
import { oddHeaders } from './odd-headers.ts';
import { type Probe, probe } from './probe.ts';
import { Violation } from './violation.ts';
import type { Watched } from './watched.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH'];

const OWN = [
  '/',
  '/healthz',
  '/llms.txt',
  '/openapi.json',
  '/openapi/x402.json',
  '/x402-resources',
  '/.well-known/x402',
  '/favicon.ico',
  '/mcp',
  '/server.json',
  '/.well-known/mcp/server-card.json',
  '/metrics',
  '/media/',
  '/media/none.png',
  '/sandbox',
  '/sandbox/calls',
  '/sandbox/faults',
  '/v1/models',
  '/v1/models/vendor1-opus-5',
  '/v1/chat/completions',
  '/v1/credits',
  '/v1/purchases',
  '/v1/',
  '/nothing',
];

/** What is done to a path, in the order in which it stands here. */
const WRITINGS: Readonly<Record<string, (path: string) => string>> = {
  plain: (path) => path,
  capitals: (path) => path.toUpperCase(),
  slash: (path) => `${path}/`,
  slashes: (path) => path.replaceAll('/', '//'),
  up: (path) => `/media/..${path}`,
  encodedUp: (path) => `/media/%2e%2e%2f${path.slice(1)}`,
  encoded: (path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  malformed: (path) => `${path}%E0%A4%A`,
  nul: (path) => `${path}%00`,
  absolute: (path) => `http://gateway.example${path}`,
  otherScheme: (path) => `ftp://gateway.example${path}`,
  fragment: (path) => `${path}#fragment`,
  parameters: (path) => `${path};a=b`,
  prototype: (path) => `${path}/__proto__`,
  long: (path) => path + '/a'.repeat(7_000),
  longQuery: (path) => `${path}?${'a=b&'.repeat(3_500)}`,
  query: (path) => `${path}?__proto__[a]=1&a[b]=2&c`,
  bytes: (path) => `${path}/\xff\xfe`,
  withoutSlash: (path) => path.slice(1),
  star: () => '*',
};

/** A fault that the sandbox was really asked for would make other calls fail. */
function harmless(value: unknown): unknown {
  const asked = value as { count?: unknown } | null;
  return typeof asked === 'object' && asked !== null && !Array.isArray(asked) ? { ...asked, count: 0 } : value;
}

const faults = fc
  .tuple(
    fc.constantFrom({ upstream: 'chat', fault: '500', count: 0 }, { settlement: 'chain-c', fault: 'refuse', count: 0 }),
    edits,
  )
  .map(([fault, list]) => jsonBody(harmless(edited(fault, list))));

const bodies: fc.Arbitrary<Body | undefined> = fc.oneof(fc.constant(undefined), fc.constant(jsonBody({})), faults);

export function pathsProbe(watched: Watched, routes: readonly Route[], media: string): Probe {
  const paths = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...OWN, media) },
    { weight: 1, arbitrary: fc.constantFrom(...routes.map(({ path }) => path)) },
    { weight: 1, arbitrary: fc.webPath().map((path) => path || '/') },
  );
  const calls = fc
    .record({
      method: fc.constantFrom(...METHODS),
      path: paths,
      writing: fc.constantFrom(...Object.keys(WRITINGS)),
      headers: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: oddHeaders }),
      body: bodies,
    })
    .map(({ path, writing, headers, ...rest }) => ({
      call: { ...rest, target: WRITINGS[writing]?.(path) || '/', headers: [JSON_TYPE, ...headers] } satisfies Call,
      isSound: writing === 'plain' && headers.length === 0,
    }));
  return probe('paths', calls, async ({ call, isSound }) => {
    await (isSound ? watched.send(call) : watched.sendOdd(call));
    if (call.target.startsWith('/metrics')) await answersWithoutFault(watched, call);
  });
}

/** The operator's port is plain HTTP without problems in JSON. */
async function answersWithoutFault({ gateway }: Watched, call: Call): Promise<void> {
  const { answer } = await send(gateway.adminUrl, call, false);
  if (answer && answer.status >= 500)
    throw new Violation(`is a ${answer.status} of the operator's port`, asCurl(gateway.adminUrl, call));
}
