/** Work that has begun is finished before the gateway stops, also where its caller has gone away. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import t from 'tap';
import { openApp } from '../../../src/gateway/app.ts';
import { readConfig } from '../../../src/gateway/config.ts';
import { createLog } from '../../../src/log.ts';
import type { Facilitator } from '../../../src/payment/facilitators/facilitator.ts';
import { openSandbox } from '../../../src/sandbox/index.ts';
import { openChannel } from '../../channels.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { freePort } from '../../free-port.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { signHold } from '../../holds.ts';
import { loadSound } from '../../load-catalogue.ts';
import { holdingPauses } from '../../pauses.ts';
import { openGate } from '../../relay.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

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
  const catalogue = loadSound(config.catalogueDirectory);
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

t.test('a call whose connection was opened as the gateway stopped is told so', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  const { port } = new URL(gateway.url);
  const opened = connect(Number(port), '127.0.0.1');
  await once(opened, 'connect');
  t.ok((await fetch(`${gateway.url}/healthz`)).ok);
  // The gateway waits for a first word for a moment alone: that is not over before it has come.
  const goOn = holdingPauses(t);
  const stopped = gateway.stop();
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => {
        socket.destroy();
        resolve(false);
      });
      socket.once('error', () => resolve(true));
    });
  while (!(await isRefused())) await new Promise(setImmediate);
  opened.write('POST /image/family-e-2 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
  t.match(await text(opened), /^HTTP\/1.1 503 .*"draining"/s);
  goOn();
  await stopped;
});

t.test('a call that is on its way over a used connection as the gateway stops is told so, too', async (t) => {
  const gateway = await startGateway({ networks: ['chain-c'] });
  const { port } = new URL(gateway.url);
  const used = connect(Number(port), '127.0.0.1');
  const answers = text(used);
  used.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(used, 'readable');
  const goOn = holdingPauses(t);
  used.write('POST /image/family-e-2 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
  const stopped = gateway.stop();
  t.match(await answers, /HTTP\/1.1 200 .*HTTP\/1.1 503 .*"draining"/s);
  goOn();
  await stopped;
});

/** What a server answers to the beginning of a request, before it closes the connection. */
function answerToPart(url: string, part: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(part));
    socket.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    socket.on('end', () => resolve(answer)).on('error', reject);
  });
}

t.test('who has back what was locked, as the gateway stopped, is told to sign another payment', async (t) => {
  const data = t.testdir({});
  const gateway = await startRelayedGateway({
    catalogue: picturesWith(t, '{ hold: true, settleUpfront: { above: "0.01" } }'),
    networks: ['chain-a', 'chain-c'],
    environment: { TURNPIKE_DATA: data, TURNPIKE_DRAIN_SECONDS: '1' },
  });
  t.teardown(gateway.stop);
  const call = fresh(gateway);
  const proof = await signHold(gateway, call);
  const { upstreamCalls } = await gateway.calls();
  await gateway.fault({ upstream: 'predictions', fault: 'timeout' });
  const hung = sendProof(call, proof);
  while ((await gateway.calls()).upstreamCalls === upstreamCalls) await delay(5);
  const stopped = gateway.drain();
  const answer = await hung;
  t.equal(answer.status, 500);
  t.match(await answer.json(), {
    error: { code: 'refunded', message: /shutting down; what was locked is given back/ },
  });
  await stopped;
  const database = new Database(join(data, 'turnpike.sqlite'));
  const rows = database.prepare('SELECT state, reason FROM payments').all();
  database.close();
  t.match(rows, [{ state: 'unsettled', reason: 'draining: the payer has the money back' }]);
});

t.test('at the end of a drain everybody gets an answer that is true of their payment', async (t) => {
  const data = t.testdir({});
  const environment = { TURNPIKE_DATA: data, TURNPIKE_DRAIN_SECONDS: '3600' };
  const gateway = await startRelayedGateway({
    networks: ['chain-a', 'chain-c'],
    environment,
    // Who waits for the same payment is still waiting at the end.
    intervals: { waitMs: 60_000 },
  });
  t.teardown(gateway.stop);
  const pay = async (network: string, path: string, body: object) => {
    const call = request(gateway, path, body);
    return { call, proof: await signProof(gateway, network, call) };
  };
  const image = '/image/family-e-2';
  const [settling, hanging, owed] = [
    await pay('chain-c', image, { prompt: 'a lighthouse in good time' }),
    await pay('chain-c', image, { prompt: 'a lighthouse that nobody sees' }),
    await pay('chain-a', '/video/family-h-2.5', { prompt: 'a wave', duration: 4, resolution: '480p' }),
  ];
  const settlement = gateway.settlements.holdNext();
  const settled = sendProof(settling.call, settling.proof);
  await settlement.reached;
  const { upstreamCalls } = await gateway.calls();
  await gateway.fault({ upstream: 'predictions', fault: 'timeout', count: 9 });
  const hung = sendProof(hanging.call, hanging.proof);
  const paid = sendProof(owed.call, owed.proof);
  while ((await gateway.calls()).upstreamCalls < upstreamCalls + 2) await delay(5);
  const twin = sendProof(hanging.call, hanging.proof);
  const half = answerToPart(
    gateway.url,
    `POST ${image} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
  );

  await gateway.calls();
  const endDrain = holdingPauses(t);
  const stopped = gateway.drain();
  const refused = await fetch(hanging.call.url, hanging.call.init);
  t.equal(refused.status, 503, 'while calls are finished, new ones are told');
  t.match(await refused.json(), { error: { code: 'draining' } });
  endDrain();
  for (const [answer, message] of [
    [await hung, /nothing was charged/],
    [await twin, /shutting down/],
  ] as const) {
    t.equal(answer.status, 503);
    t.match(answer.headers.get('retry-after'), /^\d+$/);
    t.match(await answer.json(), { error: { code: 'draining', message } });
  }
  const without = await paid;
  t.equal(without.status, 500);
  t.match(without.headers.get('retry-after'), /^\d+$/);
  t.match(await without.json(), { error: { code: 'result_owed', message: /same payment/ } });
  t.match(await half, /^HTTP\/1.1 503 .*"draining"/s);
  // Longer than any grace for what was stopped: a settlement is never cut off.
  await delay(2_000);
  settlement.release();
  t.equal((await settled).status, 200);
  await stopped;
  await t.rejects(fetch(hanging.call.url, hanging.call.init));

  const database = new Database(join(data, 'turnpike.sqlite'));
  const rows = database.prepare('SELECT state, attempt, reason FROM payments ORDER BY state').all();
  database.close();
  t.same(rows, [
    { state: 'owed', attempt: 1, reason: 'draining' },
    { state: 'released', attempt: 1, reason: 'draining' },
    { state: 'settled', attempt: 1, reason: null },
  ]);
});

t.test(
  'a deposit that is being given back is back before the gateway ends, also where its payer has gone away',
  async (t) => {
    const data = t.testdir({});
    const refunds = openGate();
    t.teardown(refunds.open);
    const late = (facilitator: Facilitator): Facilitator => ({
      ...facilitator,
      async channels(caip2) {
        const operator = await facilitator.channels?.(caip2);
        return (
          operator && {
            ...operator,
            async refund(...asked) {
              await refunds.pass();
              return operator.refund(...asked);
            },
          }
        );
      },
    });
    const gateway = await startGateway({
      catalogue: picturesWith(t, '{ channels: true }'),
      networks: ['chain-c'],
      environment: { TURNPIKE_DATA: data, TURNPIKE_DRAIN_SECONDS: '3600' },
      between: async ({ facilitators }) => ({
        facilitators: facilitators.map((named) => ({ ...named, facilitator: late(named.facilitator) })),
      }),
    });
    const payer = openChannel(gateway);
    t.equal((await payer.buy(fresh(gateway))).status, 200);

    const held = refunds.holdNext();
    const leaving = new AbortController();
    const gone = payer.scheme.refund(`${gateway.url}/v1/channels`, {
      fetch: (input, init) => fetch(input, { ...init, signal: leaving.signal }),
    });
    await held.reached;
    leaving.abort();
    await t.rejects(gone);
    const stopped = gateway.stop();
    // Longer than any grace for the last answers: what moves money is never cut off.
    await delay(2_000);
    held.release();
    await stopped;

    const database = new Database(join(data, 'turnpike.sqlite'));
    const rows = database.prepare('SELECT balance, total_claimed, refund_nonce, refunding_until FROM channels').all();
    database.close();
    t.match(rows, [{ balance: '60000', total_claimed: '60000', refund_nonce: '1', refunding_until: 0 }]);
  },
);
