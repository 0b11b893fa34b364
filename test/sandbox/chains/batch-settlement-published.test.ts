/** x402's own client and facilitator, unmodified, with the channels of the sandbox's chains. */
import { x402Client } from '@x402/core/client';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toClientEvmSigner, toFacilitatorEvmSigner } from '@x402/evm';
import {
  BatchSettlementEvmScheme as ClientScheme,
  computeChannelId,
  InMemoryClientChannelStorage,
  updateChannelFromSettle,
} from '@x402/evm/batch-settlement/client';
import { BatchSettlementEvmScheme as FacilitatorScheme } from '@x402/evm/batch-settlement/facilitator';
import t from 'tap';
import { createWalletClient, type Hex, http, numberToHex, publicActions } from 'viem';
import { baseSepolia as chain } from 'viem/chains';
import { startTempoChain } from '../../../src/sandbox/chains/tempo.ts';
import { COLLECTOR, SETTLEMENT, settlementAbi } from './batch-settlement-scene.ts';
import { newAccount, startChainScene, TOKENS } from './chain-scene.ts';

const PRICE = 100_000n;

/** With Multicall3, by which the facilitator reads. */
const { shared, stop } = await startTempoChain([]);
await stop();

for (const asset of TOKENS) {
  const name = `${asset.name} ${asset.version}`;
  const [voucherSigner, authorizer, receiver] = [newAccount(), newAccount(), newAccount().address];
  const scene = await startChainScene(t, asset, {
    contract: { address: SETTLEMENT, abi: settlementAbi },
    others: { receiver, settlement: SETTLEMENT, collector: COLLECTOR },
    shared,
  });
  const { payer, operator, balances, gains } = scene;
  const wallet = createWalletClient({
    account: operator,
    chain,
    transport: http(scene.rpcUrl, { timeout: 60_000 }),
    pollingInterval: 50,
  }).extend(publicActions);
  const signer = { ...wallet, address: operator.address } as unknown as Parameters<typeof toFacilitatorEvmSigner>[0];
  const facilitator = new FacilitatorScheme(toFacilitatorEvmSigner(signer), authorizer);

  const requirements: PaymentRequirements = {
    scheme: 'batch-settlement',
    network: scene.caip2 as PaymentRequirements['network'],
    amount: String(PRICE),
    asset: asset.address,
    payTo: receiver,
    maxTimeoutSeconds: 300,
    extra: { name: asset.name, version: asset.version, receiverAuthorizer: authorizer.address, withdrawDelay: 900 },
  };
  const resource = { url: 'http://localhost/sold', description: 'sold', mimeType: 'application/json' };

  interface Signed {
    readonly type: string;
    readonly channelConfig: Parameters<typeof computeChannelId>[0];
    readonly voucher: { readonly maxClaimableAmount: string; readonly signature: string };
    readonly deposit?: { readonly amount: string };
  }
  const ofServer = (payload: Record<string, unknown>): PaymentPayload => ({
    x402Version: 2,
    resource,
    accepted: requirements,
    payload,
  });
  const claimOf = ({ channelConfig, voucher }: Signed, totalClaimed: bigint) => ({
    voucher: { channel: channelConfig, maxClaimableAmount: voucher.maxClaimableAmount },
    signature: voucher.signature,
    totalClaimed: String(totalClaimed),
  });

  /** A client with one channel of its own, and what it remembers of it. */
  const newClient = (salt: Hex, signer: ConstructorParameters<typeof ClientScheme>[0] = payer) => {
    const storage = new InMemoryClientChannelStorage();
    const client = new x402Client()
      .setSpendControls(false)
      .register('eip155:*', new ClientScheme(signer, { storage, voucherSigner, salt }));
    const pay = async () => {
      const payment = await client.createPaymentPayload({ x402Version: 2, resource, accepts: [requirements] });
      return { payment, signed: payment.payload as unknown as Signed };
    };
    return { storage, pay };
  };

  t.test(`${name}: a channel is filled, charged twice, paid out and given back`, async (t) => {
    const start = await balances();
    const { storage, pay } = newClient(numberToHex(1, { size: 32 }));
    const first = await pay();
    t.equal(first.signed.type, 'deposit');
    t.match(await facilitator.verify(first.payment, requirements), { isValid: true, extra: { balance: '0' } });
    const deposited = await facilitator.settle(first.payment, requirements);
    t.match(deposited, { success: true, amount: '500000', payer: payer.address });
    t.match(deposited.extra, { channelState: { balance: '500000', totalClaimed: '0', refundNonce: '0' } });
    t.same(await gains(start), { payer: -500_000n, settlement: 500_000n });
    t.match(await facilitator.settle(first.payment, requirements), { success: false }, 'and not a second time');

    const channelId = computeChannelId(first.signed.channelConfig, scene.caip2);
    t.equal(await scene.read('getChannelId', [first.signed.channelConfig]), channelId);
    await updateChannelFromSettle(storage, {
      server: { chargedAmount: '70000' },
      local: { channelId, requestAmount: requirements.amount, depositAmount: '500000' },
    });
    const second = await pay();
    t.match(second.signed, { type: 'voucher', voucher: { maxClaimableAmount: '170000' } });
    t.match(await facilitator.verify(second.payment, requirements), { isValid: true, extra: { balance: '500000' } });

    const claims = [claimOf(second.signed, 150_000n)];
    t.match(await facilitator.settle(ofServer({ type: 'claim', claims }), requirements), { success: true });
    t.same(await scene.read('channels', [channelId]), [500_000n, 150_000n]);
    const settling = ofServer({ type: 'settle', receiver, token: asset.address });
    t.match(await facilitator.settle(settling, requirements), { success: true, amount: '150000' });
    t.same(await gains(start), { payer: -500_000n, receiver: 150_000n, settlement: 350_000n });
    t.match(await facilitator.settle(settling, requirements), { success: false, errorReason: /nothing_to_settle/ });

    const rest = { ...second.signed, type: 'refund', refundNonce: '0', claims: [claimOf(second.signed, 170_000n)] };
    const refunded = await facilitator.settle(ofServer({ ...rest, amount: '500000' }), requirements);
    t.match(refunded, { success: true, amount: '330000' });
    t.same(await scene.read('channels', [channelId]), [170_000n, 170_000n]);
    t.match(await facilitator.settle(settling, requirements), { success: true, amount: '20000' });
    t.same(await gains(start), { payer: -170_000n, receiver: 170_000n });
  });

  t.test(`${name}: a client that has forgotten its channel finds it on the chain, and fills it again`, async (t) => {
    const salt = numberToHex(2, { size: 32 });
    const { pay } = newClient(salt);
    const { payment, signed } = await pay();
    t.match(await facilitator.settle(payment, requirements), { success: true });
    const claiming = ofServer({ type: 'claim', claims: [claimOf(signed, PRICE)] });
    t.match(await facilitator.settle(claiming, requirements), { success: true });

    const again = newClient(salt, toClientEvmSigner(payer, scene.reader));
    const next = await again.pay();
    t.match(next.signed, { type: 'voucher', voucher: { maxClaimableAmount: '200000' } });
    t.match(await facilitator.verify(next.payment, requirements), {
      isValid: true,
      extra: { balance: '500000', totalClaimed: '100000' },
    });
    const channelId = computeChannelId(signed.channelConfig, scene.caip2);
    await again.storage.set(channelId, { balance: '500000', chargedCumulativeAmount: '450000' });
    const more = await again.pay();
    t.match(more.signed, { type: 'deposit', voucher: { maxClaimableAmount: '550000' } });
    const added = await facilitator.settle(more.payment, requirements);
    t.match(added, { success: true, extra: { channelState: { balance: '1000000', totalClaimed: '100000' } } });
  });

  t.test(`${name}: a withdrawal that was asked for is told, and a refund of as much ends it`, async (t) => {
    const { pay } = newClient(numberToHex(3, { size: 32 }));
    const { payment, signed } = await pay();
    const { channelConfig } = signed;
    t.match(await facilitator.settle(payment, requirements), { success: true });
    const voucher = ofServer({ type: 'voucher', channelConfig, voucher: signed.voucher });
    t.match(await facilitator.verify(voucher, requirements), { isValid: true, extra: { withdrawRequestedAt: 0 } });
    await scene.does(t, { from: payer, functionName: 'initiateWithdraw', args: [channelConfig, 400_000n] });
    const pending = await scene.read('pendingWithdrawals', [computeChannelId(channelConfig, scene.caip2)]);
    const [, withdrawRequestedAt] = pending as readonly [bigint, number];
    t.match(await facilitator.verify(voucher, requirements), { isValid: true, extra: { withdrawRequestedAt } });

    const start = await balances();
    const claims = [claimOf(signed, PRICE)];
    const rest = { type: 'refund', channelConfig, voucher: signed.voucher, amount: '500000', claims };
    const late = await facilitator.settle(ofServer({ ...rest, refundNonce: '1' }), requirements);
    t.match(late, { success: false, errorReason: /refund_simulation_failed/ });
    const partly = await facilitator.settle(ofServer({ ...rest, amount: '1', refundNonce: '0' }), requirements);
    const channelState = { balance: '499999', totalClaimed: '100000', refundNonce: '1', withdrawRequestedAt };
    t.match(partly, { success: true, amount: '1', extra: { channelState } });
    const wholly = await facilitator.settle(ofServer({ ...rest, claims: [], refundNonce: '1' }), requirements);
    t.match(wholly, { success: true, amount: '399999', extra: { channelState: { withdrawRequestedAt: 0 } } });
    t.same(await gains(start), { payer: 400_000n, settlement: -400_000n });
  });

  t.test(`${name}: one bad voucher keeps the facilitator from claiming the good one beside it`, async (t) => {
    const [good, bad] = [newClient(numberToHex(4, { size: 32 })), newClient(numberToHex(5, { size: 32 }))];
    const signed: Signed[] = [];
    for (const { pay } of [good, bad]) {
      const made = await pay();
      t.match(await facilitator.settle(made.payment, requirements), { success: true });
      signed.push(made.signed);
    }
    const [one, other] = signed as [Signed, Signed];
    const spoilt = { ...claimOf(other, PRICE), signature: one.voucher.signature };
    const both = ofServer({ type: 'claim', claims: [claimOf(one, PRICE), spoilt] });
    t.match(await facilitator.settle(both, requirements), { success: false, errorReason: /claim_simulation_failed/ });
    const sound = ofServer({ type: 'claim', claims: [claimOf(one, PRICE), claimOf(other, PRICE)] });
    t.match(await facilitator.settle(sound, requirements), { success: true });
  });
}

t.end();
