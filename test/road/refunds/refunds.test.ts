/** Money that is given back: once, to the payer, and the payer is told. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { payV2, request, sendProof, signProof } from '../../clients.ts';
import { openCommands } from '../../commands.ts';
import { copySelling } from '../../few-endpoints.ts';
import { startRelayedGateway } from '../../relayed-gateway.ts';

const run = openCommands(t);

/** By hand, as an operator does it. */
async function refund(...words: string[]): Promise<string> {
  const { code, out, err } = await run('refund', words, { TURNPIKE_DATA: gateway.directory });
  if (code !== 0) throw new Error(err);
  return out;
}

/** Pictures that settle first wherever they are paid. */
function catalogueWith(t: Test, service: string): string {
  const directory = join(t.testdir({ catalogue: {} }), 'catalogue');
  copySelling(['image/family-e-2', 'credits/credits', 'llm/vendor5-k3'], directory);
  const file = join(directory, 'service.yaml');
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nexposure: { settleUpfront: { above: "0" } }\n${service}\n`);
  return directory;
}

const PRICE = 60_000n;
/** More than Tempo takes for a transfer. */
const FEE = 5_000n;
let made = 0;
const picture = () => {
  made += 1;
  return request(gateway, '/image/family-e-2', { prompt: `a lighthouse, number ${made}` });
};

async function problemOf(answer: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  return { status: answer.status, ...error };
}

const problemOfMpp = async (answer: Response) => ((await answer.json()) as { detail: string }).detail;

let ahead = 0;
/** Rounds are short here, and nothing has to be slept for. */
const gateway = await startRelayedGateway({
  catalogue: catalogueWith(t, 'refunds: automatic'),
  networks: ['chain-a', 'chain-c'],
  tempo: true,
  intervals: { reconcileEveryMs: 50 },
  now: () => Date.now() + ahead,
});
t.teardown(gateway.stop);

async function until<Happened>(happened: () => Promise<Happened | false>): Promise<Happened> {
  for (;;) {
    const value = await happened();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const network of ['chain-c', 'chain-a']) {
  t.test(`what a provider refuses for good on ${network} goes back by itself, and its payer is told`, async (t) => {
    const call = picture();
    const proof = await signProof(gateway, network, call);
    const before = await gateway.spendable(network);
    await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
    t.match(await problemOf(await sendProof(call, proof)), { status: 500, code: 'result_owed' });
    await until(async () => (await gateway.spendable(network)) === before);
    const told = await until(async () => {
      const answer = await problemOf(await sendProof(call, proof));
      return /transaction [A-Za-z0-9]{40,}/.test(answer.message) && answer;
    });
    t.match(told, { status: 500, code: 'refunded', message: /given back/ });
    t.equal((await sendProof(picture(), proof)).status, 402, 'the payment buys nothing else');
    t.match(await refund('--list'), /sent +0\.06 USDC .*the provider refused for good/);
    t.equal(await gateway.spendable(network), before, 'once');
  });
}

t.test('what is owed on Tempo goes back by itself, in its own token', async (t) => {
  const { url, init } = { ...picture(), url: `${gateway.url}/mpp/image/family-e-2` };
  const before = await gateway.spendable('tempo');
  const { authorization = '' } = await openMppPayer(gateway.state, 'tempo').sign(await fetch(url, init));
  const paid = { ...init, headers: { ...init.headers, authorization } };
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  t.equal((await fetch(url, paid)).status, 500);
  t.equal(await gateway.earned('tempo'), PRICE);
  // All but the chain's fee, which the payer bore.
  await until(async () => (await gateway.spendable('tempo')) > before - FEE);
  await until(async () => (await problemOfMpp(await fetch(url, paid))).includes('transaction 0x'));
  t.match(await refund('--list'), /sent +0\.06 .*eip155:42431/);
});

t.test('an operator gives back what was delivered, in parts and never more than was taken', async (t) => {
  const call = picture();
  const before = await gateway.spendable('chain-c');
  const answer = await payV2(gateway, 'chain-c', call);
  t.equal(answer.status, 200);
  const { transaction } = JSON.parse(Buffer.from(answer.headers.get('payment-response') ?? '', 'base64').toString());
  t.match(
    await refund(transaction, '--amount', '0.02', '--reason', 'too dark'),
    /^0\.02 USDC of image\/family-e-2 goes back to 0x/,
  );
  await until(async () => (await gateway.spendable('chain-c')) === before - PRICE + 20_000n);
  await t.rejects(refund(transaction, '--amount', '0.05'), /more than is left of it \(0\.04 USDC is left\)/);
  await t.rejects(refund(transaction, '--amount', '0'), /the amount has to be more than 0 \(0\.04 USDC is left\)/);
  await refund(transaction);
  await until(async () => (await gateway.spendable('chain-c')) === before);
  await t.rejects(refund(transaction), /more than is left/);
  await t.rejects(refund(`0x${'1'.repeat(64)}`), /is no payment here/);
});

t.test('a refund whose answer is lost is found on the chain, and sent once', async (t) => {
  const call = picture();
  const proof = await signProof(gateway, 'chain-c', call);
  const before = await gateway.spendable('chain-c');
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const refusal = gateway.upstreams.gate.holdNext();
  const refused = sendProof(call, proof);
  await refusal.reached;
  // It has been paid for by now.
  await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
  refusal.release();
  t.equal((await refused).status, 500);
  await until(async () => (await gateway.spendable('chain-c')) === before);
  await until(async () => /sending +0\.06 USDC .*the answer of the settlement was lost/.test(await refund('--list')));
  // The next look at it comes when the instance that sent it has had its time.
  ahead += 61_000;
  await until(async () => (await problemOf(await sendProof(call, proof))).message.includes('transaction 0x'));
  t.match(await refund('--list'), /sent +0\.06 USDC/);
  t.equal(await gateway.spendable('chain-c'), before);
});

t.test('an operator gives a call that an API key paid back to the key', async (t) => {
  const { apiKey = '' } = gateway.state as { apiKey?: string };
  const headers = { authorization: `Bearer ${apiKey}` };
  const balance = async () => {
    const answer = await fetch(`${gateway.url}/v1/credits`, { headers });
    return ((await answer.json()) as { balance_usd: string }).balance_usd;
  };
  const before = await balance();
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'vendor5-k3', messages: [{ role: 'user', content: 'Why?' }], max_tokens: 1000 }),
  });
  const call = answer.headers.get('x-request-id') ?? '';
  t.not(await balance(), before);
  t.match(await refund(call), /USD are given back to key_.*, which has/);
  t.equal(await balance(), before);
  await t.rejects(refund(call), /more than is left of it; nothing is given back/);
});

t.test('the books have every refund, as much as the payers got back', async (t) => {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const { code, out } = await run('export', ['--from', day(-1), '--to', day(2), '--format', 'jsonl'], {
    TURNPIKE_DATA: gateway.directory,
  });
  t.equal(code, 0);
  const rows = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; state: string; amount: string; transaction: string });
  const sent = rows.filter(({ kind }) => kind === 'refund');
  t.same(
    sent.map(({ amount }) => amount),
    ['60000', '60000', '60000', '20000', '40000', '60000'],
  );
  t.equal(new Set(sent.map(({ transaction }) => transaction)).size, 6);
  const states = rows.flatMap(({ kind, state }) => (kind === 'payment' ? [state] : []));
  t.same(states.sort(), ['refunded', 'refunded', 'refunded', 'refunded', 'settled'], 'what was owed has come in, too');
});
