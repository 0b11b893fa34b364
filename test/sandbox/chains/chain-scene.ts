/** A chain with the contracts that hold money, accounts with gas, and calls that must go through or be refused. */
import type { Test } from 'tap';
import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  http,
  toEventSelector,
  toFunctionSelector,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia as chain } from 'viem/chains';
import type { AssetFile } from '../../../src/catalogue/types.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { startEvmChain } from '../../../src/sandbox/chains/evm.ts';
import type { SharedContracts } from '../../../src/sandbox/chains/permit2.ts';
import { baseSepolia } from '../../payment/facilitators/networks.ts';

const USDC = baseSepolia.sandbox.asset;
/** Circle's contract, and ours at the same address. */
export const TOKENS = [USDC, { ...USDC, name: 'Dollar', version: '1' }];

export type Account = ReturnType<typeof privateKeyToAccount>;

export interface Call {
  readonly from: Account;
  readonly to?: Address;
  readonly abi?: readonly unknown[];
  readonly functionName: string;
  readonly args: readonly unknown[];
}

/** Atomic units, by who has them. */
type Balances = Readonly<Record<string, bigint>>;

interface SceneOptions {
  /** Called where a call names no other. */
  readonly contract: { readonly address: Address; readonly abi: Abi };
  /** Whose tokens are counted, besides those of payer, operator and stranger. */
  readonly others: Readonly<Record<string, Address>>;
  readonly shared?: SharedContracts;
}

export const newAccount = (): Account => privateKeyToAccount(generatePrivateKey());
const GAS = 1_000_000n;
/** For a node that has other work: what is asked twice would be sent twice. */
const PATIENCE_MS = 60_000;
const ETHER = '0xde0b6b3a7640000';

/** What the contract says for itself: its error's name, or its words. */
function reasonOf(error: unknown): string {
  const reverted = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
  if (!(reverted instanceof ContractFunctionRevertedError)) throw error;
  return reverted.data?.errorName === 'Error' ? String(reverted.reason) : String(reverted.data?.errorName);
}

/** Selectors of functions and errors and topics of events, by name. */
export const selectorsOf = (abi: Abi): Readonly<Record<string, string>> =>
  Object.fromEntries(
    abi.flatMap((entry) => {
      if (entry.type === 'function') return [[entry.name, toFunctionSelector(entry)] as const];
      if (entry.type === 'event') return [[entry.name, toEventSelector(entry)] as const];
      if (entry.type !== 'error') return [];
      const called = { ...entry, type: 'function', outputs: [], stateMutability: 'view' } as const;
      return [[entry.name, toFunctionSelector(called)] as const];
    }),
  );

export async function startChainScene(t: Test, asset: AssetFile, options: SceneOptions) {
  const { contract, shared } = options;
  const [payer, operator, stranger] = [newAccount(), newAccount(), newAccount()];
  const { rpcUrl, balance, stop, caip2 } = await startEvmChain({
    id: 'chain-c',
    caip2: `eip155:${chain.id}`,
    asset,
    payer: payer.address,
    facilitator: operator.address,
    ...(shared ? { shared: Promise.resolve(shared) } : {}),
  });
  t.teardown(stop);
  const rpc = createRpc(rpcUrl, PATIENCE_MS);
  const fund = (address: Address) => rpc('anvil_setBalance', [address, ETHER]);
  await fund(stranger.address);
  // A block for every transaction and no other: its time is the one that a test sets.
  await rpc('evm_setAutomine', [true]);
  const transport = http(rpcUrl, { timeout: PATIENCE_MS });
  const reader = createPublicClient({ chain, transport, cacheTime: 0, pollingInterval: 50 });
  const wallet = createWalletClient({ chain, transport });

  const send = ({ from, to = contract.address, abi = contract.abi, functionName, args }: Call) =>
    wallet.writeContractSync({
      address: to,
      abi,
      functionName,
      args,
      account: from,
      gas: GAS,
      chain,
      throwOnReceiptRevert: false,
    });

  /** Why the call reverts where it is only tried; throws if it would go through. */
  async function refusal(
    { to = contract.address, abi = contract.abi, functionName, args }: Omit<Call, 'from'>,
    from: Account | Address,
  ): Promise<string> {
    try {
      await reader.simulateContract({ address: to, abi, functionName, args, account: from, gas: GAS });
    } catch (error) {
      return reasonOf(error);
    }
    throw new Error(`${functionName} would go through`);
  }

  const people = Object.entries({
    payer: payer.address,
    operator: operator.address,
    stranger: stranger.address,
    ...options.others,
  });
  const balances = async (): Promise<Balances> =>
    Object.fromEntries(await Promise.all(people.map(async ([who, address]) => [who, await balance(address)] as const)));

  const at = (seconds: number) => rpc('evm_setNextBlockTimestamp', [seconds]);

  return {
    rpc,
    rpcUrl,
    caip2,
    reader,
    payer,
    operator,
    stranger,
    fund,
    balance,
    balances,
    refusal,
    /** What everybody has more than before. */
    async gains(before: Balances): Promise<Balances> {
      const after = Object.entries(await balances());
      return Object.fromEntries(
        after.map(([who, units]) => [who, units - (before[who] ?? 0n)] as const).filter(([, units]) => units !== 0n),
      );
    },
    read: (functionName: string, args: readonly unknown[]) =>
      reader.readContract({ address: contract.address, abi: contract.abi, functionName, args }),
    /** The time of the next block, in seconds since the epoch. */
    at,
    async now(seconds: number): Promise<void> {
      await at(seconds);
      await rpc('evm_mine', []);
    },
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
  };
}
