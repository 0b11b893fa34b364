/** What an operator is told, from the front door to a webhook. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openApiKeys } from '../../../src/credits/api-keys.ts';
import { usd } from '../../../src/money.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { openStore } from '../../../src/store/open.ts';
import { payV2, request, sendProof, signProof } from '../../clients.ts';
import { type GatewayOptions, startGateway } from '../../gateway.ts';
import { wordsFor } from '../../words-for.ts';
import { shopFiles } from '../sold/shop-catalogue.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';

const run = promisify(execFile);
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

/** A provider that charges as much as we do, refuses what is called Atlantis, and knows Avalon once it has `appeared`. */
async function startProvider(t: Test, hasAppeared: () => boolean): Promise<string> {
  const server = createServer((request, response) => {
    const refused = request.url?.includes('Atlantis');
    const isMissing = request.url?.includes('Avalon') && !hasAppeared();
    response.writeHead(refused ? 422 : isMissing ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ text: 'sunny', usage: { cost_usd: '0.04' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Told {
  readonly alerts: (receiver: Receiver) => string;
  readonly options?: Partial<GatewayOptions>;
  readonly service?: string;
  /** Whether the provider knows Avalon. */
  readonly hasAppeared?: () => boolean;
}

async function open(t: Test, { alerts, options = {}, service = '', hasAppeared = () => true }: Told) {
  const receiver = await startReceiver(t, SECRET);
  const provider = await startProvider(t, hasAppeared);
  const lines: string[] = [];
  const files = shopFiles(provider, `alerts: ${alerts(receiver)}\n${service}\n`);
  const gateway = await startGateway({
    catalogue: join(t.testdir({ catalogue: files }), 'catalogue'),
    networks: ['chain-c'],
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    ...options,
    environment: { TURNPIKE_ALERT_SECRET: SECRET, WEATHER_API_KEY: 'weather-key', ...options.environment },
    intervals: { alertEveryMs: 50, ...options.intervals },
  });
  t.teardown(gateway.stop);
  return { receiver, gateway, lines, call: (city: string) => request(gateway, '/weather/report', { city }) };
}

const FIRST = 'exposure: { settleUpfront: { above: "0" } }';

t.test('an owed result and its refund are told once, signed, and the secret is in no log', async (t) => {
  const { receiver, gateway, lines, call } = await open(t, {
    alerts: ({ url }) => `{ webhooks: [{ url: "${url}" }] }`,
    service: FIRST,
  });
  const other = await gateway.startAnother();
  const atlantis = call('Atlantis');
  const proof = await signProof(gateway, 'chain-c', atlantis);
  t.equal((await sendProof(atlantis, proof)).status, 500);
  const [owed] = await receiver.until('result.owed');
  t.match(owed, {
    id: /^msg_[0-9a-f]{32}$/,
    timestamp: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    data: { endpoint: 'weather/report', network: 'chain-c', dollars: '0.05', transaction: /^0x/, attempt: 1 },
  });
  t.equal((await sendProof({ ...atlantis, url: atlantis.url.replace(gateway.url, other) }, proof)).status, 500);

  const { stdout } = await run(
    process.execPath,
    [...wordsFor('src/cli/refund.ts'), String(owed?.data.payment), '--reason', 'no such city'],
    { env: { PATH: process.env.PATH, TURNPIKE_DATA: gateway.directory, TURNPIKE_CATALOGUE: gatewayCatalogue(t) } },
  );
  t.match(stdout, /^0\.05 USDC of weather\/report goes back/);
  const [refund] = await receiver.until('refund.executed');
  t.match(refund?.data, { payment: owed?.data.payment, dollars: '0.05', reason: 'no such city', transaction: /^0x/ });

  await payV2(gateway, 'chain-c', call('Lisbon'));
  const again = call('Atlantis');
  await sendProof(again, await signProof(gateway, 'chain-c', again));
  await receiver.until('result.owed', 2);
  t.same(
    receiver.heard.map(({ type }) => type),
    ['result.owed', 'refund.executed', 'result.owed'],
    'by two instances, each once; sales are not told unless asked for',
  );
  t.same(receiver.forged, []);
  const written = [...lines, JSON.stringify(receiver.heard)].join('\n');
  t.notMatch(written, SECRET);
  t.notMatch(written, SECRET.slice('whsec_'.length));
  t.notMatch(written.toLowerCase(), gateway.state.evm['chain-c']?.privateKey.toLowerCase() ?? 'no key');
});

/** Where `open` has put it. */
const gatewayCatalogue = (t: Test): string => join(t.testdirName, 'catalogue');

t.test(
  'a receiver that fails gets the same alert again, under the same id, and is not followed elsewhere',
  async (t) => {
    let ahead = 0;
    const { receiver, gateway, call, lines } = await open(t, {
      alerts: ({ url }) => `{ webhooks: [{ url: "${url}", events: [payment.settled] }] }`,
      options: { now: () => Date.now() + ahead },
    });
    receiver.refuse(500, 302);
    t.equal((await payV2(gateway, 'chain-c', call('Lisbon'))).status, 200);
    // The gateway has to have heard of each failure before time moves on: five seconds, and five minutes after that.
    const failedTimes = () => lines.filter((line) => line.includes('an alert is not sent yet')).length;
    for (const [failures, wait] of [
      [1, 6_000],
      [2, 301_000],
    ] as const) {
      while (failedTimes() < failures) await delay(10);
      ahead += wait;
    }
    const all = await receiver.until('payment.settled', 3);
    t.same(
      all.map(({ status }) => status),
      [500, 302, 200],
    );
    t.equal(new Set(all.map(({ id }) => id)).size, 1);
    t.match(all[0]?.data, { endpoint: 'weather/report', rail: 'x402', dollars: '0.05', isOwed: false });
    t.same(receiver.forged, [], 'each attempt is signed at its own time');
    ahead += 86_400_000;
    await delay(300);
    t.equal(receiver.heard.length, 3);
    t.ok(lines.some((line) => line.includes('answered 500')));
  },
);

t.test('what an instance leaves behind that dies is told by the next', async (t) => {
  const { receiver, gateway, call } = await open(t, {
    alerts: ({ url }) => `{ webhooks: [{ url: "${url}" }] }`,
    service: FIRST,
    // As good as dead, once it has started.
    options: { intervals: { alertEveryMs: 3_600_000 } },
  });
  const atlantis = call('Atlantis');
  t.equal((await sendProof(atlantis, await signProof(gateway, 'chain-c', atlantis))).status, 500);
  t.same(receiver.heard, []);
  await gateway.startAnother();
  t.match(await receiver.until('result.owed'), [{ data: { endpoint: 'weather/report' } }]);
});

t.test('spending, losing endpoints and signers without gas are told when they cross their thresholds', async (t) => {
  // The time stands still: all of it is one day's.
  const startedAt = Date.now();
  const { receiver, gateway, call } = await open(t, {
    alerts: ({ url }) =>
      `{ webhooks: [{ url: "${url}" }], spendAbove: "0.08", marginOver: 2, gasBelow: 1000000000000 }`,
    options: { now: () => startedAt },
  });
  t.match(await receiver.until('signer.gas-low'), [
    { data: { network: 'chain-c', account: /^0x/, balance: /^\d+/, threshold: 1000000000000 } },
  ]);
  t.equal((await payV2(gateway, 'chain-c', call('Lisbon'))).status, 200);
  t.equal((await payV2(gateway, 'chain-c', call('Porto'))).status, 200);
  const day = new Date(startedAt).toISOString().slice(0, 10);
  t.match(await receiver.until('spend.daily'), [{ data: { day, dollars: '0.08', threshold: '0.08' } }]);
  t.equal((await payV2(gateway, 'chain-c', request(gateway, '/weather/losing', { city: 'Faro' }))).status, 200);
  t.equal((await payV2(gateway, 'chain-c', request(gateway, '/weather/losing', { city: 'Évora' }))).status, 200);
  t.match(await receiver.until('margin.negative'), [
    { data: { endpoint: 'weather/losing', sales: 2, dollars: '0.02', cost: '0.08' } },
  ]);
  t.equal(new Set(receiver.heard.map(({ type }) => type)).size, receiver.heard.length, 'each once');
});

t.test('what a result costs that was owed for long counts, too', async (t) => {
  const startedAt = Date.now();
  let ahead = 0;
  let hasAppeared = false;
  const { receiver, gateway } = await open(t, {
    alerts: ({ url }) => `{ webhooks: [{ url: "${url}" }], marginOver: 2, creditBelow: "1" }`,
    options: { now: () => startedAt + ahead },
    service: FIRST,
    hasAppeared: () => hasAppeared,
  });
  const losing = (city: string) => request(gateway, '/weather/losing', { city });
  const avalon = losing('Avalon');
  const proof = await signProof(gateway, 'chain-c', avalon);
  t.match(await (await sendProof(avalon, proof)).json(), { error: { code: 'result_owed' } });
  t.equal((await payV2(gateway, 'chain-c', losing('Faro'))).status, 200);

  ahead = 3_600_000;
  // Whoever tells of the second key has counted after that.
  const store = await openStore({ file: join(gateway.directory, 'turnpike.sqlite') });
  t.teardown(() => store.close());
  const apiKeys = openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now });
  for (const count of [1, 2]) {
    await apiKeys.create({ label: `customer ${count}`, credit: usd('0.5') });
    await receiver.until('credit.low', count);
  }
  hasAppeared = true;
  t.equal((await sendProof(avalon, proof)).status, 200);
  t.match(await receiver.until('margin.negative'), [
    { data: { endpoint: 'weather/losing', sales: 2, dollars: '0.02', cost: '0.08' } },
  ]);
});

t.test('a network that nobody settles on any more is told', async (t) => {
  const { receiver } = await open(t, {
    alerts: ({ url }) => `{ webhooks: [{ url: "${url}", events: [facilitator.down] }] }`,
    options: {
      between: async ({ facilitators }) => ({
        facilitators: facilitators.map(({ name, facilitator }) => ({
          name,
          facilitator: { ...facilitator, supported: () => Promise.reject(new FacilitatorUnreachable('gone')) },
        })),
      }),
    },
  });
  t.match(await receiver.until('facilitator.down'), [{ data: { network: 'chain-c' } }]);
  t.equal(receiver.heard.length, 1, 'once, and nothing of the networks that are not paid on');
});

t.test('a day without enough sales is told once it is over', async (t) => {
  let time = Date.now();
  const { receiver, gateway, call } = await open(t, {
    alerts: ({ url }) => `{ webhooks: [{ url: "${url}" }], revenueBelow: "1" }`,
    options: { now: () => time },
  });
  t.equal((await payV2(gateway, 'chain-c', call('Lisbon'))).status, 200);
  const day = 86_400_000;
  const tomorrow = new Date(time + day).toISOString().slice(0, 10);
  // The day after that, at one o'clock.
  time = Date.parse(tomorrow) + day + 3_600_000;
  t.match(await receiver.until('revenue.daily'), [{ data: { day: tomorrow, dollars: '0', threshold: '1' } }]);
});

/** All that the gateway comes with, and somebody who is told of keys with less than a dollar. */
async function watchingKeys(t: Test) {
  const receiver = await startReceiver(t, SECRET);
  const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
  cpSync('catalogue', catalogue, { recursive: true });
  const alerts = `\nalerts: { webhooks: [{ url: "${receiver.url}" }], creditBelow: "1" }\n`;
  appendFileSync(join(catalogue, 'service.yaml'), alerts);
  const gateway = await startGateway({
    catalogue,
    networks: ['chain-c'],
    environment: { TURNPIKE_ALERT_SECRET: SECRET },
    intervals: { alertEveryMs: 50 },
  });
  t.teardown(gateway.stop);
  return { receiver, gateway };
}

t.test('nobody is told of a key that has never had anything, for its payment did not settle', async (t) => {
  const { receiver, gateway } = await watchingKeys(t);
  for (const amount_usd of ['0.01', '0.02']) {
    await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
    t.equal((await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd }))).status, 402);
  }
  const bought = await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '0.03' }));
  t.equal(bought.status, 200);
  t.match(await receiver.until('credit.low'), [{ data: { label: 'bought', dollars: '0.03' } }]);
  t.equal(receiver.heard.length, 1);
});

t.test('a provider that is down and up again, and keys that run dry, are told', async (t) => {
  const { receiver, gateway } = await watchingKeys(t);
  const store = await openStore({ file: join(gateway.directory, 'turnpike.sqlite') });
  t.teardown(() => store.close());
  const apiKeys = openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now });
  const made = await Promise.all(
    Array.from({ length: 11 }, (_, at) =>
      apiKeys.create({ label: `customer ${at}`, credit: usd('0.5'), limits: {}, expiresAt: undefined }),
    ),
  );
  const chat = (key: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5 }),
    });
  const low = await receiver.until('credit.low', 11);
  t.match(low[0]?.data, { label: /^customer/, dollars: '0.5', threshold: '1' });
  t.notMatch(JSON.stringify(low), made[0]?.apiKey ?? 'no key');
  await gateway.fault({ upstream: 'chat', fault: '500', count: 10 });
  for (const { apiKey } of made.slice(0, 10)) t.not((await chat(apiKey)).status, 200);
  t.match(await receiver.until('upstream.down'), [{ data: { upstream: 'chat' } }]);
  while ((await chat(made[10]?.apiKey ?? '')).status !== 200) await delay(200);
  t.match(await receiver.until('upstream.up'), [{ data: { upstream: 'chat' } }]);
  t.equal(receiver.heard.length, 13, 'each once');
});
