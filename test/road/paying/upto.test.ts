/** Paying for what was used: x402's `upto` scheme, with its published client, on a chain with its contracts. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Hex, parseErc6492Signature } from 'viem';
import { divideUp, toDecimal, usd } from '../../../src/money.ts';
import { type PaidCall, payV2, receiptOf, request, sendProof, signUpto } from '../../clients.ts';
import { ALLOWED, accessIn } from '../../deploying-gateway.ts';
import { openEvmWallet } from '../../evm-wallet.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { changed } from '../../payment/authorizations/proofs.ts';
import { picturesWith } from '../../settling-first.ts';
import { approvePermit2, newSmartWallet, placeFactory, signProofBy } from '../../smart-wallets.ts';
import { stoppedClock } from '../../stopped-clock.ts';

// The contracts come from the Tempo chain.
const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], tempo: true, solanaNow: stoppedClock() });
t.teardown(gateway.stop);

const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 2000 });

interface Offer {
  scheme: string;
  network: string;
  amount: string;
}

const decoded = (header: string | null) => JSON.parse(Buffer.from(header ?? '', 'base64').toString());

async function offersOf({ url, init }: PaidCall): Promise<Offer[]> {
  return decoded((await fetch(url, init)).headers.get('payment-required')).accepts;
}

/** Hand-made from the listed price of a million tokens: 3.30 and 16.50 dollars. */
const costOf = (usage: { prompt_tokens: number; completion_tokens: number }): bigint =>
  divideUp(BigInt(usage.prompt_tokens) * 33n + BigInt(usage.completion_tokens) * 165n, 10n);

t.test('upto is offered beside exact where the price is an upper bound, and nowhere else', async (t) => {
  const offers = (await offersOf(call)).map(({ scheme, network }) => `${scheme} ${network.split(':')[0]}`);
  t.same(offers.sort(), ['exact eip155', 'exact solana', 'upto eip155']);
  const fixed = await offersOf(request(gateway, '/llm/vendor3-5.2', { prompt: 'Why does fog scatter light?' }));
  t.notOk(fixed.some(({ scheme }) => scheme === 'upto'));
});

t.test('who pays by upto is charged the tokens that were used', async (t) => {
  const [earned, spendable] = [await gateway.earned('chain-c'), await gateway.spendable('chain-c')];
  const quoted = (await offersOf(call)).find(({ scheme }) => scheme === 'upto')?.amount ?? '';
  const proof = await signUpto(gateway, 'chain-c', call);
  const answer = await sendProof(call, proof);
  const text = await answer.text();
  t.equal(answer.status, 200, text);
  const { usage } = JSON.parse(text);
  const cost = costOf(usage);
  t.ok(cost < BigInt(quoted), 'the quote is an upper bound');
  t.equal((await gateway.earned('chain-c')) - earned, cost);
  t.equal(spendable - (await gateway.spendable('chain-c')), cost);
  t.match(receiptOf(answer), { success: true, transaction: /^0x/, amount: cost.toString() });
  t.equal(answer.headers.get('turnpike-quoted'), toDecimal(BigInt(quoted)));
  t.equal(answer.headers.get('turnpike-charged'), toDecimal(cost));

  t.test('and sees the same again when it sends the same again', async (t) => {
    const again = await sendProof(call, proof);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(await again.text(), text);
    for (const name of ['turnpike-quoted', 'turnpike-charged', 'payment-response']) {
      t.equal(again.headers.get(name), answer.headers.get(name), name);
    }
    t.equal((await gateway.earned('chain-c')) - earned, cost);
  });
});

t.test('who pays by exact is charged the quote', async (t) => {
  for (const network of ['chain-c', 'chain-a']) {
    const earned = await gateway.earned(network);
    const answer = await payV2(gateway, network, call);
    const quoted = answer.headers.get('turnpike-quoted') ?? '';
    t.equal(answer.headers.get('turnpike-charged'), quoted);
    t.equal((await gateway.earned(network)) - earned, usd(quoted));
  }
});

t.test('a failed call takes nothing, and the same permit buys the next one', async (t) => {
  const [earned, other] = [
    await gateway.earned('chain-c'),
    { ...call, ...request(gateway, '/llm/vendor4-4.5', { prompt: 'Again?' }) },
  ];
  const proof = await signUpto(gateway, 'chain-c', other);
  await gateway.fault({ upstream: 'chat', fault: '500' });
  t.equal((await sendProof(other, proof)).status, 500);
  t.equal(await gateway.earned('chain-c'), earned);
  const answer = await sendProof(other, proof);
  t.equal(answer.status, 200);
  t.equal((await gateway.earned('chain-c')) - earned, usd(answer.headers.get('turnpike-charged') ?? ''));
});

t.test('a lost settlement is found on the chain, with what it took', async (t) => {
  const earned = await gateway.earned('chain-c');
  const other = request(gateway, '/llm/vendor5-k3', { prompt: 'Is it lost?', max_tokens: 300 });
  const proof = await signUpto(gateway, 'chain-c', other);
  await gateway.fault({ settlement: 'chain-c', fault: 'unknown' });
  const answer = await sendProof(other, proof);
  t.equal(answer.status, 200);
  const cost = costOf(((await answer.json()) as { usage: Parameters<typeof costOf>[0] }).usage);
  t.equal((await gateway.earned('chain-c')) - earned, cost);
  t.equal(answer.headers.get('turnpike-charged'), toDecimal(cost));
});

t.test('work that was not settled before tokens became dearer takes no more than its permit', async (t) => {
  const earned = await gateway.earned('chain-c');
  const other = request(gateway, '/llm/vendor5-k3', { prompt: 'Is it dearer?', max_tokens: 300 });
  const quoted = (await offersOf(other)).find(({ scheme }) => scheme === 'upto')?.amount ?? '';
  const proof = await signUpto(gateway, 'chain-c', other);
  await gateway.fault({ settlement: 'chain-c', fault: '500' });
  t.match(await (await sendProof(other, proof)).json(), { error: { code: 'settlement_pending' } });
  const dearer = picturesWith(t, '{}', 'llm/vendor5-k3');
  const endpoint = join(dearer, 'endpoints/llm/vendor5-k3.yaml');
  writeFileSync(endpoint, readFileSync(endpoint, 'utf8').replace('markup: "0.10"', 'markup: "99"'));
  const restarted = await gateway.startAnother(undefined, dearer);
  const answer = await sendProof({ ...other, url: other.url.replace(gateway.url, restarted) }, proof);
  t.equal(answer.status, 200, await answer.text());
  t.match(receiptOf(answer), { success: true, amount: quoted });
  t.equal((await gateway.earned('chain-c')) - earned, BigInt(quoted));
});

t.test('a permit for another amount, or sent to another path, is refused', async (t) => {
  const earned = await gateway.earned('chain-c');
  const proof = await signUpto(gateway, 'chain-c', call);
  const dearer = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 3000 });
  t.equal((await sendProof(dearer, proof)).status, 402);
  t.equal((await sendProof(request(gateway, '/llm/vendor3-5.2', { prompt: 'Why?' }), proof)).status, 402);
  t.equal(await gateway.earned('chain-c'), earned);
});

t.test('who uses less than its settlement is worth has to wait after a few, and who uses more need not', async (t) => {
  const least = 4_096n;
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{}\nlimits: { payer: { wastedPerHour: 2 } }', 'llm/vendor5-k3'),
    networks: ['chain-c'],
    tempo: true,
    between: async ({ facilitators, state }) => {
      const leastPrices = async () => new Map([[accessIn(state as Gateway['state']).caip2, least]]);
      return {
        facilitators: facilitators.map(({ name, facilitator }) => ({
          name,
          facilitator: { ...facilitator, leastPrices },
        })),
      };
    },
  });
  t.teardown(gateway.stop);
  let made = 0;
  async function buyFour(payer: Gateway, prompt: string) {
    const [statuses, charged]: [number[], bigint[]] = [[], []];
    for (let number = 0; number < 4; number += 1) {
      made += 1;
      const call = request(payer, '/llm/vendor5-k3', { prompt: `${made} ${prompt}`, max_tokens: 2000 });
      const answer = await sendProof(call, await signUpto(payer, 'chain-c', call));
      await answer.text();
      statuses.push(answer.status);
      if (answer.status === 200) charged.push(usd(answer.headers.get('turnpike-charged') ?? ''));
    }
    return { statuses, charged };
  }

  const short = 'hi';
  const long = 'fog '.repeat(1_200);
  const worthIt = await buyFour(gateway, long);
  t.same(worthIt.statuses, [200, 200, 200, 200]);
  t.ok(worthIt.charged.every((amount) => amount >= least && amount * 2n < least * 3n));
  const tooLittle = await buyFour(gateway, short);
  t.same(tooLittle.statuses, [200, 200, 429, 429]);
  t.ok(tooLittle.charged.every((amount) => amount < least));
  // Whose approval is handed in besides costs half as much again.
  const unapproved = await (await openEvmWallet(gateway, 'chain-c')).another(1_000_000n);
  t.same((await buyFour(unapproved, long)).statuses, [200, 200, 429, 429]);
});

/** A wallet that is a contract, with money, and with its approval once it stands. `settlesFirst`: contracts have to. */
async function openContractPayer(t: Test, { settlesFirst }: { settlesFirst: boolean }) {
  const gateway = await startGateway({
    catalogue: picturesWith(t, `{ settleUpfront: { contracts: ${settlesFirst} } }`, 'llm/vendor5-k3'),
    networks: ['chain-c'],
    tempo: true,
  });
  t.teardown(gateway.stop);
  const call = request(gateway, '/llm/vendor5-k3', { prompt: 'Why does fog scatter light?', max_tokens: 2000 });
  const access = { ...accessIn(gateway.state), bank: gateway.sandbox.payer('chain-c') };
  await placeFactory(access, ALLOWED);
  const wallet = await newSmartWallet(access, ALLOWED);
  async function stand(): Promise<void> {
    await wallet.deploy();
    await approvePermit2(access, wallet.address);
  }
  return { gateway, call, wallet, stand };
}

t.test(
  'a contract wallet pays by its signature with what would deploy it, and has the same again without',
  async (t) => {
    const { gateway, call, wallet, stand } = await openContractPayer(t, { settlesFirst: false });
    await stand();
    const earned = await gateway.earned('chain-c');
    const wrapped = await signProofBy(wallet, wallet.wrap, call, 'upto');
    const answer = await sendProof(call, wrapped);
    const text = await answer.text();
    t.equal(answer.status, 200, text);
    const charged = (await gateway.earned('chain-c')) - earned;
    t.ok(charged > 0n);
    const bare = changed(wrapped, ({ payload }) => {
      payload.signature = parseErc6492Signature(payload.signature as Hex).signature;
    });
    const again = await sendProof(call, bare);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(await again.text(), text);
    t.equal((await gateway.earned('chain-c')) - earned, charged);

    const mangled = changed(await signProofBy(wallet, wallet.sign, call, 'upto'), ({ payload }) => {
      payload.signature = `${payload.signature}${'6492'.repeat(16)}`;
    });
    const refused = await sendProof(call, mangled);
    t.equal(refused.status, 402);
    t.match(await refused.json(), { type: /malformed/, detail: /payload\.signature must be a factory/ });
  },
);

t.test('what would deploy a contract wallet tells that it is one, though a moment ago it was not there', async (t) => {
  const { call, wallet, stand } = await openContractPayer(t, { settlesFirst: true });
  t.equal((await sendProof(call, await signProofBy(wallet, wallet.sign, call, 'upto'))).status, 402);
  await stand();
  const answer = await sendProof(call, await signProofBy(wallet, wallet.wrap, call, 'upto'));
  t.equal(answer.status, 402);
  t.match(await answer.json(), { detail: /pay by the scheme exact/ });
});
