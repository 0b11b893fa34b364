import './own-fetch.ts';

import { x402Client } from '@x402/core/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import t from 'tap';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { findPermit2Settlement } from '../../../src/payment/authorizations/permit2.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
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
  const sign = async () => {
    const kinds = await facilitator.supported();
    const kind = kinds.find(({ scheme, network: name }) => scheme === 'upto' && name === network.sandbox.caip2);
    const exact = requirementsV2(chains, network, { amount: '500000' });
    const requirements = { ...exact, scheme: 'upto', extra: { ...exact.extra, ...kind?.extra } };
    const client = new x402Client().setSpendControls(false).register('eip155:*', new UptoEvmScheme(account));
    const resource = { url: 'http://localhost/sold', description: 'sold', mimeType: 'application/json' };
    const payload = await client.createPaymentPayload({ x402Version: 2, resource, accepts: [requirements] });
    const { permit2Authorization } = payload.payload as { permit2Authorization: { nonce: string; deadline: string } };
    const query = {
      rpcUrl: chains.evm[network.id]?.rpcUrl ?? '',
      asset: network.sandbox.asset.address,
      payer: account.address,
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

t.test('where the contracts are not on the chain, it is not offered', async (t) => {
  const without = await startChains({ networks: [stable] });
  t.teardown(without.stop);
  const kinds = await localFacilitator(without.facilitatorOptions).supported();
  t.same(kinds, [{ x402Version: 2, scheme: 'exact', network: 'eip155:988' }]);
});

t.end();
