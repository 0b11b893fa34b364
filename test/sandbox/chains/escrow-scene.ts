/** A chain with the escrow, an operator with gas, and payments signed by the published client, unmodified. */
import { x402Client } from '@x402/core/client';
import type { PaymentRequirements } from '@x402/core/types';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import type { Test } from 'tap';
import { type Address, type Hex, zeroAddress } from 'viem';
import type { AssetFile } from '../../../src/catalogue/types.ts';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';
import { type Call, newAccount, startChainScene } from './chain-scene.ts';

export const ESCROW: Address = '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c';
export const COLLECTOR: Address = '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88';
export const { abi: escrowAbi } = readArtifact(
  new URL('../../../src/sandbox/chains/AuthCaptureEscrow.json', import.meta.url),
);

/** Who signs: an account, or a contract's address with something that signs for it. */
type Signer = ConstructorParameters<typeof AuthCaptureEvmScheme>[0];

export interface Authorization {
  readonly from: Address;
  readonly to: Address;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: Hex;
}

/** The contract's struct. */
export interface PaymentInfo {
  readonly operator: Address;
  readonly payer: Address;
  readonly receiver: Address;
  readonly token: Address;
  readonly maxAmount: bigint;
  readonly preApprovalExpiry: number;
  readonly authorizationExpiry: number;
  readonly refundExpiry: number;
  readonly minFeeBps: number;
  readonly maxFeeBps: number;
  readonly feeReceiver: Address;
  readonly salt: bigint;
}

export interface Signed {
  readonly info: PaymentInfo;
  readonly authorization: Authorization;
  readonly signature: Hex;
}

const HOUR_SECONDS = 3_600;

export async function startScene(t: Test, asset: AssetFile) {
  const [receiver, feeReceiver] = [newAccount().address, newAccount().address];
  const scene = await startChainScene(t, asset, {
    contract: { address: ESCROW, abi: escrowAbi },
    others: { receiver, feeReceiver, escrow: ESCROW, collector: COLLECTOR },
  });
  const { payer, operator, caip2, read } = scene;

  const requirements = (amount: bigint, extra: object): PaymentRequirements => ({
    scheme: 'auth-capture',
    network: caip2 as PaymentRequirements['network'],
    amount: String(amount),
    asset: asset.address,
    payTo: receiver,
    maxTimeoutSeconds: 300,
    extra: {
      name: asset.name,
      version: asset.version,
      captureAuthorizer: operator.address,
      operatorType: 'delegated',
      captureMode: 'deferred',
      feeRecipient: zeroAddress,
      captureDeadline: Math.floor(Date.now() / 1000) + HOUR_SECONDS,
      refundDeadline: Math.floor(Date.now() / 1000) + HOUR_SECONDS,
      minFeeBps: 0,
      maxFeeBps: 0,
      ...extra,
    },
  });

  async function sign(amount: bigint, extra: object = {}, signer: Signer = payer): Promise<Signed> {
    const asked = requirements(amount, extra);
    const client = new x402Client().setSpendControls(false).register('eip155:*', new AuthCaptureEvmScheme(signer));
    const resource = { url: 'http://localhost/sold', description: 'sold', mimeType: 'application/json' };
    const { payload } = await client.createPaymentPayload({ x402Version: 2, resource, accepts: [asked] });
    const { authorization, signature, salt } = payload as {
      authorization: Authorization;
      signature: Hex;
      salt: Hex;
    };
    const terms = asked.extra as Record<string, unknown>;
    const info: PaymentInfo = {
      operator: terms.captureAuthorizer as Address,
      payer: authorization.from,
      receiver,
      token: asset.address as Address,
      maxAmount: BigInt(authorization.value),
      preApprovalExpiry: Number(authorization.validBefore),
      authorizationExpiry: Number(terms.captureDeadline),
      refundExpiry: Number(terms.refundDeadline),
      minFeeBps: Number(terms.minFeeBps),
      maxFeeBps: Number(terms.maxFeeBps),
      feeReceiver: terms.feeRecipient as Address,
      salt: BigInt(salt),
    };
    return { info, authorization, signature };
  }

  const byOperator = (functionName: string, args: readonly unknown[]): Call => ({ from: operator, functionName, args });
  const authorize = ({ info, signature }: Signed, amount = info.maxAmount): Call =>
    byOperator('authorize', [info, amount, COLLECTOR, signature]);
  const capture = ({ info }: Signed, amount: bigint, fee = 0n, to: Address = zeroAddress): Call =>
    byOperator('capture', [info, amount, fee, to]);
  const release = ({ info }: Signed): Call => byOperator('void', [info]);
  const reclaim = ({ info }: Signed): Call => ({ from: payer, functionName: 'reclaim', args: [info] });

  return {
    ...scene,
    feeReceiver,
    sign,
    calls: { authorize, capture, release, reclaim },
    /** The escrow's own account of a payment: whether it was ever locked, what is, and what was captured. */
    state: async ({ info }: Signed) => read('paymentState', [await read('getHash', [info])]),
  };
}
