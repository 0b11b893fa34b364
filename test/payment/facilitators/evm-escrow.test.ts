/** Driving the escrow on a real chain while gas is dear: what is locked waits, and says why. */
import t from 'tap';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { EIP3009_COLLECTOR } from '../../../src/on-chain/escrow-contracts.ts';
import type { EscrowOperator } from '../../../src/payment/escrow/escrow.ts';
import { authorizationNonce, type PaymentInfo } from '../../../src/payment/escrow/payment-info.ts';
import { type LocalOptions, localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { TRANSFER_TYPES } from '../../transfer-types.ts';
import { baseSepolia } from './networks.ts';

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const { caip2, asset } = baseSepolia.sandbox;
const [evm] = chains.facilitatorOptions.evm;
const payTo = chains.payTo[baseSepolia.id];
if (!evm || payTo === undefined) throw new Error('no EVM network was started');
const payer = privateKeyToAccount(chains.wallets.evm.payer.privateKey as Hex);

/** `nativeValue`: atomic units that one coin is worth. */
async function operatorAt(nativeValue: bigint): Promise<EscrowOperator> {
  const options: LocalOptions = {
    ...chains.facilitatorOptions,
    evm: chains.facilitatorOptions.evm.map((network) => ({ ...network, nativeValue })),
  };
  const facilitator = localFacilitator(options);
  t.teardown(facilitator.close);
  const operator = await facilitator.escrow?.(caip2);
  if (!operator) throw new Error('nobody drives the escrow');
  return operator;
}

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
  const account = privateKeyToAccount(evm.privateKey as Hex).address;
  const [cheap, dear] = [await operatorAt(0n), await operatorAt(10n ** 18n)];
  const ends: [name: string, end: (operator: EscrowOperator, info: PaymentInfo) => Promise<unknown>, state: string][] =
    [
      ['giving it back', (operator, info) => operator.release(info), 'refused'],
      ['taking it', (operator, info) => operator.capture(info, 60_000n), 'settled'],
    ];
  for (const [at, [name, end, state]] of ends.entries()) {
    const now = Math.floor(Date.now() / 1000);
    const info: PaymentInfo = {
      operator: account.toLowerCase(),
      payer: payer.address.toLowerCase(),
      receiver: payTo.toLowerCase(),
      token: asset.address.toLowerCase(),
      maxAmount: '60000',
      preApprovalExpiry: now + 600,
      authorizationExpiry: now + 7_200,
      salt: `0x${String(at + 1).padStart(64, '0')}`,
    };
    t.match(await cheap.lock(info, await signed(info)), { state: 'settled' });
    t.match(await end(dear, info), {
      state: 'unknown',
      held: true,
      reason: /^the escrow has the money: .*half the price/,
    });
    t.match(await end(cheap, info), { state }, name);
  }
});
