/** What a gateway does in a process of its own when it is sent a signal. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { request, sendProof, signProof } from './clients.ts';
import { catalogueOf } from './few-endpoints.ts';
import { freePort } from './free-port.ts';
import type { Gateway } from './gateway.ts';
import { groupOf, printed, type Run, start, startMain } from './started.ts';

/** A gateway that has a paid call under way whose provider never answers. */
async function atWork(t: Test, run: (environment: Record<string, string>) => Run, drainSeconds: string) {
  const catalogue = catalogueOf(t, ['image/family-e-2']);
  const port = String(await freePort());
  const running = run({
    PORT: port,
    TURNPIKE_CATALOGUE: catalogue,
    TURNPIKE_DATA: join(catalogue, '..', 'data'),
    TURNPIKE_DRAIN_SECONDS: drainSeconds,
    LOG_LEVEL: 'error',
  });
  const leader = running.child.pid ?? 0;
  t.teardown(() => {
    if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
  });
  await printed(running, /^ready /m);
  const url = `http://127.0.0.1:${port}`;
  const gateway = { url, state: await (await fetch(`${url}/sandbox`)).json() } as unknown as Gateway;
  const asked = request(gateway, '/sandbox/faults', { upstream: 'predictions', fault: 'timeout', count: 5 });
  t.equal((await fetch(asked.url, asked.init)).status, 200);
  const call = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
  const paid = sendProof(call, await signProof(gateway, 'chain-c', call));
  const calls = async () => (await (await fetch(`${url}/sandbox/calls`)).json()) as { upstreamCalls: number };
  while ((await calls()).upstreamCalls === 0) await delay(1);
  return { running, leader, call, paid };
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`after ${signal} what is under way is answered, new calls are told, and everything ends`, async (t) => {
    const { running, leader, call, paid } = await atWork(t, startMain, '8');
    process.kill(leader, signal);
    await printed(running, new RegExp(`^${signal}: finishing what is under way$`, 'm'));
    const refused = await fetch(call.url, call.init);
    t.equal(refused.status, 503);
    t.match(await refused.json(), { error: { code: 'draining' } });
    const answer = await paid;
    t.equal(answer.status, 503, 'its provider never answered');
    t.match(await answer.json(), { error: { code: 'draining', message: /nothing was charged/ } });
    t.equal(await running.ended, 0);
    t.same(groupOf(leader), []);
    await t.rejects(fetch(call.url, call.init));
  });

  t.test(`${signal} to npm and all that it has started, as a terminal or systemd sends it, is one`, async (t) => {
    const { running, leader, paid } = await atWork(t, start, '1');
    process.kill(-leader, signal);
    t.equal((await paid).status, 503, 'it is answered all the same');
    await running.ended;
    t.same(groupOf(leader), []);
  });
}

t.test('whoever asks again does not wait', async (t) => {
  const { running, leader, paid } = await atWork(t, startMain, '600');
  const lost = t.rejects(paid);
  while (running.child.exitCode === null) {
    process.kill(leader, 'SIGINT');
    await delay(50);
  }
  t.equal(await running.ended, 1);
  await lost;
});

t.test('a gateway that is asked for its catalogue again while it starts reads it once more, and goes on', async (t) => {
  const held: ServerResponse[] = [];
  const answer = (response: ServerResponse) => response.end('{"kinds":[]}');
  let isHeld = true;
  const facilitator = createServer((_asked, response) => void (isHeld ? held.push(response) : answer(response)));
  facilitator.listen(0, '127.0.0.1');
  await once(facilitator, 'listening');
  t.teardown(() => void facilitator.close().closeAllConnections());
  const catalogue = catalogueOf(t, ['image/family-a-2-pro']);
  const run = startMain({
    TURNPIKE_MODE: 'live',
    TURNPIKE_PUBLIC_URL: 'https://gateway.example',
    TURNPIKE_PAY_TO_EVM: `0x${'ab'.repeat(20)}`,
    TURNPIKE_FACILITATOR_URL: `http://127.0.0.1:${(facilitator.address() as AddressInfo).port}`,
    TURNPIKE_MPP_SECRET: 'a secret of the test that is long enough',
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    TURNPIKE_CATALOGUE: catalogue,
    TURNPIKE_DATA: join(catalogue, '..', 'data'),
    LOG_LEVEL: 'silent',
  });
  const leader = run.child.pid ?? 0;
  t.teardown(() => {
    if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
  });
  while (held.length === 0) await delay(5);
  // By now it has read them.
  const file = join(catalogue, 'endpoints/image/family-a-2-pro.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"0.05"', '"0.09"'));
  process.kill(leader, 'SIGHUP');
  process.kill(leader, 'SIGUSR2');
  isHeld = false;
  held.forEach(answer);
  t.match(await printed(run, /^catalogue \w+ is sold now/m), /^ready /m);
  process.kill(leader, 'SIGTERM');
  t.equal(await run.ended, 0);
});
