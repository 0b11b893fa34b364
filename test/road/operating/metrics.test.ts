/** What an operator's Prometheus sees of payments and losses, and that nobody else does. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { readConfig } from '../../../src/gateway/config.ts';
import { request, sendProof, signProof } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { freePort } from '../../free-port.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { httpDoor, mcpDoor, type Way } from '../doors.ts';

const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
copySelling(['image/family-e-2', 'credits/credits', 'llm/vendor3-5.6-luna'], catalogue);
const service = join(catalogue, 'service.yaml');
writeFileSync(service, `${readFileSync(service, 'utf8')}\nexposure: { lossLimit: "0.05" }\n`);

const port = await freePort();
const gateway: Gateway = await startGateway({
  catalogue,
  networks: ['chain-c'],
  environment: { TURNPIKE_ADMIN_PORT: String(port) },
});
t.teardown(gateway.stop);
const admin = `http://127.0.0.1:${port}`;

const scrape = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text();
const has = (text: string, line: string): boolean => text.split('\n').includes(line);
async function scrapeUntil(line: string): Promise<string> {
  for (;;) {
    const text = await scrape();
    if (has(text, line)) return text;
    await delay(200);
  }
}

const pay = async (prompt: string): Promise<number> => {
  const call = request(gateway, '/image/family-e-2', { prompt });
  return (await sendProof(call, await signProof(gateway, 'chain-c', call))).status;
};

t.test(
  'what a refused change is counted by stands at nothing before, for Prometheus takes no first sample for an increase',
  async (t) => {
    for (const outcome of ['loaded', 'unchanged', 'refused']) {
      t.ok(has(await scrape(), `turnpike_catalogue_reloads_total{outcome="${outcome}"} 0`), outcome);
    }
  },
);

t.test('payments and losses are counted, and what settles first because of them shows', async (t) => {
  t.equal(await pay('a lighthouse'), 200);
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse' });
  t.equal(await pay('a storm'), 402, 'worked for and not paid');
  const after = await scrapeUntil('turnpike_settles_first{part="network chain-c"} 1');
  const labels = 'rail="x402",scheme="exact",network="chain-c"';
  t.ok(has(after, `turnpike_payments_total{${labels},outcome="settled"} 1`));
  t.ok(has(after, `turnpike_payments_total{${labels},outcome="unsettled"} 1`));
  t.ok(has(after, 'turnpike_lost_usd_total{network="chain-c",endpoint="image/family-e-2"} 0.06'));
  t.ok(has(after, 'turnpike_settles_first{part="route image/family-e-2"} 1'));
  t.notMatch(after, 'turnpike_settled_first_total{');

  t.equal(await pay('a calm sea'), 200);
  const last = await scrape();
  t.ok(has(last, 'turnpike_settled_first_total{reason="loss"} 1'));
  t.notMatch(last.toLowerCase(), privateKeyToAddress(gateway.state.evm['chain-c']?.privateKey ?? '0x').toLowerCase());
});

t.test('metrics are read on the port of their own alone', async (t) => {
  const read = await fetch(`${admin}/metrics`);
  t.match(read.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  t.equal((await fetch(`${gateway.url}/metrics`)).status, 404);
  t.equal((await fetch(`${admin}/x402-resources`)).status, 404, 'and nothing else is');
  t.equal((await fetch(`${admin}/metrics`, { method: 'POST' })).status, 405);
});

t.test('there is no such port unless it is asked for, and then only this machine reaches it', (t) => {
  t.equal(readConfig({}).admin, undefined);
  t.same(readConfig({ TURNPIKE_ADMIN_PORT: '9464' }).admin, { host: '127.0.0.1', port: 9464 });
  t.same(readConfig({ TURNPIKE_ADMIN_PORT: '9464', TURNPIKE_ADMIN_HOST: '0.0.0.0' }).admin, {
    host: '0.0.0.0',
    port: 9464,
  });
  t.throws(() => readConfig({ TURNPIKE_ADMIN_PORT: 'nine' }), {
    message: /TURNPIKE_ADMIN_PORT is nine: it takes a number/,
  });
  t.end();
});

t.test('what was bought at every door is in the metrics once, and nobody who bought it', async (t) => {
  const otherPort = await freePort();
  const shop = await startGateway({
    networks: ['chain-c'],
    tempo: true,
    environment: { TURNPIKE_ADMIN_PORT: String(otherPort) },
  });
  t.teardown(shop.stop);
  const read = async () => (await fetch(`http://127.0.0.1:${otherPort}/metrics`)).text();
  /** The sum of all that begin so. */
  const sumOf = (text: string, name: string, labels = '') =>
    text
      .split('\n')
      .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(labels))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

  const before = await read();
  const owes = sumOf(before, 'turnpike_credit_liability_usd');
  const [http, mcp] = [httpDoor(shop), mcpDoor(shop)];
  const ways: readonly Way[] = [
    { rail: 'x402', network: 'chain-c' },
    { rail: 'mpp', network: 'tempo' },
  ];
  let bought = 0;
  for (const door of [http, mcp]) {
    for (const way of ways) {
      bought += 1;
      const input = { prompt: `a lighthouse, number ${bought}` };
      const proof = await door.sign(way, '/image/family-e-2', input);
      t.match(await door.ask(way, '/image/family-e-2', input, proof), { kind: 'answer', isReplayed: false });
      t.match(await door.ask(way, '/image/family-e-2', input, proof), { kind: 'answer', isReplayed: true });
    }
  }
  // Settled, and its answer lost: it is found on the chain, or when the same is sent again.
  const lost = request(shop, '/image/family-e-2', { prompt: 'a lighthouse in the fog' });
  const lostProof = await signProof(shop, 'chain-c', lost);
  await shop.fault({ settlement: 'chain-c', fault: 'unknown' });
  await sendProof(lost, lostProof);
  t.equal((await sendProof(lost, lostProof)).status, 200);
  const { apiKey } = shop.state as { apiKey?: string };
  const authorization = `Bearer ${apiKey}`;
  const balance = async () => {
    const answer = await fetch(`${shop.url}/v1/credits`, { headers: { authorization } });
    return Number(((await answer.json()) as { balance_usd: string }).balance_usd);
  };
  const held = await balance();
  const chat = await fetch(`${shop.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }),
  });
  const { usage } = (await chat.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
  await fetch(`${shop.url}/wp-admin/made-up`);

  const text = await read();
  const total = sumOf(text, 'turnpike_revenue_usd_total', 'endpoint="');
  t.equal(total.toFixed(6), ((bought + 1) * 0.06).toFixed(6), 'a replay adds nothing');
  t.equal(sumOf(text, 'turnpike_revenue_usd_total', 'rail="mpp"').toFixed(6), '0.120000');
  t.equal(sumOf(text, 'turnpike_payments_total', 'outcome="settled"'), bought + 1);
  const nothingLost = 'turnpike_lost_usd_total{network="chain-c",endpoint="image/family-e-2"} 0';
  t.ok(has(text, nothingLost), 'as little as a first loss would be added to');
  t.equal(sumOf(text, 'turnpike_settlement_duration_seconds_count'), bought + 1);
  const served = 'http_server_request_duration_seconds_count';
  const answered = (route: string, status: number) =>
    sumOf(text, served, `http_route="${route}",http_request_method="POST",http_response_status_code="${status}"`);
  t.same([answered('image/family-e-2', 200), answered('image/family-e-2', 402)], [4, 2]);
  t.same([answered('/mcp', 200), answered('/v1/chat/completions', 200)], [6, 1]);
  t.equal(sumOf(text, served, 'http_route="unsold"'), 1);
  t.ok(sumOf(text, 'http_client_request_duration_seconds_count', 'upstream="predictions"') >= bought);
  const tokens = (type: string) => sumOf(text, 'gen_ai_client_token_usage_sum', `gen_ai_token_type="${type}"`);
  t.same([tokens('input'), tokens('output')], [usage.prompt_tokens, usage.completion_tokens]);
  t.equal(sumOf(text, 'turnpike_owed_results'), 0);
  t.equal(sumOf(text, 'turnpike_facilitator_up', 'network="chain-c"'), 1);
  t.equal(sumOf(text, 'turnpike_circuit_state', 'upstream="predictions"'), 0);
  t.equal(sumOf(text, 'turnpike_catalogue_info'), 1);
  await shop.reload();
  t.equal(sumOf(await read(), 'turnpike_catalogue_reloads_total', 'outcome="unchanged"'), 1);
  t.equal(owes, held, 'what keys have left is owed to their owners');
  t.ok((await balance()) < held);
  t.notMatch(text, /0x[0-9a-fA-F]{6}|made-up|wp-admin/);
  t.notMatch(text, apiKey ?? 'no key');
});
