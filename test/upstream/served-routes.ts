/** Routes of the real catalogue, served by the doubles over HTTP as the gateway serves them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { request } from 'undici';
import { enveloped } from '../../src/catalogue/endpoint.ts';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import type { Catalogue, NetworkId, Route } from '../../src/catalogue/types.ts';
import { readInput, resultFault } from '../../src/http/input.ts';
import { pricingRules } from '../../src/pricing/index.ts';
import { type Doubles, sandboxSecret, startDoubles } from '../../src/sandbox/doubles/index.ts';
import { adapters } from '../../src/upstream/adapters/index.ts';
import { openUpstreams } from '../../src/upstream/bindings.ts';
import { recipes } from '../../src/upstream/recipes/index.ts';
import { openCallContext } from './call-context.ts';

export const openCatalogue = (): Catalogue =>
  loadCatalogue(process.env.TURNPIKE_CATALOGUE ?? 'catalogue', { rules: pricingRules, adapters, recipes });

export interface ServedOptions {
  /** An upstream some of whose paths answer 500. */
  failing?: { upstream: string; paths: RegExp };
  /** Environment variables that are not set. */
  without?: readonly string[];
  now?: () => number;
}

export interface Served {
  doubles: Doubles;
  catalogue: Catalogue;
  routeAt(path: string): Route;
  /**
   * What a caller of the path reads. Throws Problem for an input that the schema refuses, UpstreamProblem, and an Error
   * for a result that does not fit its schema.
   */
  ask<Answer = Record<string, unknown>>(path: string, input?: object, network?: NetworkId): Promise<Answer>;
}

export async function openServed(t: Test, options: ServedOptions = {}): Promise<Served> {
  const catalogue = openCatalogue();
  const doubles = await startDoubles({ upstreams: [...catalogue.upstreams.values()] });
  const { failing, without = [], now } = options;
  const faulty = failing && (await openFaulty(t, doubles.baseUrlOf(failing.upstream), failing.paths));
  const upstreams = openUpstreams({
    catalogue,
    adapters,
    recipes,
    secretOf: (variable) => (without.includes(variable) ? undefined : sandboxSecret(variable)),
    baseUrlOf: ({ name }) => (name === failing?.upstream ? faulty : doubles.baseUrlOf(name)),
    sandbox: true,
  });
  t.teardown(async () => {
    await upstreams.close();
    await doubles.close();
  });
  const context = openCallContext(t, { trustedOrigins: [doubles.origin], ...(now && { now }) });
  const routeAt = (path: string): Route => {
    const found = catalogue.routes.find((route) => route.path === path);
    if (found === undefined) throw new Error(`nothing is sold at ${path}`);
    return found;
  };
  return {
    doubles,
    catalogue,
    routeAt,
    async ask<Answer>(path: string, input: object = {}, network?: NetworkId) {
      const route = routeAt(path);
      const isGet = route.methods[0] === 'GET';
      const validated = readInput(route, {
        method: isGet ? 'GET' : 'POST',
        path,
        query: isGet ? String(new URLSearchParams(input as Record<string, string>)) : '',
        headers: {},
        body: Buffer.from(JSON.stringify(input)),
      });
      const paying = network ?? route.networks[0] ?? 'chain-a';
      const result = await upstreams.call(route, validated, { ...context, endpoint: route.endpoint.id, network: paying });
      const fault = resultFault(route, result);
      if (fault !== undefined) throw new Error(`${path}: ${fault}`);
      return enveloped(result, route.envelope) as Answer;
    },
  };
}

/** Stands before a double and answers 500 at some of its paths. */
async function openFaulty(t: Test, target: string, paths: RegExp): Promise<string> {
  const { origin, pathname } = new URL(target);
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    if (paths.test(incoming.url ?? '')) {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":"out of order"}');
      return;
    }
    const { host: _, connection: __, ...headers } = incoming.headers;
    const answer = await request(origin + incoming.url, {
      method: incoming.method === 'POST' ? 'POST' : 'GET',
      headers,
      body: chunks.length > 0 ? Buffer.concat(chunks) : null,
    });
    response.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(Buffer.from(await answer.body.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
}
