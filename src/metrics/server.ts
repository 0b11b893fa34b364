/**
 * The operator's own port: `GET /metrics`, for Prometheus, and the two probes. What is earned and lost is nobody else's
 * business.
 */
import { createServer, type Server } from 'node:http';
import type { Readiness } from '../readiness.ts';
import type { Metrics } from './metrics.ts';

interface Served {
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  health(): object;
  readiness(): Readiness;
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const json = (status: number, value: object): Page => ({
  status,
  type: 'application/json; charset=utf-8',
  text: JSON.stringify(value),
});

/** Listens. Rejects when the address cannot be had. */
export async function serveMetrics(
  served: Served,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Server> {
  const { metrics, health, readiness } = served;
  const pages: Readonly<Record<string, () => Page | Promise<Page>>> = {
    '/metrics': async () => ({ status: 200, type: metrics.contentType, text: await metrics.text() }),
    '/healthz': () => json(200, health()),
    '/readyz': () => {
      const { ok, body } = readiness();
      return json(ok ? 200 : 503, body);
    },
  };
  const server = createServer(async (request, response) => {
    const page = pages[request.url?.split('?')[0] ?? ''];
    if (page === undefined) {
      response.writeHead(404).end();
    } else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
    } else {
      const { status, type, text } = await page();
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(text);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
