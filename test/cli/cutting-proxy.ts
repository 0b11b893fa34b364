/** What stands between the command and the gateway, and loses answers. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { type Gate, openGate } from '../relay.ts';

export interface CuttingProxy {
  readonly url: string;
  /** Payments that came by, as JSON. */
  readonly payments: string[];
  /**
   * What becomes of the next paid calls, in order: their answers are lost before their first byte, or in the middle of a stream;
   * the gateway never has the call; nothing is lost; a page of 502 takes their place.
   */
  readonly cuts: ('at once' | 'in the stream' | 'on the way' | 'not at all' | 'by a page')[];
  /** Unpaid calls, and all else that is asked for, are answered with a page of 502. */
  isDown: boolean;
  /** Answers to paid calls pass here, after the gateway has given them. */
  readonly gate: Gate;
}

const PASSED = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** As long as those of services that stand before many gateways. */
function sendPage(response: ServerResponse): void {
  const page = `<html>\r\n<title>502 Bad Gateway</title>\r\n${'<p>Try again in a minute.</p>\r\n'.repeat(300)}</html>\r\n`;
  response.writeHead(502, { 'content-type': 'text/html' }).end(page);
}

export async function startCuttingProxy(t: Test, target: string): Promise<CuttingProxy> {
  const gate = openGate();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const payment = body === '' ? undefined : JSON.parse(body).params?._meta?.['x402/payment'];
    const cut = payment && proxy.cuts.shift();
    if (payment) proxy.payments.push(JSON.stringify(payment));
    if (cut === 'on the way') {
      response.destroy();
      return;
    }
    if (proxy.isDown && !payment) {
      sendPage(response);
      return;
    }
    const headers = PASSED.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : []));
    const { method = 'GET', url = '/' } = request;
    const answer = await fetch(target + url, {
      method,
      headers: Object.fromEntries(headers),
      ...(body !== '' && { body }),
    });
    const found = Buffer.from(await answer.arrayBuffer());
    if (payment) {
      await gate.pass();
      if (cut === 'in the stream') {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(': on its way\n\n', () => response.destroy());
        return;
      }
      if (cut === 'by a page') {
        sendPage(response);
        return;
      }
      if (cut === 'at once') {
        response.destroy();
        return;
      }
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    gate.open();
    server.close().closeAllConnections();
  });
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments: [],
    cuts: [],
    isDown: false,
    gate,
  };
  return proxy;
}
