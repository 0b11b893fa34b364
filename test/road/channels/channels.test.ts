/** Many calls are drawn from one deposit. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { CHANNELS_ON, openChannel, toldOf } from '../../channels.ts';
import { type PaidCall, request, sendProof } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { callTool } from '../../mcp/tool-client.ts';
import { fresh, picturesWith, termsOf } from '../../settling-first.ts';
import { wordsFor } from '../../words-for.ts';

const PRICE = 60_000n;

/** Where payments go from the next start on. */
let payTo: string | undefined;
const gateway = await startGateway({
  catalogue: picturesWith(t, '{ channels: true }', 'llm/vendor3-5.6-terra'),
  networks: ['chain-a', 'chain-c'],
  between: async (sandbox) => ({ payTo: (network) => payTo ?? sandbox.payTo(network) }),
});
t.teardown(gateway.stop);

const ask = ({ url, init }: PaidCall) => fetch(url, init);
let opened = 0;
/** A channel that nobody has used before. */
const another = (options = {}) => {
  opened += 1;
  return openChannel(gateway, { salt: `0x${opened.toString(16).padStart(64, '0')}`, ...options });
};

t.test('channels are offered last, where the chain has them, and not to version 1', async (t) => {
  const { v2, v1 } = await termsOf(await ask(fresh(gateway)));
  t.match(v2.accepts.at(-1), {
    scheme: 'batch-settlement',
    network: CHANNELS_ON,
    amount: String(PRICE),
    extra: { receiverAuthorizer: /^0x/, withdrawDelay: 86_400, minDeposit: String(10n * PRICE), name: 'USDC' },
  });
  t.equal(v2.accepts.filter(({ scheme }) => scheme === 'batch-settlement').length, 1);
  t.ok(v1.accepts.every(({ scheme }) => scheme === 'exact'));
});

t.test('an unmodified client deposits once, and pays call after call without a transaction', async (t) => {
  const payer = another();
  const spendable = await gateway.spendable('chain-c');
  const first = await payer.buy(fresh(gateway));
  t.equal(first.status, 200);
  const told = toldOf(first);
  t.match(told, { success: true, transaction: /^0x[0-9a-f]{64}$/, amount: String(10n * PRICE) });
  t.match(told.extra, {
    chargedAmount: String(PRICE),
    channelState: { balance: String(10n * PRICE), chargedCumulativeAmount: String(PRICE) },
  });
  for (let number = 2n; number <= 4n; number += 1n) {
    const next = await payer.buy(fresh(gateway));
    t.equal(next.status, 200);
    t.match(toldOf(next), { transaction: '', amount: '' });
    t.equal(toldOf(next).extra.channelState.chargedCumulativeAmount, String(number * PRICE));
  }
  t.equal(spendable - (await gateway.spendable('chain-c')), 10n * PRICE, 'one deposit, and nothing else');
  t.same(await payer.onChain(told.extra.channelState.channelId), { balance: 10n * PRICE, totalClaimed: 0n });
});

t.test('work that comes to nothing is not charged, and its deposit is for the next call', async (t) => {
  const payer = another();
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const failed = await payer.buy(fresh(gateway));
  t.equal(failed.status, 500);
  t.match(toldOf(failed), { success: true, extra: { chargedAmount: '0' } });
  const spendable = await gateway.spendable('chain-c');
  const next = await payer.buy(fresh(gateway));
  t.equal(next.status, 200);
  t.equal(toldOf(next).extra.channelState.chargedCumulativeAmount, String(PRICE));
  t.equal(await gateway.spendable('chain-c'), spendable, 'it was deposited before');
});

t.test('the same voucher with the same request gets the same answer again, and charges nothing', async (t) => {
  const payer = another();
  await payer.buy(fresh(gateway));
  const call = fresh(gateway);
  const first = await sendProof(call, await payer.sign(call));
  t.equal(first.status, 200);
  const again = await sendProof(call, await payer.sign(call));
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(await again.text(), await first.text());
  t.same(toldOf(again), toldOf(first));
});

t.test('a client that has lost its record of the channel is told what it has cost, and goes on', async (t) => {
  const salt = `0x${'ab'.repeat(32)}` as const;
  const [payer, forgetful] = [another({ salt }), another({ salt })];
  await payer.buy(fresh(gateway));
  await payer.buy(fresh(gateway));
  const spendable = await gateway.spendable('chain-c');
  const next = await forgetful.buy(fresh(gateway));
  t.equal(next.status, 200);
  t.equal(toldOf(next).extra.channelState.chargedCumulativeAmount, String(3n * PRICE));
  t.equal(await gateway.spendable('chain-c'), spendable);
});

t.test('what is used up is filled again, and no sooner', async (t) => {
  const payer = another({ deposit: 600_000n });
  const spendable = await gateway.spendable('chain-c');
  for (let number = 0; number < 11; number += 1) t.equal((await payer.buy(fresh(gateway))).status, 200);
  t.equal(spendable - (await gateway.spendable('chain-c')), 1_200_000n);
});

t.test('a deposit that is not worth its transaction is refused, and nothing moves', async (t) => {
  const payer = another({ deposit: 599_999n });
  const spendable = await gateway.spendable('chain-c');
  const answer = await payer.buy(fresh(gateway));
  t.equal(answer.status, 402);
  t.match((await answer.json()).detail, /at least/);
  t.equal(await gateway.spendable('chain-c'), spendable);
});

t.test('what is left of a deposit is given back to who asks for it, and what was charged is taken', async (t) => {
  const payer = another();
  const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
  await payer.buy(fresh(gateway));
  const bought = await payer.buy(fresh(gateway));
  const id = toldOf(bought).extra.channelState.channelId;
  const part = await payer.scheme.refund(`${gateway.url}/v1/channels`, { amount: '100000' });
  t.match(part, { success: true, transaction: /^0x[0-9a-f]{64}$/, amount: '100000' });
  t.equal((await gateway.earned('chain-c')) - earned, 2n * PRICE);
  t.equal((await payer.buy(fresh(gateway))).status, 200, 'the rest is good for calls still');
  const rest = await payer.scheme.refund(`${gateway.url}/v1/channels`);
  t.equal(rest.amount, String(7n * PRICE - 100_000n));
  t.equal(spendable - (await gateway.spendable('chain-c')), 3n * PRICE);
  t.equal((await gateway.earned('chain-c')) - earned, 3n * PRICE);
  const { balance, totalClaimed } = await payer.onChain(id);
  t.equal(balance, totalClaimed);
  await t.rejects(payer.scheme.refund(`${gateway.url}/v1/channels`), /no_balance|no remaining balance/);
  t.equal((await payer.buy(fresh(gateway))).status, 200, 'it can be filled again');
});

t.test('of a call that is priced by use, what was used is charged', async (t) => {
  const payer = another();
  const ask = (): PaidCall =>
    request(gateway, '/llm/vendor3-5.6-terra', { prompt: `why does fog lift? ${Math.random()}` });
  let charged = 0n;
  for (let number = 0; number < 3; number += 1) {
    const answer = await payer.buy(ask());
    t.equal(answer.status, 200);
    t.not(answer.headers.get('turnpike-charged'), answer.headers.get('turnpike-quoted'));
    const { chargedAmount, channelState } = toldOf(answer).extra;
    charged += BigInt(chargedAmount);
    t.equal(channelState.chargedCumulativeAmount, String(charged));
  }
  const spendable = await gateway.spendable('chain-c');
  const { amount } = await payer.scheme.refund(`${gateway.url}/v1/channels`);
  t.equal((await gateway.spendable('chain-c')) - spendable, BigInt(String(amount)));
});

t.test('a tool call is drawn from a channel as well, and one that fails tells of the deposit', async (t) => {
  const payer = another();
  let asked = 0;
  const callOnce = async () => {
    asked += 1;
    const input = { prompt: `a lighthouse by a tool, number ${asked}` };
    const unpaid = await callTool(gateway, 'image_family-e-2', input);
    const required = unpaid.structuredContent as unknown as Parameters<typeof payer.client.createPaymentPayload>[0];
    const payment = await payer.client.createPaymentPayload(required);
    const result = await callTool(gateway, 'image_family-e-2', input, { 'x402/payment': payment });
    const told = result._meta?.['x402/payment-response'];
    const header = Buffer.from(JSON.stringify(told)).toString('base64');
    await payer.client.processPaymentResult(payment, (name) => (/^payment-response$/i.test(name) ? header : null), 200);
    return { result, told };
  };
  await gateway.fault({ upstream: 'predictions', fault: '500' });
  const failed = await callOnce();
  t.ok(failed.result.isError);
  t.match(failed.told, { success: true, amount: '600000', extra: { chargedAmount: '0' } });
  const bought = await callOnce();
  t.notOk(bought.result.isError);
  t.match(bought.told, { success: true, transaction: '', extra: { chargedAmount: String(PRICE) } });
});

t.test('agents read of channels where they read of paying, and ask at their path', async (t) => {
  const read = async (path: string) => (await fetch(gateway.url + path)).text();
  t.match(await read('/llms.txt'), /batch-settlement[\s\S]*\/v1\/channels/);
  t.ok(JSON.parse(await read('/openapi-all.json')).paths['/v1/channels'].get);
  const asked = await fetch(`${gateway.url}/v1/channels?network=chain-c`);
  t.equal(asked.status, 402);
  t.match(await asked.json(), { accepts: [{ scheme: 'batch-settlement', network: CHANNELS_ON }] });
  t.equal((await (await fetch(`${gateway.url}/v1/channels?network=chain-a`)).json()).accepts.length, 0);
  t.equal((await fetch(`${gateway.url}/v1/channels`, { method: 'POST' })).status, 405);
  t.equal((await fetch(`${gateway.url}/v1/channels`, { headers: { 'payment-signature': 'nonsense!' } })).status, 402);
});

t.test(
  'a client that has not heard of its deposit, and cannot ask the chain, deposits again and goes on',
  async (t) => {
    const salt = `0x${'cd'.repeat(32)}` as const;
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    t.equal((await another({ salt }).buy(fresh(gateway))).status, 500);
    const forgetful = another({ salt, hasNode: false });
    const next = await forgetful.buy(fresh(gateway));
    t.equal(next.status, 200);
    t.equal(toldOf(next).extra.channelState.balance, String(20n * PRICE));
  },
);

t.test('a gateway that takes no more deposits gives back those that it has, and sells nothing from them', async (t) => {
  const payer = another();
  t.equal((await payer.buy(fresh(gateway))).status, 200);
  const catalogue = picturesWith(t, '{ channels: false }');
  const url = await gateway.startAnother(undefined, catalogue);
  t.teardown(gateway.stopOthers);
  const { v2 } = await termsOf(await ask(fresh({ ...gateway, url })));
  t.ok(v2.accepts.every(({ scheme }) => scheme === 'exact'));
  const spendable = await gateway.spendable('chain-c');
  t.match(await payer.scheme.refund(`${url}/v1/channels`), { success: true, amount: String(9n * PRICE) });
  t.equal((await gateway.spendable('chain-c')) - spendable, 9n * PRICE);
  const empty = await gateway.startAnother(undefined, catalogue, mkdtempSync(join(gateway.directory, 'empty-')));
  t.equal((await fetch(`${empty}/v1/channels`)).status, 404, 'who has none has nothing to give back');
});

/** What asks for the rest of a channel, signed for the first instance and not sent to it. */
async function signedRefund({ scheme }: ReturnType<typeof another>): Promise<Record<string, string>> {
  let proof = '';
  const keep: typeof fetch = async (input, init) => {
    proof = new Headers(init?.headers).get('payment-signature') ?? '';
    return proof ? new Response(null, { status: 599 }) : fetch(input, init);
  };
  await scheme.refund(`${gateway.url}/v1/channels`, { fetch: keep }).catch(() => undefined);
  return { 'payment-signature': proof };
}

t.test(
  'a deposit that was made while payments went elsewhere is given back, and what it was charged goes there',
  async (t) => {
    const payer = another();
    t.equal((await payer.buy(fresh(gateway))).status, 200);
    payTo = `0x${'77'.repeat(20)}`;
    const url = await gateway.startAnother();
    payTo = undefined;
    t.teardown(gateway.stopOthers);
    const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
    const given = await fetch(`${url}/v1/channels`, { headers: await signedRefund(payer) });
    t.equal(given.status, 200, await given.text());
    t.equal((await gateway.spendable('chain-c')) - spendable, 9n * PRICE);
    t.equal((await gateway.earned('chain-c')) - earned, PRICE);
  },
);

t.test('one of several calls that were drawn from a channel is given back by its own name', async (t) => {
  const payer = another();
  for (let number = 0; number < 3; number += 1) t.equal((await payer.buy(fresh(gateway))).status, 200);
  const command = async (name: string, ...words: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...wordsFor(`src/cli/${name}.ts`), ...words], {
      env: { PATH: process.env.PATH, TURNPIKE_DATA: gateway.directory },
    });
    return stdout;
  };
  const [newest = {}] = JSON.parse(await command('payments', '--json')) as Record<string, string>[];
  const { 'transaction or reason': shown = '' } = newest;
  await t.rejects(command('refund', shown), /has settled several payments.*npm run export/);
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  const books = await command('export', '--from', '2020-01-01', '--to', tomorrow, '--format', 'jsonl');
  const { id } = JSON.parse(books.trim().split('\n').at(-1) ?? '{}') as { id: string };
  t.match(await command('refund', id), /^0\.06 USDC of image\/family-e-2 goes back to 0x/);
});
