/** What an operator's Prometheus sees of payments and losses, and that nobody else does. */
import '../payment/facilitators/own-fetch.ts';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { readConfig } from '../../src/config.ts';
import { request, sendProof, signProof } from '../clients.ts';
import { freePort, type Gateway, startGateway } from '../gateway.ts';

const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
cpSync('catalogue', catalogue, { recursive: true });
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
  t.throws(() => readConfig({ TURNPIKE_ADMIN_PORT: 'nine' }), { message: /TURNPIKE_ADMIN_PORT must be a number/ });
  t.end();
});
