/** `npm run mcp -- --deposit`: tool calls that are drawn from a deposit. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { readArguments } from '../../src/cli/mcp/arguments.ts';
import { openDepositFile } from '../../src/cli/mcp/deposit-file.ts';
import { askForDeposit, openChannel } from '../channels.ts';
import { startGateway } from '../gateway.ts';
import { picturesWith } from '../settling-first.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { startHostileGateway } from './hostile-gateway.ts';
import { commandOf, openMcp, refundMcp, type Started, speakToMcp, startMcp } from './mcp-client.ts';

const IMAGE = 'image_family-e-2';
const PRICE = 60_000n;
const WORDS = ['--network', 'chain-c', '--deposit', '1'];
let asked = 0;
const picture = () => {
  asked += 1;
  return { prompt: `a lighthouse in fog, number ${asked}` };
};

const gateway = await startGateway({
  catalogue: picturesWith(t, '{ channels: true }\nlimits: { payer: { wastedPerHour: 1000, wastedPerDay: 1000 } }'),
  networks: ['chain-c'],
});
t.teardown(gateway.stop);
const { url } = gateway;
const key = gateway.state.evm['chain-c']?.privateKey ?? '';
const holds = () => gateway.spendable('chain-c');
const bought = { structuredContent: { image_url: /^http/ } };

/** The command to its end, and what it said. */
function run(started: Started): Promise<{ code: number; said: string }> {
  const { command, args, env } = commandOf(started);
  return new Promise((done) => {
    execFile(command, args, { env }, (error, out, said) => done({ code: error ? 1 : 0, said: out + said }));
  });
}

t.test(
  'calls are drawn from one deposit, also by a bridge that was started again, and the rest comes back',
  async (t) => {
    const data = t.testdir({});
    const before = await holds();
    const first = await startMcp(t, { url, data, words: WORDS });
    t.match(await first.call(IMAGE, picture()), bought);
    t.match(await first.call(IMAGE, picture()), bought);
    await first.saying(/^drawn from deposits of up to 1 USD$/m);
    await first.saying(/^image_family-e-2: 0\.06 USD on chain-c, transaction 0x[0-9a-f]{64}, 0\.94 USD left today$/m);
    await first.saying(/^image_family-e-2: 0\.06 USD on chain-c, from the deposit, 0\.88 USD left today$/m);
    await first.client.close();

    const second = await openMcp(t, { url, data, words: WORDS });
    t.match(await second.call(IMAGE, picture()), bought);
    t.match(second.told(), /0\.82 USD left today/);
    t.equal(before - (await holds()), 600_000n, 'one deposit');
    const busy = await run({ url, data, words: [...WORDS, '--refund'] });
    t.match(busy, { code: 1, said: /another process draws from these deposits/ });
    await second.close();

    const back = await run({ url, data, words: [...WORDS, '--refund'] });
    t.match(back, { code: 0, said: /^0\.42 USD came back on chain-c, transaction 0x[0-9a-f]{64}$/m });
    t.equal(before - (await holds()), 3n * PRICE);
    t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /nothing is left of deposits/ });
    for (const said of [first.said(), second.told(), back.said]) t.notOk(said.includes(key.slice(2)));
    t.equal(readdirSync(join(data, 'spending')).filter((name) => /^deposits-0x[0-9a-f]{40}\.db$/.test(name)).length, 1);
  },
);

t.test('of two bridges at once one draws from the deposit, and the other pays without', async (t) => {
  const data = t.testdir({});
  const before = await holds();
  const one = await startMcp(t, { url, data, words: WORDS });
  const other = await openMcp(t, { url, data, words: WORDS });
  const answers = await Promise.all([one, other, one, other].map(({ call }) => call(IMAGE, picture())));
  t.match(answers, [bought, bought, bought, bought]);
  t.match(other.told(), /another process draws from the deposits of this account: calls are paid without/);
  t.notMatch(other.told(), /from the deposit,/);
  t.equal(before - (await holds()), 600_000n + 2n * PRICE);
  await one.client.close();
  await other.close();
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.48 USD came back/ });
  t.equal(before - (await holds()), 4n * PRICE);
});

t.test('vouchers count in the day’s budget, and a call that failed leaves its money to the next', async (t) => {
  const data = t.testdir({});
  const before = await holds();
  const { call, close } = await openMcp(t, { url, data, words: [...WORDS, '--budget', '0.13'] });
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  t.match(await call(IMAGE, picture()), { isError: true, structuredContent: { error: { code: 'content_refused' } } });
  t.match(await call(IMAGE, picture()), bought);
  t.match(await call(IMAGE, picture()), bought);
  t.match(await call(IMAGE, picture()), {
    isError: true,
    text: /0\.01 USD is left of the day's budget.*Nothing was paid/,
  });
  t.match(await call(IMAGE, { ...picture(), resolution: '4k' }), { isError: true, text: /the limit for one call/ });
  await close();
  await refundMcp({ url, data, words: WORDS });
  t.equal(before - (await holds()), 2n * PRICE);
});

t.test('a process that is killed while it draws a call leaves its answer to who asks the next one', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const started = { url: proxy.url, data: t.testdir({}), words: WORDS };
  const before = await holds();
  for (const vouchers of [1, 3]) {
    const killed = await startMcp(t, started);
    const hold = proxy.gate.holdNext();
    const lost = picture();
    const unheard = killed.call(IMAGE, lost).catch((error: Error) => error);
    await hold.reached;
    killed.kill();
    t.ok((await unheard) instanceof Error);
    hold.release();
    const without = await openMcp(t, { ...started, words: ['--network', 'chain-c'] });
    t.match(without.told(), /^1 calls of an earlier process .*are not sent again: start with .*--deposit/m);
    t.notMatch(without.told(), /who asks for the same has/);
    await without.close();
    const next = await openMcp(t, started);
    t.match(next.told(), /1 calls of an earlier process have no answer: who asks for the same has/);
    t.match(await next.call(IMAGE, picture()), bought, 'another call is drawn by itself');
    t.match(await next.call(IMAGE, lost), bought);
    t.equal(new Set(proxy.payments).size, vouchers + 1, 'with the voucher that was sent before');
    await next.close();
  }
  t.match(await refundMcp({ ...started, url }), { isAll: true, told: /0\.36 USD came back/ });
  t.equal(before - (await holds()), 4n * PRICE);
});

t.test('an answer that was lost is had with the same voucher, and charged once', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const data = t.testdir({});
  const before = await holds();
  const { call, close } = await openMcp(t, { url: proxy.url, data, words: WORDS });
  for (const cut of ['at once', 'in the stream'] as const) {
    proxy.cuts.push(cut);
    proxy.payments.length = 0;
    t.match(await call(IMAGE, picture()), bought);
    t.equal(proxy.payments.length, 2);
    t.equal(new Set(proxy.payments).size, 1);
  }

  // One that nobody answered counts as charged, and is had by asking for the same.
  const lost = picture();
  proxy.cuts.push('at once', 'at once', 'at once', 'at once');
  t.match(await call(IMAGE, lost), { isError: true, text: /may have been charged.*same arguments again/ });
  t.match(await call(IMAGE, picture()), bought);
  t.match(await call(IMAGE, lost), bought);
  await close();
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.36 USD came back/ });
  t.equal(before - (await holds()), 4n * PRICE);
});

t.test('an answer that crosses the word that its caller gave up is had with the same voucher', async (t) => {
  const data = t.testdir({});
  const before = await holds();
  const { call, tell, close } = await speakToMcp(t, { url, data, words: WORDS });
  const missed = picture();
  const { structuredContent } = await call(1, IMAGE, missed);
  await tell('notifications/cancelled', { requestId: 1 });
  t.match(await call(2, IMAGE, picture()), bought);
  t.same((await call(3, IMAGE, missed)).structuredContent, structuredContent);
  t.match(await call(4, IMAGE, picture()), bought);
  await close();
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.42 USD came back/ });
  t.equal(before - (await holds()), 3n * PRICE);
});

t.test('a call that never reached the gateway is not charged, as the next one learns', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const data = t.testdir({});
  const before = await holds();
  const started = { url: proxy.url, data, words: WORDS };
  const { call, close } = await openMcp(t, started);
  t.match(await call(IMAGE, picture()), bought);
  const never = ['on the way', 'on the way', 'on the way', 'on the way'] as const;
  proxy.cuts.push(...never);
  t.match(await call(IMAGE, picture()), { isError: true, text: /may have been charged/ });
  t.match(await call(IMAGE, picture()), bought);
  t.match(await call(IMAGE, picture()), bought);
  proxy.cuts.push(...never);
  t.match(await call(IMAGE, picture()), { isError: true, text: /may have been charged/ });
  await close();
  const next = await openMcp(t, started);
  t.match(await next.call(IMAGE, picture()), bought);
  await next.close();
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.36 USD came back/ });
  t.equal(before - (await holds()), 4n * PRICE);
});

t.test('a voucher that was signed anew, and whose answer was lost, is the one that is sent again', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const data = t.testdir({});
  const before = await holds();
  const { call, close } = await openMcp(t, { url: proxy.url, data, words: WORDS });
  t.match(await call(IMAGE, picture()), bought);
  proxy.cuts.push('on the way', 'on the way', 'on the way', 'on the way');
  t.match(await call(IMAGE, picture()), { isError: true, text: /may have been charged/ });
  // The gateway says that the one before was not charged; then the answer to what was signed for that is lost.
  proxy.cuts.push('not at all', 'at once');
  proxy.payments.length = 0;
  t.match(await call(IMAGE, picture()), bought);
  const [corrected, signed, again] = proxy.payments;
  t.not(corrected, signed);
  t.equal(signed, again);
  await close();
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.48 USD came back/ });
  t.equal(before - (await holds()), 2n * PRICE);
});

t.test('a bridge that dies between a voucher and its answer goes on where it was', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const data = t.testdir({});
  const before = await holds();
  const dying = await startMcp(t, { url: proxy.url, data, words: WORDS });
  t.match(await dying.call(IMAGE, picture()), bought);
  const hold = proxy.gate.holdNext();
  const left = t.rejects(dying.call(IMAGE, picture()));
  await hold.reached;
  await dying.client.close();
  await left;
  hold.release();
  const next = await openMcp(t, { url, data, words: WORDS });
  t.match(await next.call(IMAGE, picture()), bought);
  await next.close();
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.42 USD came back/ });
  t.equal(before - (await holds()), 3n * PRICE);
});

t.test('a deposit that came back before, unheard, is not told of as nothing that came back', async (t) => {
  const data = t.testdir({});
  const before = await holds();
  const { call, close } = await openMcp(t, { url, data, words: WORDS });
  t.match(await call(IMAGE, picture()), bought);
  await close();
  const kept = async (change: (text: string) => string) => {
    const file = openDepositFile(join(data, 'spending'), privateKeyToAccount(key as Hex).address);
    const text = (await file?.read()) ?? '';
    await file?.write(change(text));
    file?.close();
    return text;
  };
  const asBefore = await kept((text) => text);
  t.match(await refundMcp({ url, data, words: WORDS }), { isAll: true, told: /0\.54 USD came back/ });
  t.equal(before - (await holds()), PRICE);
  await kept(() => asBefore.replace(/"openUntil":"[0-9]+"/, '"openUntil":"1000000000"'));
  t.match(await refundMcp({ url, data, words: WORDS }), {
    isAll: true,
    told: /^nothing is left on chain-c: it came back before, or was never deposited$/m,
  });
});

t.test('a payer who asked the contract for its deposit is told so once, and buys on', async (t) => {
  t.teardown(gateway.stopOthers);
  const directory = mkdtempSync(join(gateway.directory, 'shop-'));
  const another = await gateway.startAnother(undefined, undefined, directory);
  const { call, close } = await openMcp(t, { url: another, data: t.testdir({}), words: WORDS });
  t.match(await call(IMAGE, picture()), bought);
  const database = new Database(join(directory, 'turnpike.sqlite'));
  t.teardown(() => database.close());
  database.exec('PRAGMA busy_timeout = 5000');
  const { config } = database.prepare('SELECT config FROM channels').get() as { config: string };
  await askForDeposit(openChannel(gateway), JSON.parse(config), 540_000n);
  // What is known of a channel is good for ten minutes.
  database.exec('UPDATE channels SET synced_at = 0');
  const before = await holds();
  t.match(await call(IMAGE, picture()), {
    isError: true,
    text: /asked for the deposit.*nothing was charged\. Call image_family-e-2 again: .* not drawn from that deposit/,
  });
  t.match(await call(IMAGE, picture()), bought);
  t.equal(before - (await holds()), PRICE, 'where another deposit has no room, without one');
  await close();
});

t.test('a gateway that keeps what it is given and refuses gets one deposit and one voucher', async (t) => {
  const hostile = await startHostileGateway(t);
  hostile.accepts = [
    {
      scheme: 'batch-settlement',
      network: 'eip155:8453',
      amount: '50000',
      asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      payTo: '0x1111111111111111111111111111111111111111',
      maxTimeoutSeconds: 60,
      extra: {
        name: 'USD Coin',
        version: '2',
        receiverAuthorizer: '0x3333333333333333333333333333333333333333',
        withdrawDelay: 86_400,
        minDeposit: '500000',
      },
    },
  ];
  const environment = { TURNPIKE_WALLET_EVM: generatePrivateKey() };
  const started = { url: hostile.url, data: t.testdir({}), environment };
  const without = await openMcp(t, started, 'auto');
  t.match(await without.call('x', {}), { isError: true, text: /not paid.*Nothing was signed/ });
  t.same(hostile.payments, []);
  const { call } = await openMcp(t, { ...started, words: ['--deposit', '1', '--budget', '0.1'] }, 'auto');
  for (let attempt = 0; attempt < 4; attempt += 1) {
    t.match(await call('x', { attempt }), { isError: true, text: /refused the payment/ });
  }
  t.equal(hostile.payments.length, 4);
  const [first, ...others] = hostile.payments.map(({ payload }) => payload);
  t.match(first, { type: 'deposit', deposit: { amount: '500000' }, voucher: { maxClaimableAmount: '50000' } });
  for (const other of others) t.same(other, first);
});

t.test('a deposit that is none is refused, as is asking back without one', (t) => {
  t.throws(() => readArguments(['--deposit', 'much'], {}), { message: /--deposit/ });
  t.throws(() => readArguments(['--refund'], {}), { message: /--refund goes with the same --deposit/ });
  t.end();
});

t.test('deposits of which nothing can be read are told of at the start, and not at the first call', async (t) => {
  const data = t.testdir({});
  const file = openDepositFile(join(data, 'spending'), privateKeyToAccount(key as Hex).address);
  await file?.write('[]');
  file?.close();
  await t.rejects(openMcp(t, { url, data, words: WORDS }), /cannot be read/);
});
