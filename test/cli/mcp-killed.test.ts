/** `npm run mcp`: what was paid for by a process that is not there any more. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { openUnanswered, type Sent } from '../../src/cli/mcp/unanswered.ts';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { commandOf, openMcp, startMcp } from './mcp-client.ts';

const IMAGE = 'image_family-e-2';
const PRICE = 60_000n;
const WORDS = ['--network', 'chain-c'];
const FOG = { prompt: 'a lighthouse in fog' };
const bought = { structuredContent: { image_url: /^http/ } };

const catalogue = catalogueOf(t, ['image/family-e-2']);
const gateway = await startGateway({ catalogue, networks: ['chain-c'] });
t.teardown(gateway.stop);

t.test('a process that is killed while a call is under way leaves its answer to who asks the next one', async (t) => {
  const proxy = await startCuttingProxy(t, gateway.url);
  const started = { url: proxy.url, data: t.testdir({}), words: WORDS };
  const before = await gateway.spendable('chain-c');
  const killed = await startMcp(t, started);
  t.match(await killed.call(IMAGE, { prompt: 'a lighthouse at noon' }), bought);
  const hold = proxy.gate.holdNext();
  const lost = killed.call(IMAGE, FOG).catch((error: Error) => error);
  await hold.reached;
  const meanwhile = await openMcp(t, started);
  t.match(await meanwhile.call(IMAGE, FOG), bought, 'a process that lives keeps what it has paid for');
  t.equal(new Set(proxy.payments).size, 3);
  killed.kill();
  t.ok((await lost) instanceof Error);
  hold.release();

  const next = await openMcp(t, started);
  t.match(next.told(), /1 calls of an earlier process have no answer/);
  t.match(await next.call(IMAGE, { prompt: 'a lighthouse at dusk' }), bought, 'another call is paid by itself');
  t.equal(new Set(proxy.payments).size, 4);
  t.match(await next.call(IMAGE, FOG), bought);
  t.equal(new Set(proxy.payments).size, 4, 'with the payment that was sent before');
  t.match(await next.call(IMAGE, FOG), bought, 'and again for a payment of its own');
  t.equal(before - (await gateway.spendable('chain-c')), 5n * PRICE);
  t.match(next.told(), /0\.7 USD left today/);
  await next.close();
  const last = await openMcp(t, started);
  t.notMatch(last.told(), /have no answer/);
});

t.test(
  'a process whose client dies in the middle of a call ends with it, and leaves the answer to the next',
  async (t) => {
    const proxy = await startCuttingProxy(t, gateway.url);
    const started = { url: proxy.url, data: t.testdir({}), words: WORDS };
    const before = await gateway.spendable('chain-c');
    const { command, args, env } = commandOf(started);
    const left = spawn(command, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
    t.teardown(() => left.kill('SIGKILL'));
    const send = (message: object) => left.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const clientInfo = { name: 'plain', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    send({ method: 'notifications/initialized' });
    const hold = proxy.gate.holdNext();
    send({ id: 2, method: 'tools/call', params: { name: IMAGE, arguments: FOG } });
    await hold.reached;
    const ended = once(left, 'close');
    left.stdin.end();
    t.same(await ended, [0, null]);
    hold.release();

    const next = await openMcp(t, started);
    t.match(await next.call(IMAGE, FOG), bought);
    t.equal(new Set(proxy.payments).size, 1, 'with the payment that was sent before');
    t.equal(before - (await gateway.spendable('chain-c')), PRICE);
  },
);

t.test('what no answer came of is left to the next process, and what was refused is not', async (t) => {
  const proxy = await startCuttingProxy(t, gateway.url);
  const started = { url: proxy.url, data: t.testdir({}), words: WORDS };
  const before = await gateway.spendable('chain-c');
  const first = await openMcp(t, started);
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  t.match(await first.call(IMAGE, { prompt: 'refused' }), { isError: true });
  proxy.cuts.push('at once', 'at once', 'at once', 'at once');
  t.match(await first.call(IMAGE, FOG), { isError: true, text: /may have been charged/ });
  await first.close();
  const second = await openMcp(t, started);
  t.match(second.told(), /1 calls of an earlier process/);
  t.match(await second.call(IMAGE, FOG), bought);
  t.equal(before - (await gateway.spendable('chain-c')), PRICE);
});

const account = privateKeyToAccount(generatePrivateKey());
const sent = (id: string): Sent => ({
  order: { name: 'x', arguments: { id }, meta: {} },
  payment: { x402Version: 2, payload: { from: account.address }, accepted: {}, resource: {}, extensions: {} },
  reservation: { id, file: 'today' },
});

t.test('a process takes over what dead ones left for its gateway, for a day', async (t) => {
  const directory = t.testdir({});
  let time = Date.now();
  const told: string[] = [];
  const tell = (line: string) => void told.push(line);
  const open = (origin = 'https://shop.example') => openUnanswered(directory, origin, tell, () => time);
  const files = () => readdirSync(directory).filter((name) => name.endsWith('.db')).length;
  const one = open();
  t.equal(files(), 0, 'nothing is made for nothing');
  one.keep(sent('1'));
  time += 1;
  one.keep(sent('2'));
  one.keep(sent('3'));
  one.forget(sent('2'));
  t.same(open().left, [], 'of one that lives');
  one.close();
  t.same(open('https://other.example').left, [], 'of another gateway');
  const two = open();
  t.same(two.left, [sent('1'), sent('3')]);
  t.equal(files(), 1);
  two.forget(sent('1'));
  two.close();
  const three = open();
  t.same(three.left, [sent('3')]);
  three.close();
  t.same(told, []);
  const [spoilt = ''] = readdirSync(directory);
  const whole = readFileSync(join(directory, spoilt));
  writeFileSync(join(directory, spoilt), 'what a failing disk left of it');
  t.same(open().left, []);
  t.match(told, [/^what an earlier process sent cannot be read \(.*\): .*\.db$/], 'and the others go on');
  writeFileSync(join(directory, spoilt), whole);
  time += 86_400_000;
  t.same(open().left, [], 'a day later it is made anew');
  t.equal(files(), 0);
  t.same(readdirSync(directory), []);
});

t.test(
  'a sandbox that was started anew, with other wallets and chains, is paid by the process that was there',
  async (t) => {
    const networks = ['chain-a', 'chain-c'];
    const start = (port: string) => startGateway({ catalogue, networks, environment: { PORT: port } });
    const first = await start(String(await freePort()));
    const data = t.testdir({});
    const open = (network: string) => openMcp(t, { url: first.url, data, words: ['--network', network] });
    const processes = await Promise.all(networks.map(open));
    await first.stop();
    const second = await start(new URL(first.url).port);
    t.teardown(second.stop);
    for (const { call } of processes) t.match(await call(IMAGE, FOG), bought);
    t.equal((await second.calls()).settlementCount, 2);
  },
);
