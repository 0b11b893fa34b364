/** A transaction of ours that its node loses holds up no later one. */
import './own-fetch.ts';
import t from 'tap';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { balances } from './contract.ts';
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

/** Waits for the settler's transaction to be in the node's pool, and makes the node lose it. */
async function lose(): Promise<void> {
  for (;;) {
    const content = Object(await rpc('txpool_content', []));
    const ours = Object.entries(Object(content.pending)).find(([sender]) => sender.toLowerCase() === settler)?.[1];
    const [transaction] = Object.values(Object(ours));
    if (!transaction) continue;
    await rpc('anvil_dropTransaction', [Object(transaction).hash]);
    return;
  }
}

t.test('a transaction that its node loses is sent again, and settles', async (t) => {
  const facilitator = localFacilitator({ evm: [evm], solana: [], resendAfterMs: 50 });
  const before = await balances(chains, baseSepolia);
  const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '31' });
  await pause();
  const settling = facilitator.settle(payload, requirements);
  await lose();
  await resume();
  t.match(await settling, { state: 'settled', amount: 31n });
  t.same(await balances(chains, baseSepolia), { payer: before.payer - 31n, payTo: before.payTo + 31n });
});

t.test('payments after one whose transaction is lost for good settle', async (t) => {
  const options = { evm: [evm], solana: [], confirmationTimeoutMs: 500, resendAfterMs: 60_000 };
  const facilitator = localFacilitator(options);
  const lost = await signV2(chains, baseSepolia, { amount: '32' });
  await pause();
  const settling = facilitator.settle(lost.payload, lost.requirements);
  await lose();
  t.match(await settling, { state: 'unknown', reason: /not confirmed/ });
  await resume();
  for (const amount of ['33', '34']) {
    const { payload, requirements } = await signV2(chains, baseSepolia, { amount });
    t.match(await facilitator.settle(payload, requirements), { state: 'settled', amount: BigInt(amount) });
  }
});

t.test('payments after a reorganisation that took a settlement back settle', async (t) => {
  const facilitator = localFacilitator({ evm: [evm], solana: [] });
  const snapshot = await rpc('evm_snapshot', []);
  const taken = await signV2(chains, baseSepolia, { amount: '35' });
  t.match(await facilitator.settle(taken.payload, taken.requirements), { state: 'settled' });
  await rpc('evm_revert', [snapshot]);
  const { payload, requirements } = await signV2(chains, baseSepolia, { amount: '36' });
  t.match(await facilitator.settle(payload, requirements), { state: 'settled', amount: 36n });
});
