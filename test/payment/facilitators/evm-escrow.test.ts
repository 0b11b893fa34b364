/** Driving the escrow on a real chain while gas is dear: what is locked waits, and says why. */
import t from 'tap';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { EIP3009_COLLECTOR } from '../../../src/on-chain/escrow-contracts.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import type { EscrowOperator } from '../../../src/payment/escrow/escrow.ts';
import { authorizationNonce, type PaymentInfo } from '../../../src/payment/escrow/payment-info.ts';
import { MOST_GAS } from '../../../src/payment/facilitators/evm-gas.ts';
import { type LocalOptions, localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { newEvmWallet } from '../../../src/sandbox/chains/wallets.ts';
import { counting } from '../../hostile-wallets.ts';
import { TRANSFER_TYPES } from '../../transfer-types.ts';
import { json, serve } from './front.ts';
import { baseSepolia } from './networks.ts';

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const { caip2, asset } = baseSepolia.sandbox;
const [evm] = chains.facilitatorOptions.evm;
const payTo = chains.payTo[baseSepolia.id];
if (!evm || payTo === undefined) throw new Error('no EVM network was started');
const payer = privateKeyToAccount(chains.wallets.evm.payer.privateKey as Hex);

async function operatorOf(changes: Partial<(typeof chains.facilitatorOptions.evm)[number]>): Promise<EscrowOperator> {
  const options: LocalOptions = {
    ...chains.facilitatorOptions,
    evm: chains.facilitatorOptions.evm.map((network) => ({ ...network, ...changes })),
  };
  const facilitator = localFacilitator(options);
  t.teardown(facilitator.close);
  const operator = await facilitator.escrow?.(caip2);
  if (!operator) throw new Error('nobody drives the escrow');
  return operator;
}

/** `nativeValue`: atomic units that one coin is worth. */
const operatorAt = (nativeValue: bigint) => operatorOf({ nativeValue });

const infoOf = (from: string, salt: number): PaymentInfo => {
  const now = Math.floor(Date.now() / 1000);
  return {
    operator: privateKeyToAccount(evm.privateKey as Hex).address.toLowerCase(),
    payer: from.toLowerCase(),
    receiver: payTo.toLowerCase(),
    token: asset.address.toLowerCase(),
    maxAmount: '60000',
    preApprovalExpiry: now + 600,
    authorizationExpiry: now + 7_200,
    salt: `0x${String(salt).padStart(64, '0')}`,
  };
};

const signed = (info: PaymentInfo): Promise<Hex> =>
  payer.signTypedData({
    domain: {
      name: asset.name,
      version: asset.version,
      chainId: evm.chainId,
      verifyingContract: asset.address as Hex,
    },
    types: { ReceiveWithAuthorization: TRANSFER_TYPES.TransferWithAuthorization },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: payer.address,
      to: EIP3009_COLLECTOR as Hex,
      value: BigInt(info.maxAmount),
      validAfter: 0n,
      validBefore: BigInt(info.preApprovalExpiry),
      nonce: authorizationNonce(evm.chainId, info) as Hex,
    },
  });

t.test('a hold that is not worth its gas waits and says so, and is ended once it is worth it', async (t) => {
  const [cheap, dear] = [await operatorAt(0n), await operatorAt(10n ** 18n)];
  const ends: [name: string, end: (operator: EscrowOperator, info: PaymentInfo) => Promise<unknown>, state: string][] =
    [
      ['giving it back', (operator, info) => operator.release(info), 'refused'],
      ['taking it', (operator, info) => operator.capture(info, 60_000n), 'settled'],
    ];
  for (const [at, [name, end, state]] of ends.entries()) {
    const info = infoOf(payer.address, at + 1);
    t.match(await cheap.lock(info, await signed(info)), { state: 'settled' });
    t.match(await end(dear, info), {
      state: 'unknown',
      held: true,
      reason: /^the escrow has the money: .*half the price/,
    });
    t.match(await end(cheap, info), { state }, name);
  }
});

t.test('an account without gas is told of at once, and not tried again in vain', async (t) => {
  const info = infoOf(payer.address, 8);
  t.match(await (await operatorAt(0n)).lock(info, await signed(info)), { state: 'settled' });
  let looks = 0;
  const node = await serve(async (_request, response, body) => {
    for (const { method } of [JSON.parse(body)].flat()) if (method === 'eth_getBalance') looks += 1;
    const headers = { 'content-type': 'application/json' };
    json(response, 200, await (await fetch(evm.rpcUrl, { method: 'POST', headers, body })).json());
  });
  t.teardown(node.stop);
  const rpc = createRpc(evm.rpcUrl);
  const had = await rpc('eth_getBalance', [info.operator, 'latest']);
  await rpc('anvil_setBalance', [info.operator, '0x1']);
  const operator = await operatorOf({ rpcUrl: node.url });
  looks = 0;
  t.match(await operator.capture(info, 60_000n), { state: 'unknown', held: true, reason: /no gas left/ });
  t.equal(looks, 1);
  await rpc('anvil_setBalance', [info.operator, had]);
  t.match(await operator.capture(info, 60_000n), { state: 'settled' });
});

t.test("a payer's own contract is run for no more gas than locking may take", async (t) => {
  const limits: bigint[] = [];
  const node = await serve(async (_request, response, body) => {
    for (const { method, params } of [JSON.parse(body)].flat()) {
      // What is tried as it would be sent comes from somebody.
      if (method === 'eth_call' && params[0].from) limits.push(BigInt(params[0].gas ?? 30_000_000));
    }
    const headers = { 'content-type': 'application/json' };
    json(response, 200, await (await fetch(evm.rpcUrl, { method: 'POST', headers, body })).json());
  });
  t.teardown(node.stop);
  const wallet = newEvmWallet().address;
  const rpc = createRpc(evm.rpcUrl);
  await rpc('anvil_setCode', [wallet, counting(500_000)]);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet as Hex, 60_000n] });
  await actAs(rpc, payer.address, [{ to: asset.address, data }]);
  const operator = await operatorOf({ rpcUrl: node.url });
  limits.length = 0;
  const verdict = await operator.verify(infoOf(wallet, 9), `0x${'00'.repeat(70)}`);
  t.match(verdict, { valid: false, reason: /./ });
  t.not(limits.length, 0);
  for (const limit of limits) t.ok(limit <= MOST_GAS, `${limit}`);
});
