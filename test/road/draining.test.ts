/** Work that has begun is finished before the gateway stops, also where its caller has gone away. */
import '../payment/facilitators/own-fetch.ts';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t from 'tap';
import { openApp } from '../../src/app.ts';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { openSandbox } from '../../src/sandbox/index.ts';
import { shipped } from '../../src/shipped.ts';
import { request, sendProof, signProof } from '../clients.ts';
import { freePort, type Gateway, startGateway } from '../gateway.ts';

t.test('a call whose caller has gone away ends before the gateway does', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-test-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const config = readConfig({
    PORT: String(await freePort()),
    TURNPIKE_DATA: directory,
    TURNPIKE_CATALOGUE: process.env.TURNPIKE_CATALOGUE ?? 'catalogue',
    LOG_LEVEL: 'silent',
  });
  const log = createLog('silent');
  const catalogue = loadCatalogue(config.catalogueDirectory, shipped);
  const sandbox = await openSandbox(catalogue, log, { networks: ['chain-c'], tempo: false });
  t.teardown(sandbox.stop);
  const app = await openApp(config, catalogue, sandbox, log);
  const gateway = { url: app.url, state: sandbox.state } as unknown as Gateway;
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
  const proof = await signProof(gateway, 'chain-c', call);
  const calls = async () =>
    ((await (await fetch(`${app.url}/sandbox/calls`)).json()) as { upstreamCalls: number }).upstreamCalls;
  const before = await calls();
  const caller = new AbortController();
  const gone = fetch(call.url, {
    ...call.init,
    headers: { ...(call.init.headers as Record<string, string>), ...proof },
    signal: caller.signal,
  }).catch(() => undefined);
  while ((await calls()) === before) await delay(1);
  caller.abort();
  await gone;
  await app.close();
  const database = new Database(join(directory, 'turnpike.sqlite'));
  const { state } = database.prepare('SELECT state FROM payments').get() as { state: string };
  database.close();
  t.equal(state, 'settled');
});

t.test('a connection on which nothing is asked keeps nobody from stopping', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'], environment: { TURNPIKE_DRAIN_SECONDS: '3600' } });
  const silent = connect({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) });
  await once(silent, 'connect');
  // The gateway has it by the time it answers somebody who came later.
  t.ok((await fetch(`${gateway.url}/healthz`)).ok);
  const closed = once(silent, 'close');
  await gateway.stop();
  await closed;
});

t.test('while a call is finished, new ones are told that the gateway is shutting down', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'], environment: { TURNPIKE_DRAIN_SECONDS: '5' } });
  await gateway.fault({ upstream: 'predictions', fault: 'timeout', count: 5 });
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
  const proof = await signProof(gateway, 'chain-c', call);
  const paid = sendProof(call, proof);
  while ((await gateway.calls()).upstreamCalls === 0) await delay(1);
  const stopped = gateway.stop();
  t.teardown(() => stopped);
  const refused = await fetch(call.url, call.init);
  t.equal(refused.status, 503);
  t.match(await refused.json(), { error: { code: 'draining' } });
  t.equal((await paid).status, 500, 'its provider never answered');
  await stopped;
  await t.rejects(fetch(call.url, call.init));
});
