/** What a payer can make the settling account of this process spend on gas, on a real chain. */
import t from 'tap';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { answering, counting } from '../../hostile-wallets.ts';
import { json, serve } from './front.ts';
import { baseSepolia } from './networks.ts';
import { signV1, signV2 } from './payments.ts';

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const [evm] = chains.facilitatorOptions.evm;
if (!evm) throw new Error('no EVM network was started');
const rpc = createRpc(evm.rpcUrl);
const token = baseSepolia.sandbox.asset.address;
const GAS_MONEY = async () =>
  BigInt(String(await rpc('eth_getBalance', [chains.wallets.evm.facilitator.address, 'latest'])));

for (const [version, sign] of [
  ['1', signV1],
  ['2', signV2],
] as const) {
  const paidBy = async (code: Hex) => {
    const wallet = newEvmWallet().address;
    await rpc('anvil_setCode', [wallet, code]);
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet as Hex, 1_000_000n] });
    await actAs(rpc, chains.wallets.evm.payer.address, [{ to: token, data }]);
    const { payload, requirements } = await sign(chains, baseSepolia, { amount: '1400' });
    const { authorization } = payload.payload as { authorization: object };
    const signed = { signature: `0x${'00'.repeat(70)}`, authorization: { ...authorization, from: wallet } };
    return { payload: { ...payload, payload: signed }, requirements };
  };

  t.test(`a wallet whose check takes little gas pays (version ${version})`, async (t) => {
    const facilitator = localFacilitator({ evm: [evm], solana: [] });
    const { payload, requirements } = await paidBy(counting(10));
    t.match(await facilitator.verify(payload, requirements), { valid: true });
    t.match(await facilitator.settle(payload, requirements), { state: 'settled' });
  });

  t.test(`a wallet whose check takes more gas than any transfer is refused (version ${version})`, async (t) => {
    const facilitator = localFacilitator({ evm: [evm], solana: [] });
    const { payload, requirements } = await paidBy(counting(500_000));
    const before = await GAS_MONEY();
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /./ });
    t.match(await facilitator.settle(payload, requirements), { state: 'refused', reason: /./ });
    t.equal(await GAS_MONEY(), before, 'and costs no gas');
  });

  t.test(`a wallet that answers with megabytes is heard for as long as it may cost (version ${version})`, async (t) => {
    let longest = 0;
    const node = await serve(async (_request, response, body) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await (await fetch(evm.rpcUrl, { method: 'POST', headers, body })).text();
      longest = Math.max(longest, answer.length);
      json(response, 200, JSON.parse(answer));
    });
    t.teardown(node.stop);
    const facilitator = localFacilitator({ evm: [{ ...evm, rpcUrl: node.url }], solana: [] });
    const { payload, requirements } = await paidBy(answering(3_000_000));
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /signature is not/ });
    t.ok(longest < 1_000_000, `the node was asked for ${longest} characters at once`);
  });

  t.test(`a wallet that answers with less than a word has signed nothing (version ${version})`, async (t) => {
    const facilitator = localFacilitator({ evm: [evm], solana: [] });
    const { payload, requirements } = await paidBy(answering(4));
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /signature is not/ });
    t.match(await facilitator.settle(payload, requirements), { state: 'refused', reason: /signature is not/ });
  });

  t.test(`a price that settling would eat up is refused (version ${version})`, async (t) => {
    const before = await GAS_MONEY();
    // At a trillion dollars a coin, one wei is worth an atomic unit.
    const facilitator = localFacilitator({ evm: [{ ...evm, nativeValue: 10n ** 18n }], solana: [] });
    const { payload, requirements } = await sign(chains, baseSepolia, { amount: '1400' });
    const reason = /settling costs more than half the price/;
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason });
    t.match(await facilitator.settle(payload, requirements), { state: 'refused', reason });
    t.equal(await GAS_MONEY(), before, 'and costs no gas');
  });
}
