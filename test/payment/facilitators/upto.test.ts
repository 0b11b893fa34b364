import { x402Client } from '@x402/core/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import t from 'tap';
import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { findPermit2Settlement } from '../../../src/payment/authorizations/permit2.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { gasSponsoringExtension } from '../../../src/rails/x402/gas-sponsoring.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { balances } from './contract.ts';
import { baseSepolia, stable } from './networks.ts';
import { requirementsV2 } from './payments.ts';

const chains = await startChains({ networks: [baseSepolia, stable], tempo: true });
t.teardown(chains.stop);
const facilitator = localFacilitator(chains.facilitatorOptions);
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const account = privateKeyToAccount(chains.wallets.evm.payer.privateKey as Hex);

for (const network of [baseSepolia, stable]) {
  const rpcUrl = chains.evm[network.id]?.rpcUrl ?? '';
  const sign = async (payer = account, amount = '500000') => {
    const kinds = await facilitator.supported();
    const kind = kinds.find(({ scheme, network: name }) => scheme === 'upto' && name === network.sandbox.caip2);
    const exact = requirementsV2(chains, network, { amount });
    const requirements = { ...exact, scheme: 'upto', extra: { ...exact.extra, ...kind?.extra } };
    const client = new x402Client().setSpendControls(false).register('eip155:*', new UptoEvmScheme(payer, { rpcUrl }));
    const resource = { url: 'http://localhost/sold', description: 'sold', mimeType: 'application/json' };
    const payload = await client.createPaymentPayload({
      x402Version: 2,
      resource,
      accepts: [requirements],
      extensions: gasSponsoringExtension,
    });
    const { permit2Authorization } = payload.payload as { permit2Authorization: { nonce: string; deadline: string } };
    const query = {
      rpcUrl,
      asset: network.sandbox.asset.address,
      payer: payer.address,
      payTo: chains.payTo[network.id] ?? '',
      nonce: permit2Authorization.nonce,
      deadline: Number(permit2Authorization.deadline),
    };
    return { payload, requirements, query };
  };

  t.test(`${network.id}: less than the signed amount is settled, once, and found on the chain`, async (t) => {
    const { payload, requirements, query } = await sign();
    const before = await balances(chains, network);
    t.same(await facilitator.verify(payload, requirements), { valid: true, payer: account.address });
    t.match(await findPermit2Settlement(query), { state: 'unknown' });
    const settlement = await facilitator.settle(payload, { ...requirements, amount: 123456n });
    t.match(settlement, { state: 'settled', amount: 123456n });
    const after = { payer: before.payer - 123456n, payTo: before.payTo + 123456n };
    t.same(await balances(chains, network), after);
    t.match(await findPermit2Settlement(query), { state: 'settled', amount: 123456n, transaction: /^0x/ });
    const again = await facilitator.settle(payload, { ...requirements, amount: '1' });
    t.match(again, { state: 'refused', reason: /used before/, spent: true });
    t.same(await balances(chains, network), after);
  });

  t.test(
    `${network.id}: a void permit is not paid by an older payment whose call its nonce can be read in`,
    async (t) => {
      const older = await sign();
      t.match(await facilitator.settle(older.payload, older.requirements), { state: 'settled' });
      // The payer chooses its nonces, and every settling call of its holds its address as a word.
      const nonce = BigInt(account.address);
      const data = encodeFunctionData({
        abi: parseAbi(['function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)']),
        functionName: 'invalidateUnorderedNonces',
        args: [nonce >> 8n, 1n << (nonce & 0xffn)],
      });
      await actAs(createRpc(older.query.rpcUrl), account.address, [{ to: PERMIT2, data }]);
      t.match(await findPermit2Settlement({ ...older.query, nonce: nonce.toString() }), { state: 'unknown' });
      t.match(await findPermit2Settlement(older.query), { state: 'settled', amount: 500_000n });
    },
  );

  t.test(
    `${network.id}: who has not approved Permit2 pays with a permit, which is found on the chain as well`,
    async (t) => {
      const payer = privateKeyToAccount(generatePrivateKey());
      const rpc = createRpc(rpcUrl);
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payer.address, 500_000n] });
      await actAs(rpc, account.address, [{ to: network.sandbox.asset.address, data }]);
      const { payload, requirements, query } = await sign(payer);
      const { extensions: _, ...bare } = payload;
      t.match(await facilitator.verify(bare, requirements), { valid: false, reason: /not approved Permit2/ });
      t.same(await facilitator.verify(payload, requirements), { valid: true, payer: payer.address });
      const settlement = await facilitator.settle(payload, { ...requirements, amount: 123456n });
      t.match(settlement, { state: 'settled', amount: 123456n });
      const found = await findPermit2Settlement(query);
      t.match(found, { state: 'settled', amount: 123456n, transaction: /^0x/ });
      if (found.state !== 'settled') return;
      const receipt = (await rpc('eth_getTransactionReceipt', [found.transaction])) as { gasUsed: Hex };
      t.ok(BigInt(receipt.gasUsed) < 200_000n, 'well below the most that is paid for');
    },
  );

  t.test(`${network.id}: the gas of the permit counts where the price is weighed`, async (t) => {
    const [evm] = chains.facilitatorOptions.evm.filter(({ caip2 }) => caip2 === network.sandbox.caip2);
    if (!evm) throw new Error(`${network.id} was not started`);
    const payer = privateKeyToAccount(generatePrivateKey());
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payer.address, 500_000n] });
    await actAs(createRpc(rpcUrl), account.address, [{ to: network.sandbox.asset.address, data }]);
    const weighing = localFacilitator({ evm: [{ ...evm, nativeValue: 10n ** 8n }], solana: [] });
    t.teardown(weighing.close);
    const least = (await weighing.leastPrices?.())?.get(network.sandbox.caip2) ?? 0n;
    const amount = String((least * 11n) / 10n);
    const [approved, approving] = [await sign(account, amount), await sign(payer, amount)];
    t.match(await weighing.verify(approved.payload, approved.requirements), { valid: true });
    const reason = /settling costs more than half the price/;
    t.match(await weighing.verify(approving.payload, approving.requirements), { valid: false, reason });
  });

  t.test(`${network.id}: more than the signed amount is refused, nothing is settled for nothing`, async (t) => {
    const { payload, requirements } = await sign();
    const before = await balances(chains, network);
    t.match(await facilitator.settle(payload, { ...requirements, amount: '500001' }), { state: 'refused' });
    t.match(await facilitator.settle(payload, { ...requirements, amount: '0' }), { state: 'settled', amount: 0n });
    t.same(await balances(chains, network), before);
  });

  t.test(`${network.id}: a permit that expired unused is unsettled`, async (t) => {
    const { query } = await sign();
    const rpc = createRpc(query.rpcUrl);
    await rpc('evm_setNextBlockTimestamp', [query.deadline + 60]);
    await rpc('evm_mine', []);
    t.match(await findPermit2Settlement(query), { state: 'refused', reason: /expired/ });
  });
}

t.test(
  'permits are taken where the token takes them under the name that clients are told, and nowhere else',
  async (t) => {
    const taking = async (asset: object) => {
      const [evm] = chains.facilitatorOptions.evm;
      const options = evm ? [{ ...evm, asset: { ...baseSepolia.sandbox.asset, ...asset } }] : [];
      const its = localFacilitator({ evm: options, solana: [] });
      t.teardown(its.close);
      return (await its.supported()).filter(({ takesApprovals }) => takesApprovals).map(({ scheme }) => scheme);
    };
    t.same(await taking({}), ['upto']);
    t.same(await taking({ name: 'USD Coin' }), [], 'the domain of another token');
    t.same(await taking({ address: PERMIT2 }), [], 'a contract without permits');
    t.same(await taking({ address: account.address }), [], 'no contract');
  },
);

t.test('where the contracts are not on the chain, it is not offered', async (t) => {
  const without = await startChains({ networks: [stable] });
  t.teardown(without.stop);
  const kinds = await localFacilitator(without.facilitatorOptions).supported();
  t.same(kinds, [{ x402Version: 2, scheme: 'exact', network: 'eip155:988' }]);
});

t.end();
