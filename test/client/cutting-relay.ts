/** What stands between a client and a gateway, and loses answers to payments. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface CuttingRelay {
  readonly url: string;
  /** Payments that came by, as they were sent. */
  readonly payments: string[];
  /** How many answers to payments are lost from now on, after the gateway gave them. */
  cuts: number;
  /** What the next payments are answered once those are lost, without the gateway. */
  readonly instead: { readonly status: number; readonly body: unknown }[];
}

export async function startCuttingRelay(t: Test, target: string): Promise<CuttingRelay> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = 'GET', url = '/', headers } = request;
    const passed = ['content-type', 'payment-signature', 'authorization'].flatMap((name) =>
      headers[name] ? [[name, String(headers[name])] as const] : [],
    );
    const body = method === 'GET' ? null : Buffer.concat(chunks);
    const payment = headers['payment-signature'] ?? headers.authorization;
    const own = payment !== undefined && relay.cuts === 0 ? relay.instead.shift() : undefined;
    if (own) {
      relay.payments.push(String(payment));
      response.writeHead(own.status, { 'content-type': 'application/json' }).end(JSON.stringify(own.body));
      return;
    }
    const answer = await fetch(target + url, { method, headers: Object.fromEntries(passed), body });
    const found = Buffer.from(await answer.arrayBuffer());
    if (payment !== undefined) {
      relay.payments.push(String(payment));
      if (relay.cuts > 0) {
        relay.cuts -= 1;
        response.destroy();
        return;
      }
    }
    const { 'content-encoding': _, 'transfer-encoding': __, ...others } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, { ...others, 'content-length': found.length }).end(found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  const relay: CuttingRelay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments: [],
    cuts: 0,
    instead: [],
  };
  return relay;
}
