/** A chain with the escrow, an operator with gas, and payments signed by the published client, unmodified. */
import { x402Client } from '@x402/core/client';
import type { PaymentRequirements } from '@x402/core/types';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import type { Test } from 'tap';
import {
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  zeroAddress,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia as chain } from 'viem/chains';
import type { AssetFile } from '../../../src/catalogue/types.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { readArtifact } from '../../../src/sandbox/chains/contract.ts';
import { startEvmChain } from '../../../src/sandbox/chains/evm.ts';
import { baseSepolia } from '../../payment/facilitators/networks.ts';

const USDC = baseSepolia.sandbox.asset;
/** Circle's contract, and ours at the same address. */
export const TOKENS = [USDC, { ...USDC, name: 'Dollar', version: '1' }];

export const ESCROW: Address = '0xf96815976523E00e65Be8f34cA5e64b4f41EB19c';
export const COLLECTOR: Address = '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88';
export const { abi: escrowAbi } = readArtifact(
  new URL('../../../src/sandbox/chains/AuthCaptureEscrow.json', import.meta.url),
);

/** Who signs: an account, or a contract's address with something that signs for it. */
type Signer = ConstructorParameters<typeof AuthCaptureEvmScheme>[0];
type Account = ReturnType<typeof privateKeyToAccount>;

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

export interface Call {
  readonly from: Account;
  readonly to?: Address;
  readonly abi?: readonly unknown[];
  readonly functionName: string;
  readonly args: readonly unknown[];
}

const newAccount = () => privateKeyToAccount(generatePrivateKey());
const GAS = 1_000_000n;
const ETHER = '0xde0b6b3a7640000';
const HOUR_SECONDS = 3_600;

/** What the contract says for itself: its error's name, or its words. */
function reasonOf(error: unknown): string {
  const reverted = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
  return reverted.data?.errorName === 'Error' ? String(reverted.reason) : String(reverted.data?.errorName);
}

export async function startScene(t: Test, asset: AssetFile) {
  const [payer, operator, stranger] = [newAccount(), newAccount(), newAccount()];
  const [receiver, feeReceiver] = [newAccount().address, newAccount().address];
  const { rpcUrl, balance, stop, caip2 } = await startEvmChain({
    id: 'chain-c',
    caip2: `eip155:${chain.id}`,
    asset,
    payer: payer.address,
    facilitator: operator.address,
  });
  t.teardown(stop);
  const rpc = createRpc(rpcUrl);
  await rpc('anvil_setBalance', [stranger.address, ETHER]);
  // A block for every transaction and no other: its time is the one that a test sets.
  await rpc('evm_setAutomine', [true]);
  const transport = http(rpcUrl);
  const reader = createPublicClient({ chain, transport, cacheTime: 0 });
  const wallet = createWalletClient({ chain, transport });

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

  const send = async ({ from, to = ESCROW, abi = escrowAbi, functionName, args }: Call) => {
    const call = { address: to, abi, functionName, args, account: from, gas: GAS, chain, throwOnReceiptRevert: false };
    return wallet.writeContractSync(call);
  };

  /** Why the call reverts where it is only tried; throws if it would go through. */
  async function refusal(
    { to = ESCROW, abi = escrowAbi, functionName, args }: Omit<Call, 'from'>,
    from: Account | Address,
  ): Promise<string> {
    try {
      await reader.simulateContract({ address: to, abi, functionName, args, account: from, gas: GAS });
    } catch (error) {
      return reasonOf(error);
    }
    throw new Error(`${functionName} would go through`);
  }

  /** Atomic units of everyone who may have some. */
  const balances = async () => ({
    payer: await balance(payer.address),
    receiver: await balance(receiver),
    feeReceiver: await balance(feeReceiver),
    escrow: await balance(ESCROW),
    collector: await balance(COLLECTOR),
    operator: await balance(operator.address),
  });

  const read = (functionName: string, args: readonly unknown[]) =>
    reader.readContract({ address: ESCROW, abi: escrowAbi, functionName, args });

  const byOperator = (functionName: string, args: readonly unknown[]): Call => ({ from: operator, functionName, args });
  const authorize = ({ info, signature }: Signed, amount = info.maxAmount): Call =>
    byOperator('authorize', [info, amount, COLLECTOR, signature]);
  const capture = ({ info }: Signed, amount: bigint, fee = 0n, to: Address = zeroAddress): Call =>
    byOperator('capture', [info, amount, fee, to]);
  const release = ({ info }: Signed): Call => byOperator('void', [info]);
  const reclaim = ({ info }: Signed): Call => ({ from: payer, functionName: 'reclaim', args: [info] });

  return {
    rpc,
    payer,
    operator,
    stranger,
    feeReceiver,
    sign,
    balances,
    balance,
    read,
    refusal,
    calls: { authorize, capture, release, reclaim },
    /** Sends the call and fails the test if it does not go through. */
    async does(t: Test, call: Call) {
      const receipt = await send(call);
      t.equal(receipt.status, 'success', call.functionName);
      return receipt;
    },
    /** Fails the test if the call does anything, tried or sent. */
    async refuses(t: Test, call: Call, reason: RegExp) {
      const before = await balances();
      t.match(await refusal(call, call.from), reason, call.functionName);
      t.equal((await send(call)).status, 'reverted', `${call.functionName} that is sent all the same`);
      t.same(await balances(), before, 'and nothing moves');
    },
    /** The escrow's own account of a payment: whether it was ever locked, what is, and what was captured. */
    state: async ({ info }: Signed) => read('paymentState', [await read('getHash', [info])]),
  };
}
