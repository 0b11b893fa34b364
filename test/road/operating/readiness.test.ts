/** Whether an instance may be sent calls is another question than whether its process lives. */
import { once } from 'node:events';
import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { watchDisk } from '../../../src/gateway/disk.ts';
import { createLog, type Log } from '../../../src/log.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { freePort } from '../../free-port.ts';
import { startGateway } from '../../gateway.ts';
import { shopFiles } from '../sold/shop-catalogue.ts';

const ask = async (url: string) => {
  const answer = await fetch(url);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

t.test('an instance is ready while its disk can be written, on both ports', async (t) => {
  const port = await freePort();
  const gateway = await startGateway({ networks: ['chain-c'], environment: { TURNPIKE_ADMIN_PORT: String(port) } });
  t.teardown(gateway.stop);
  const both = [gateway.url, `http://127.0.0.1:${port}`];
  for (const url of both) t.same(await ask(`${url}/readyz`), { status: 200, body: { status: 'ready' } });

  const away = `${gateway.directory}-away`;
  renameSync(gateway.directory, away);
  while ((await ask(`${gateway.url}/readyz`)).status === 200) await delay(100);
  for (const url of both) {
    t.match(await ask(`${url}/readyz`), {
      status: 503,
      body: { status: 'unavailable', failing: { disk: 'the data directory cannot be written' } },
    });
    t.match(await ask(`${url}/healthz`), { status: 200, body: { mode: 'sandbox', networks: ['chain-c'] } });
  }
  renameSync(away, gateway.directory);
  while ((await ask(`${gateway.url}/readyz`)).status !== 200) await delay(100);
});

t.test('nor is one whose database file was taken away: what it writes then is lost with its process', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const [file, away] = [join(gateway.directory, 'turnpike.sqlite'), join(gateway.directory, 'away')];
  renameSync(file, away);
  writeFileSync(file, '');
  while ((await ask(`${gateway.url}/readyz`)).status === 200) await delay(100);
  t.match(await ask(`${gateway.url}/readyz`), {
    status: 503,
    body: { status: 'unavailable', failing: { store: 'the database cannot be used' } },
  });
  renameSync(away, file);
  while ((await ask(`${gateway.url}/readyz`)).status !== 200) await delay(100);
});

t.test('nor does it sell then: what was bought would be lost, and nobody could show that it was', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const credits = request(gateway, '/v1/credits', { amount_usd: '5' });
  const paid = await signProof(gateway, 'chain-c', credits);
  const bought = await sendProof(credits, paid);
  const { api_key: key } = (await bought.json()) as { api_key: string };
  const chat = () =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'vendor2-3.5-flash', messages: [{ role: 'user', content: 'fog' }] }),
    });
  const call = request(gateway, '/llm/vendor2-3.5-flash', { prompt: 'fog' });
  const proof = await signProof(gateway, 'chain-c', call);
  const earned = await gateway.earned('chain-c');

  const [file, away] = [join(gateway.directory, 'turnpike.sqlite'), join(gateway.directory, 'away')];
  renameSync(file, away);
  copyFileSync(away, file);
  for (const refused of [await sendProof(call, proof), await chat()]) {
    t.equal(refused.status, 503);
    t.match(await refused.json(), { error: { code: 'store_unavailable' } });
  }
  t.equal(await gateway.earned('chain-c'), earned, 'nothing is charged');
  t.equal((await fetch(call.url, call.init)).status, 402, 'what it costs is told');
  t.match(await (await sendProof(credits, paid)).json(), { api_key: key }, 'what was bought before is answered');

  renameSync(away, file);
  t.equal((await sendProof(call, proof)).status, 200, 'the same payment buys it once the file is back');
  t.equal((await chat()).status, 200);
});

t.test('nor is one while what it sells could not be stored, its media being a mount of their own', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const [media, away] = [join(gateway.directory, 'media'), join(gateway.directory, 'away')];
  renameSync(media, away);
  while ((await ask(`${gateway.url}/readyz`)).status === 200) await delay(100);
  t.match(await ask(`${gateway.url}/readyz`), {
    status: 503,
    body: { status: 'unavailable', failing: { disk: 'the media folder of the data directory cannot be written' } },
  });
  renameSync(away, media);
  while ((await ask(`${gateway.url}/readyz`)).status !== 200) await delay(100);
});

t.test('an instance that shuts down says so, lives on, and finishes what is under way', async (t) => {
  const provider = createServer().listen(0, '127.0.0.1');
  await once(provider, 'listening');
  t.teardown(() => void provider.close().closeAllConnections());
  const files = shopFiles(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`, '');
  const gateway = await startGateway({
    catalogue: join(t.testdir({ catalogue: files }), 'catalogue'),
    networks: ['chain-c'],
    environment: { WEATHER_API_KEY: 'weather-key', TURNPIKE_DRAIN_SECONDS: '3600' },
  });
  const call = request(gateway, '/weather/report', { city: 'Lisbon' });
  const answer = sendProof(call, await signProof(gateway, 'chain-c', call));
  const [, response] = (await once(provider, 'request')) as [unknown, ServerResponse];
  const stopped = gateway.stop();
  t.match(await ask(`${gateway.url}/readyz`), {
    status: 503,
    body: { status: 'draining', failing: { draining: /shutting/ } },
  });
  t.match(await ask(`${gateway.url}/healthz`), { status: 200, body: { status: 'draining' } });
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ text: 'sunny' }));
  t.equal((await answer).status, 200);
  await stopped;
});

t.test('an instance that cannot be paid is not ready, and the log tells once why', async (t) => {
  const errors: [object, string][] = [];
  const log: Log = {
    ...createLog('silent'),
    debug() {},
    info() {},
    warn() {},
    error: (...line) => void errors.push(line),
  };
  const down = async (): Promise<never> => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  };
  const gateway = await startGateway({
    networks: ['chain-c'],
    log,
    between: async ({ facilitators }) => ({
      facilitators: facilitators.map(({ name, facilitator }) => ({
        name,
        facilitator: { ...facilitator, supported: down },
      })),
    }),
  });
  t.teardown(gateway.stop);
  t.match(await ask(`${gateway.url}/readyz`), {
    status: 503,
    body: { status: 'unavailable', failing: { payments: 'no network can be paid' } },
  });
  t.equal((await ask(`${gateway.url}/healthz`)).status, 200);
  const told = errors.filter(([, message]) => message === 'facilitator is out of reach');
  t.match(told, [[{ reason: 'fetch failed: connect ECONNREFUSED' }]]);
});

t.test('an instance whose node of Tempo is of another chain cannot be paid there', async (t) => {
  let told = '0x1';
  let ahead = 0;
  const node = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: told }));
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  t.teardown(() => void node.close().closeAllConnections());
  const gateway = await startGateway({
    networks: [],
    now: () => Date.now() + ahead,
    between: async ({ variables }) => ({
      variables: {
        ...variables,
        TURNPIKE_TEMPO_RPC_URL: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
        TURNPIKE_TEMPO_CURRENCY: `0x${'20'.repeat(20)}`,
        TURNPIKE_TEMPO_RECIPIENT: `0x${'11'.repeat(20)}`,
      },
    }),
  });
  t.teardown(gateway.stop);
  const readyz = () => ask(`${gateway.url}/readyz`);
  // Until the node has told, it is believed.
  while ((await readyz()).status === 200) await delay(20);
  t.match(await readyz(), { status: 503, body: { failing: { payments: 'no network can be paid' } } });
  told = `0x${(4217).toString(16)}`;
  ahead = 10_000;
  while ((await readyz()).status !== 200) await delay(20);
});

t.test('a disk with less than 64 MB left is full, before a write fails', async (t) => {
  let free = 63 * 1024 * 1024;
  const disk = watchDisk(
    { dataDirectory: t.testdir({ media: {} }), mediaBucket: undefined },
    createLog('silent'),
    async () => free,
  );
  await disk.check();
  t.match(disk.fault(), /less than 64 MB left/);
  free = 65 * 1024 * 1024;
  await disk.check();
  t.equal(disk.fault(), undefined);
});
