/** A key with money in front of a provider of a test's own. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { openGateway } from './gateway.ts';

/** In millionths of a dollar. */
const BALANCE = 10_000_000n;

/** A gateway with a funded key; its provider has `write` answer whatever it is asked. */
export async function openFunded(t: Test, write: (response: ServerResponse) => unknown) {
  let asked = 0;
  const provider = createServer(async (request, response) => {
    asked += 1;
    for await (const _ of request);
    await write(response);
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
  t.teardown(() => {
    provider.close().closeAllConnections();
  });
  const mainUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const { origin, key, settled } = await openGateway(t, { mainUrl });
  const { apiKey } = await key('10');
  return {
    ask: (more: object) =>
      fetch(`${origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sage', messages: [{ role: 'user', content: 'x' }], ...more }),
      }),
    charged: async () => BALANCE - (await settled(apiKey)),
    timesAsked: () => asked,
  };
}
