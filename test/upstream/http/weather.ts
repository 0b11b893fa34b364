/** An upstream: a server of the test's own, and the gateway's way to it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { Upstream } from '../../../src/catalogue/types.ts';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { openUpstreamHttp, type UpstreamHttpOptions } from '../../../src/upstream/http/client.ts';

export const SECRET = 'sk-very-secret';

export async function serve(
  t: Test,
  handler: (request: IncomingMessage, response: ServerResponse, call: number) => void,
) {
  let calls = 0;
  const server = createServer((request, response) => {
    calls += 1;
    handler(request, response, calls);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls, server };
}

interface Options extends Partial<Pick<UpstreamHttpOptions, 'timeoutMs' | 'now' | 'log' | 'exchanged' | 'secrets'>> {
  upstream?: Partial<Upstream>;
  authorize?: Adapter['authorize'];
  tokenRequest?: Adapter['tokenRequest'];
  path?: string;
}

export function connect(t: Test, origin: string, given: Options = {}) {
  const { upstream, authorize, tokenRequest, path = '', ...options } = given;
  const http = openUpstreamHttp({
    upstream: { name: 'weather', adapter: 'weather', baseUrl: 'https://weather.example', ...upstream },
    adapter: { authorize, tokenRequest },
    baseUrl: origin + path,
    secrets: { key: SECRET },
    ...options,
  });
  t.teardown(() => http.close());
  return http;
}

export const signal = new AbortController().signal;
export const get = { method: 'GET', path: '/', signal } as const;
export const post = { method: 'POST', path: '/', signal } as const;

export const json = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status).end(JSON.stringify(value));
