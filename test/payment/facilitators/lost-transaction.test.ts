/** A transaction of ours that gets into no block holds up no later one. */
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { type Hex, parseTransaction, toHex } from 'viem';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { ownNonces } from '../../../src/payment/facilitators/own-nonces.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { balances } from './contract.ts';
import { json, serve } from './front.ts';
import { baseSepolia } from './networks.ts';
import { signV2 } from './payments.ts';

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const [evm] = chains.facilitatorOptions.evm;
if (!evm) throw new Error('no EVM network was started');
const rpc = createRpc(evm.rpcUrl);
const settler = chains.wallets.evm.facilitator.address.toLowerCase();

const pause = async () => {
  await rpc('evm_setIntervalMining', [0]);
  await rpc('evm_setAutomine', [false]);
};
const resume = async () => {
  await rpc('evm_setAutomine', [true]);
  await rpc('evm_mine', []);
};

/** The settler's transactions in the node's pool, in the order of their nonces, once there are `count`. */
async function pooled(count = 1): Promise<{ hash: string; nonce: string }[]> {
  for (;;) {
    const content = Object(await rpc('txpool_content', []));
    const ours = Object.entries(Object(content.pending)).find(([sender]) => sender.toLowerCase() === settler)?.[1];
    const found: { hash: string; nonce: string }[] = Object.values(Object(ours));
    if (found.length >= count) return found.sort((a, b) => Number(a.nonce) - Number(b.nonce));
    await delay(5);
  }
}

/** Makes the node lose the settler's transaction, once it is there. */
async function lose(): Promise<void> {
  const [transaction] = await pooled();
  await rpc('anvil_dropTransaction', [transaction?.hash]);
}

/** What the chain asks for gas from the next block on. */
const gasAt = async (wei: bigint) => {
  await rpc('anvil_setNextBlockBaseFeePerGas', [toHex(wei)]);
  await rpc('evm_mine', []);
};
const GWEI = 10n ** 9n;

/** Mines until something has happened, at fees that stay high. */
async function mining<T>(wei: bigint, happening: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  happening.then(over, over);
  while (!isOver) {
    await delay(50);
    await gasAt(wei);
  }
  return happening;
}

/** A busy machine takes its time: what is to settle is waited for. */
const PATIENCE_MS = 120_000;
const patiently = () => AbortSignal.timeout(PATIENCE_MS);
const quick = { resendAfterMs: 50, stalledAfterMs: 400, confirmationTimeoutMs: PATIENCE_MS };

t.afterEach(async () => {
  await resume();
  await gasAt(GWEI);
});

t.test('a transaction that its node loses is sent again, and settles', async (t) => {
  const facilitator = localFacilitator({ evm: [evm], solana: [], ...quick });
  t.teardown(facilitator.close);
  const before = await balances(chains, baseSepolia);
  const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '31' });
  await pause();
  const settling = facilitator.settle(payload, requirements, patiently());
  await lose();
  await resume();
  t.match(await settling, { state: 'settled', amount: 31n });
  t.same(await balances(chains, baseSepolia), { payer: before.payer - 31n, payTo: before.payTo + 31n });
});

t.test('a transaction that is lost settles although nobody waits for it any more, and so do later ones', async (t) => {
  const facilitator = localFacilitator({ evm: [evm], solana: [], ...quick, confirmationTimeoutMs: 300 });
  t.teardown(facilitator.close);
  const before = await balances(chains, baseSepolia);
  const lost = await signV2(chains, baseSepolia, { amount: '32' });
  await pause();
  const settling = facilitator.settle(lost.payload, lost.requirements);
  await lose();
  t.match(await settling, { state: 'unknown', reason: /not confirmed/ });
  await lose();
  await pooled();
  await resume();
  for (const amount of ['33', '34']) {
    const { payload, requirements } = await signV2(chains, baseSepolia, { amount });
    let settlement = await facilitator.settle(payload, requirements);
    // Its block may be later than anybody waits for it here.
    while (settlement.state === 'unknown') settlement = await facilitator.settle(payload, requirements);
    t.match(settlement, { state: 'settled', amount: BigInt(amount) });
  }
  t.equal((await balances(chains, baseSepolia)).payTo, before.payTo + 99n);
});

t.test('a transaction that is too cheap once fees have risen is replaced, and settles', async (t) => {
  const facilitator = localFacilitator({ evm: [evm], solana: [], ...quick });
  t.teardown(facilitator.close);
  const before = await balances(chains, baseSepolia);
  const payments = await Promise.all(['41', '42', '43'].map((amount) => signV2(chains, baseSepolia, { amount })));
  await pause();
  const settling = payments.map(({ payload, requirements }) => facilitator.settle(payload, requirements, patiently()));
  const first = await pooled(3);
  await gasAt(20n * GWEI);
  const settlements = await mining(20n * GWEI, Promise.all(settling));
  t.match(settlements, [{ state: 'settled' }, { state: 'settled' }, { state: 'settled' }]);
  t.equal((await balances(chains, baseSepolia)).payTo, before.payTo + 126n, 'each once');
  const nonces = new Set<string>();
  for (const settlement of settlements) {
    const transaction = settlement.state === 'settled' ? settlement.transaction : '';
    t.notOk(
      first.some(({ hash }) => hash === transaction),
      'by another transaction',
    );
    t.match(await rpc('eth_getTransactionReceipt', [transaction]), { status: '0x1' });
    nonces.add(Object(await rpc('eth_getTransactionByHash', [transaction])).nonce);
  }
  t.same([...nonces].sort(), first.map(({ nonce }) => nonce).sort(), 'of the same numbers');
});

t.test('fees that rise while a transaction is on its way to the node keep it from nothing', async (t) => {
  let sends = 0;
  const node = await serve(async (_request, response, body) => {
    if (body.includes('eth_sendRawTransaction')) sends += 1;
    if (sends === 1) await gasAt(20n * GWEI);
    const answer = await fetch(evm.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    json(response, answer.status, await answer.json());
  });
  t.teardown(node.stop);
  const facilitator = localFacilitator({ evm: [{ ...evm, rpcUrl: node.url }], solana: [], ...quick });
  t.teardown(facilitator.close);
  const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '44' });
  t.match(await facilitator.settle(payload, requirements, patiently()), { state: 'settled', amount: 44n });
  t.ok(sends > 1, 'the node turned the first one down');
});

t.test('a transaction that is not worth the risen fees makes way for later ones that are', async (t) => {
  // A coin is worth 3,000 dollars: 20 gwei are some five dollars for a settlement.
  const dear = { ...evm, nativeValue: 3_000_000_000n };
  const facilitator = localFacilitator({ evm: [dear], solana: [], ...quick });
  t.teardown(facilitator.close);
  const before = await balances(chains, baseSepolia);
  const cheap = await signV2(chains, baseSepolia, { amount: '1500000' });
  const costly = await signV2(chains, baseSepolia, { amount: '90000000' });
  await pause();
  const impatient = localFacilitator({ evm: [dear], solana: [], ...quick, confirmationTimeoutMs: 3_000 });
  t.teardown(impatient.close);
  const nonces = ownNonces();
  for (const one of [facilitator, impatient]) one.share(nonces);
  const settling = impatient.settle(cheap.payload, cheap.requirements);
  await pooled();
  await gasAt(20n * GWEI);
  t.match(await mining(20n * GWEI, facilitator.settle(costly.payload, costly.requirements, patiently())), {
    state: 'settled',
  });
  t.match(await settling, { state: 'unknown' });
  t.equal((await balances(chains, baseSepolia)).payTo, before.payTo + 90_000_000n);
});

t.test('where none of those that wait is worth the risen fees, nothing is paid to make way for them', async (t) => {
  const sent: Hex[] = [];
  const node = await serve(async (_request, response, body) => {
    const { method, params } = JSON.parse(body);
    if (method === 'eth_sendRawTransaction') sent.push(params[0]);
    const answer = await fetch(evm.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    json(response, answer.status, await answer.json());
  });
  t.teardown(node.stop);
  const dear = { ...evm, rpcUrl: node.url, nativeValue: 3_000_000_000n };
  const facilitator = localFacilitator({ evm: [dear], solana: [], ...quick });
  t.teardown(facilitator.close);
  const before = await balances(chains, baseSepolia);
  const payments = await Promise.all(['1500000', '1500001'].map((amount) => signV2(chains, baseSepolia, { amount })));
  await pause();
  const settling = Promise.all(
    payments.map(({ payload, requirements }) => facilitator.settle(payload, requirements, patiently())),
  );
  await pooled(2);
  await gasAt(20n * GWEI);
  // One a round, and a number is used up after eight without a new block.
  const rounds = async () => {
    while (sent.length < 40) await delay(50);
  };
  await mining(20n * GWEI, rounds());
  t.ok(sent.every((serialized) => parseTransaction(serialized).data !== undefined));
  await mining(GWEI, settling);
  t.match(await settling, [{ state: 'settled' }, { state: 'settled' }]);
  t.equal((await balances(chains, baseSepolia)).payTo, before.payTo + 3_000_001n);
});

t.test('a number that an instance took and never used holds up no other instance', async (t) => {
  const nonces = ownNonces();
  const facilitator = localFacilitator({ evm: [evm], solana: [], ...quick });
  t.teardown(facilitator.close);
  facilitator.share(nonces);
  const account = `${evm.caip2}:${chains.wallets.evm.facilitator.address}`;
  const count = Number(await rpc('eth_getTransactionCount', [settler, 'latest']));
  for (const atLeast of [count, 0, 0]) {
    await nonces.takeNonce({ account, atLeast, now: Date.now(), forgottenBefore: 0 });
  }
  const payments = await Promise.all(['51', '52'].map((amount) => signV2(chains, baseSepolia, { amount })));
  const settlements = payments.map(({ payload, requirements }) =>
    facilitator.settle(payload, requirements, patiently()),
  );
  t.match(await Promise.all(settlements), [{ state: 'settled' }, { state: 'settled' }]);
  t.equal(Number(await rpc('eth_getTransactionCount', [settler, 'latest'])), count + 5);
});

t.test('a settlement that a reorganisation took back settles again, and later ones do', async (t) => {
  const facilitator = localFacilitator({ evm: [evm], solana: [], ...quick });
  t.teardown(facilitator.close);
  const before = await balances(chains, baseSepolia);
  const snapshot = await rpc('evm_snapshot', []);
  const taken = await signV2(chains, baseSepolia, { amount: '35' });
  t.match(await facilitator.settle(taken.payload, taken.requirements, patiently()), { state: 'settled' });
  await pause();
  await rpc('evm_revert', [snapshot]);
  t.equal((await balances(chains, baseSepolia)).payTo, before.payTo, 'it is gone');
  await resume();
  while ((await balances(chains, baseSepolia)).payTo !== before.payTo + 35n) await delay(20);
  const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '36' });
  t.match(await facilitator.settle(payload, requirements, patiently()), { state: 'settled', amount: 36n });
});

for (const said of ['already known', 'transaction already imported', 'AlreadyKnown', 'Known transaction']) {
  t.test(`a transaction of which its node says "${said}" is on its way, and no second one is sent`, async (t) => {
    // A balancer that lost the answer of one node, and asks the next.
    const balancer = await serve(async (_request, response, body) => {
      const answer = await fetch(evm.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      const { id, method } = JSON.parse(body);
      if (method !== 'eth_sendRawTransaction') return json(response, 200, await answer.json());
      json(response, 200, { jsonrpc: '2.0', id, error: { code: -32_000, message: said } });
    });
    t.teardown(balancer.stop);
    const facilitator = localFacilitator({ evm: [{ ...evm, rpcUrl: balancer.url }], solana: [], ...quick });
    t.teardown(facilitator.close);
    const count = async () => Number(await rpc('eth_getTransactionCount', [settler, 'latest']));
    const before = await count();
    for (const amount of ['37', '38']) {
      const { payload, requirements } = await signV2(chains, baseSepolia, { amount });
      const settled = await facilitator.settle(payload, requirements, patiently());
      t.match(settled, { state: 'settled', amount: BigInt(amount) });
    }
    t.equal((await count()) - before, 2);
  });
}
