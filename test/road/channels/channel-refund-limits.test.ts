/** Deposits that are given back again and again, each by a transaction of the gateway's. */
import t, { type Test } from 'tap';
import { createPublicClient, http } from 'viem';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { openChannel } from '../../channels.ts';
import { sendProof } from '../../clients.ts';
import { type Gateway, startGateway } from '../../gateway.ts';
import { fresh, picturesWith } from '../../settling-first.ts';

interface Signed {
  readonly payload: { readonly voucher: object };
}
const decoded = (proof: Record<string, string>): Signed =>
  JSON.parse(Buffer.from(Object.values(proof)[0] ?? '', 'base64').toString());
const encoded = (payment: object) => ({
  'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64'),
});

async function open(t: Test): Promise<Gateway> {
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{ channels: true }\nlimits: { payer: { wastedPerHour: 2, wastedPerDay: 2 } }'),
    networks: ['chain-c'],
  });
  t.teardown(gateway.stop);
  return gateway;
}

t.test('two an hour are two an hour, whatever is bought in between', async (t) => {
  const gateway = await open(t);
  const payer = openChannel(gateway, { deposit: 2_000_000n });
  let refunds = 0;
  for (let number = 0; number < 4; number += 1) {
    t.equal((await payer.buy(fresh(gateway))).status, 200);
    const given = await payer.scheme.refund(`${gateway.url}/v1/channels`, { amount: '1' }).catch(() => undefined);
    if (given?.success) refunds += 1;
  }
  t.equal(refunds, 2);
});

t.test(
  'a voucher of long ago, which everybody can read on the chain, keeps its payer from buying nothing',
  async (t) => {
    const gateway = await open(t);
    const payer = openChannel(gateway, { salt: `0x${'01'.padStart(64, '0')}` });
    const second = fresh(gateway);
    await payer.buy(fresh(gateway));
    const old = decoded(await payer.sign(second));
    t.equal((await sendProof(second, encoded(old))).status, 200);
    t.equal((await payer.buy(fresh(gateway))).status, 200);
    const { payload } = old;
    const ask = (voucher: object) =>
      fetch(`${gateway.url}/v1/channels`, {
        headers: encoded({ ...old, payload: { ...payload, voucher, type: 'refund', amount: '1' } }),
      });
    const told = await ask(payload.voucher);
    const { accepts } = JSON.parse(Buffer.from(told.headers.get('payment-required') ?? '', 'base64').toString());
    const { signedMaxClaimable: maxClaimableAmount, signature } = accepts[0].extra.voucherState;
    for (let number = 0; number < 4; number += 1) await ask({ ...payload.voucher, maxClaimableAmount, signature });
    const bought = await payer.buy(fresh(gateway));
    t.equal(bought.status, 200, await bought.text());
  },
);

const PRICE = 60_000n;

/** A signer of its own on a chain whose gas costs something: a plain settlement is worth it from half a call's price on. */
async function dearSigner({ state }: Sandbox) {
  const access = (state as Gateway['state']).evm['chain-c'];
  if (!access) throw new Error('the sandbox has no chain-c');
  const { rpcUrl, caip2, chainId } = access;
  const { address, privateKey } = newEvmWallet();
  await createRpc(rpcUrl)('anvil_setBalance', [address, '0x8ac7230489e80000']);
  const { maxFeePerGas } = await createPublicClient({ transport: http(rpcUrl) }).estimateFeesPerGas();
  const nativeValue = ((PRICE / 4n) * 10n ** 18n) / (120_000n * maxFeePerGas);
  const facilitator = localFacilitator({ evm: [{ caip2, chainId, rpcUrl, privateKey, nativeValue }], solana: [] });
  return { facilitators: [{ name: 'own', facilitator }] };
}

t.test('the last of a deposit is given back although that costs more: its calls have paid for it', async (t) => {
  const gateway = await startGateway({
    catalogue: picturesWith(t, '{ channels: true }'),
    networks: ['chain-c'],
    between: dearSigner,
  });
  t.teardown(gateway.stop);
  const payer = openChannel(gateway, { deposit: 10n * PRICE + 100n });
  const refund = (amount?: string) => payer.scheme.refund(`${gateway.url}/v1/channels`, amount ? { amount } : {});
  for (let number = 0; number < 10; number += 1) t.equal((await payer.buy(fresh(gateway))).status, 200);
  await t.rejects(refund('99'), /99 atomic units are not worth a transaction.*or for all 100 that are left/);
  const spendable = await gateway.spendable('chain-c');
  t.equal((await refund()).amount, '100');
  t.equal((await gateway.spendable('chain-c')) - spendable, 100n);
});
