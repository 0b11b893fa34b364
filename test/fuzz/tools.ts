/** Messages to the MCP door without a payment: what the protocol takes, and what it nearly takes. */
import * as fc from 'fast-check';
import type { Route } from '../../src/catalogue/types.ts';
import { asJsonObject } from '../../src/json.ts';
import { plausibleRequests } from '../soak/inputs.ts';
import { jsonOf } from './answers.ts';
import { asCurl, type Call, JSON_TYPE, jsonBody } from './call.ts';
import { edited, edits } from './edits.ts';
import { fewHeaders } from './odd-headers.ts';
import { type Probe, probe } from './probe.ts';
import { Violation } from './violation.ts';
import type { Watched } from './watched.ts';

const METHODS = [
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'notifications/initialized',
  'nothing',
];

const OWN = ['search_endpoints', 'describe_endpoint', 'call_endpoint', 'quote', 'purchases', '__proto__', ''];

const QUERIES = [
  '',
  '',
  '',
  '?tools=search',
  '?tools=image,token',
  '?networks=chain-c',
  '?tools=%00',
  '?tools',
  '?a=b',
];

const REVISIONS = ['2025-06-18', '2026-07-28', '2024-11-05', '1'];

const PAYMENTS = ['x402/payment', 'org.paymentauth/credential', 'progressToken', 'turnpike/replayed'];

const metas = fc.dictionary(fc.constantFrom(...PAYMENTS), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 2 });

function paramsOf(routes: readonly Route[]): fc.Arbitrary<object> {
  const sold = routes
    .filter(({ kind }) => kind === 'base')
    .map((route) =>
      plausibleRequests(route.request).map((input) => ({
        name: route.path.slice(1).replaceAll('/', '_'),
        arguments: input,
      })),
    );
  const own = fc.record({
    name: fc.constantFrom(...OWN),
    arguments: fc.dictionary(
      fc.constantFrom('name', 'arguments', 'query', 'proof', 'limit', 'before', 'maxPrice', 'group'),
      fc.jsonValue({ maxDepth: 2 }),
      { maxKeys: 3 },
    ),
  });
  return fc.oneof({ weight: 3, arbitrary: fc.oneof(...sold) }, { weight: 2, arbitrary: own });
}

function messagesOf(routes: readonly Route[]): fc.Arbitrary<unknown> {
  const call = fc
    .tuple(paramsOf(routes), metas)
    .map(([params, _meta]) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta } }));
  const other = fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.constant(1), fc.jsonValue({ maxDepth: 1 })),
    method: fc.constantFrom(...METHODS),
    params: fc.jsonValue({ maxDepth: 3 }),
  });
  const sound = fc.oneof({ weight: 4, arbitrary: call }, { weight: 1, arbitrary: other });
  return fc.tuple(sound, fc.oneof(fc.constant([]), edits)).map(([message, list]) => edited(message, list));
}

export function toolsProbe(watched: Watched, routes: readonly Route[]): Probe {
  const calls = fc
    .tuple(messagesOf(routes), fc.constantFrom(...QUERIES), fc.constantFrom(...REVISIONS), fewHeaders)
    .map(
      ([message, query, revision, headers]): Call => ({
        method: 'POST',
        target: `/mcp${query}`,
        headers: [
          JSON_TYPE,
          ['accept', 'application/json, text/event-stream'],
          ['mcp-protocol-version', revision],
          ...headers,
        ],
        body: jsonBody(message),
      }),
    );
  return probe('tools', calls, async (call) => {
    const answer = await watched.send(call);
    const { result } = asJsonObject(jsonOf(answer));
    const { error } = asJsonObject(asJsonObject(result).structuredContent);
    if (asJsonObject(error).code !== 'internal_error') return;
    throw new Violation('a tool call is a fault of the gateway’s own', asCurl(watched.gateway.url, call));
  });
}
