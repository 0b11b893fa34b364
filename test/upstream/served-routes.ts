/** Routes of the real catalogue, served by the doubles over HTTP as the gateway serves them. */
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import type { Test } from 'tap';
import { request } from 'undici';
import { enveloped } from '../../src/catalogue/endpoints/endpoint.ts';
import type { Catalogue, NetworkId, Route } from '../../src/catalogue/types.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { readInput, resultFault } from '../../src/lifecycle/input.ts';
import type { Log } from '../../src/log.ts';
import { toDecimal } from '../../src/money.ts';
import { type Doubles, sandboxSecret, startDoubles } from '../../src/sandbox/doubles/index.ts';
import { openUpstreams } from '../../src/upstream/bindings.ts';
import { loadSound } from '../load-catalogue.ts';
import { openCallContext } from './call-context.ts';

let loaded: Catalogue | undefined;

/** Read once for all tests of a file: nothing changes it. */
export function openCatalogue(): Catalogue {
  loaded ??= loadSound();
  return loaded;
}

interface StandIn {
  upstream: string;
  /** What the upstream answers instead of its double's answer; undefined leaves that as it is. */
  answer(path: string, body: string): { status: number; json: unknown } | undefined;
}

/** Answers 500 at some paths. */
export const failingAt = (upstream: string, paths: RegExp): StandIn => ({
  upstream,
  answer: (path) => (paths.test(path) ? { status: 500, json: { error: 'out of order' } } : undefined),
});

interface ServedOptions {
  standIn?: StandIn;
  /** Environment variables that are not set. */
  without?: readonly string[];
  now?: () => number;
  log?: Log;
  deadlineMs?: number;
  /** In place of the shipped one. */
  catalogue?: Catalogue;
}

interface Served {
  doubles: Doubles;
  catalogue: Catalogue;
  routeAt(path: string): Route;
  /**
   * What a caller of the path reads. Throws Problem for an input that the schema refuses, UpstreamProblem, and an Error
   * for a result that does not fit its schema.
   */
  ask<Answer = Record<string, unknown>>(path: string, input?: object, network?: NetworkId): Promise<Answer>;
  /** What the same request is quoted at, in dollars. */
  quote(path: string, input: object): string;
  /** The bytes behind an address that the media store gave. */
  stored(url: string): Promise<Buffer>;
}

export async function openServed(t: Test, options: ServedOptions = {}): Promise<Served> {
  const { catalogue = openCatalogue() } = options;
  const doubles = await startDoubles({ upstreams: [...catalogue.upstreams.values()], routes: catalogue.routes });
  const { standIn, without = [], now, log, deadlineMs } = options;
  const before = standIn && (await openStandIn(t, doubles.baseUrlOf(standIn.upstream), standIn));
  const upstreams = openUpstreams({
    catalogue,
    ...shipped,
    secretOf: (variable) => (without.includes(variable) ? undefined : sandboxSecret(variable)),
    baseUrlOf: ({ name }) => (name === standIn?.upstream ? before : doubles.baseUrlOf(name)),
    sandbox: true,
    ...(log && { log }),
  });
  t.teardown(async () => {
    await upstreams.close();
    await doubles.close();
  });
  const context = openCallContext(t, {
    originOf: upstreams.originOf,
    readFrom: doubles.webUrl,
    ...(now && { now }),
    ...(deadlineMs && { deadlineMs }),
  });
  const routeAt = (path: string): Route => {
    const found = catalogue.routes.find((route) => route.path === path);
    if (found === undefined) throw new Error(`nothing is sold at ${path}`);
    return found;
  };
  const validated = (route: Route, input: object) => {
    const isGet = route.methods[0] === 'GET';
    return readInput(route, {
      transport: 'http',
      method: isGet ? 'GET' : 'POST',
      path: route.path,
      query: isGet ? String(new URLSearchParams(input as Record<string, string>)) : '',
      headers: {},
      body: Buffer.from(JSON.stringify(input)),
    });
  };
  return {
    doubles,
    catalogue,
    routeAt,
    quote: (path, input) => toDecimal(routeAt(path).price.quote(validated(routeAt(path), input))),
    stored: (url) => readFile(join(context.mediaDirectory, basename(new URL(url).pathname))),
    async ask<Answer>(path: string, input: object = {}, network?: NetworkId) {
      const route = routeAt(path);
      const paying = network ?? route.networks[0] ?? 'chain-a';
      const result = await upstreams.call(route, validated(route, input), {
        ...context,
        endpoint: route.endpoint.id,
        network: paying,
      });
      const fault = resultFault(route, result);
      if (fault !== undefined) throw new Error(`${path}: ${fault}`);
      return enveloped(result, route.envelope) as Answer;
    },
  };
}

/** Stands before a double. */
async function openStandIn(t: Test, target: string, { answer }: StandIn): Promise<string> {
  const { origin, pathname } = new URL(target);
  const server = createServer((incoming, response) => {
    // A call that nobody waits for any more can outlive the doubles.
    serve(incoming, response).catch(() => response.destroy());
  });
  async function serve(incoming: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const [path, body] = [incoming.url ?? '/', Buffer.concat(chunks)];
    const json = { 'content-type': 'application/json' };
    const instead = answer(path, body.toString('utf8'));
    if (instead) return response.writeHead(instead.status, json).end(JSON.stringify(instead.json));
    const { host: _, connection: __, ...headers } = incoming.headers;
    const passed = await request(origin + path, {
      method: incoming.method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body.length > 0 ? body : null,
    });
    const bytes = Buffer.from(await passed.body.arrayBuffer());
    const type = String(passed.headers['content-type']);
    // Addresses that the double hands out lead here, too.
    const told = type.includes('json') ? bytes.toString('utf8').replaceAll(origin, own()) : bytes;
    return response.writeHead(passed.statusCode, { 'content-type': type }).end(told);
  }
  const own = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return own() + pathname;
}
