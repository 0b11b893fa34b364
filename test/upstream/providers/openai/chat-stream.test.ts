import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import t from 'tap';
import { openUpstreamHttp } from '../../../../src/upstream/http/client.ts';
import { streamCompletion } from '../../../../src/upstream/providers/openai/chat-client.ts';

const LAST = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

t.test('gives its turn back though a host that has said all of its answer never ends it', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(LAST);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const http = openUpstreamHttp({
    upstream: { name: 'chat', adapter: 'chat', baseUrl: 'https://chat.example', concurrency: 1 },
    adapter: {},
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    secrets: {},
  });
  t.teardown(async () => {
    await http.close();
    server.close();
    server.closeAllConnections();
  });
  const { signal } = new AbortController();
  const ask = async (): Promise<number> => {
    let chunks = 0;
    for await (const _ of streamCompletion({ upstream: 'chat', http }, {}, signal)) chunks += 1;
    return chunks;
  };
  t.equal(await ask(), 1);
  const next = ask();
  mock.timers.tick(60_000);
  t.equal(await next, 1);
});
