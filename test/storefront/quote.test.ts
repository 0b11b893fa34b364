import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { askPrice } from '../../src/storefront/browser/request/quote.ts';

t.test('a price that nobody waits for any more is none, also where its answer has begun', async (t) => {
  const challenge = { x402Version: 2, resource: {}, accepts: [{ amount: '50000' }] };
  const server = createServer((request, response) => {
    response.setHeader('payment-required', Buffer.from(JSON.stringify(challenge)).toString('base64'));
    response.writeHead(402, { 'content-type': 'application/json' }).flushHeaders();
    if (request.url === '/whole') response.end('{}');
  });
  t.teardown(() => server.close().closeAllConnections());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = (path: string, signal: AbortSignal) =>
    askPrice({ method: 'POST', url: `http://127.0.0.1:${port}${path}`, body: '{}' }, signal);
  t.match(await asked('/whole', new AbortController().signal), { price: '0.05', faults: [] });

  const { fetch } = globalThis;
  t.teardown(() => {
    globalThis.fetch = fetch;
  });
  const typing = new AbortController();
  globalThis.fetch = async (...request) => {
    const response = await fetch(...request);
    typing.abort();
    return response;
  };
  await t.rejects(asked('/begun', typing.signal), { name: 'AbortError' });
});
