/** Wallets of the crowd: each is new, is given so much, and is asked at the end what it has paid. */
import { address } from '@solana/kit';
import { encodeFunctionData, erc20Abi, type Hex, maxUint256 } from 'viem';
import { createRpc, type Rpc } from '../../src/payment/chains/rpc.ts';
import { actAs } from '../../src/sandbox/chains/contract.ts';
import { associatedTokenAccount, TOKEN_PROGRAM, tokenAccount } from '../../src/sandbox/chains/spl.ts';
import { newEvmWallet, newSolanaWallet } from '../../src/sandbox/chains/wallets.ts';
import type { Gateway } from '../gateway.ts';

export interface Wallet {
  /** The gateway as this wallet pays it. */
  readonly gateway: Gateway;
  readonly network: string;
  readonly address: string;
  /** Atomic units that went to the operator: what the wallet was given, less what it moved away and what it holds. */
  paid(): Promise<bigint>;
  /** Moves all that it holds back to where it came from. */
  empty(): Promise<void>;
}

export interface Bank {
  /** A new wallet with so many atomic units. `permit2`: one that can pay by `upto`. */
  open(network: string, amount: bigint, options?: { permit2?: boolean }): Promise<Wallet>;
  /** The node of a network. */
  rpc(network: string): Rpc;
}

const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const GAS_MONEY = '0xde0b6b3a7640000';
/** What the bank does is no part of what is measured: a busy machine is waited for. */
const PATIENCE_MS = 120_000;

export function openBank(gateway: Gateway): Bank {
  const { state, sandbox } = gateway;
  const { solana } = state;

  function accessOf(network: string) {
    const access = state.evm[network];
    if (!access) throw new Error(`the sandbox has no wallet on ${network}`);
    return access;
  }

  const rpcOf = (network: string): Rpc =>
    createRpc(solana?.id === network ? solana.rpcUrl : accessOf(network).rpcUrl, PATIENCE_MS);

  // Two that act as one address would take each other's permission away.
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  }

  const transferOf = (to: string, amount: bigint): Hex =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, amount] });

  async function openEvm(network: string, amount: bigint, permit2: boolean): Promise<Wallet> {
    const { address: own, privateKey } = newEvmWallet();
    const access = accessOf(network);
    const bank = sandbox.payer(network);
    const rpc = rpcOf(network);
    await inTurn(() => actAs(rpc, bank, [{ to: access.asset, data: transferOf(own, amount) }]));
    await rpc('anvil_setBalance', [own, GAS_MONEY]);
    if (permit2) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2, maxUint256] });
      await actAs(rpc, own, [{ to: access.asset, data }]);
    }
    let given = amount;
    return {
      gateway: { ...gateway, state: { ...state, evm: { ...state.evm, [network]: { ...access, privateKey } } } },
      network,
      address: own,
      paid: async () => given - (await sandbox.balance(network, own)),
      async empty() {
        const held = await sandbox.balance(network, own);
        await actAs(rpc, own, [{ to: access.asset, data: transferOf(bank, held) }]);
        given -= held;
      },
    };
  }

  async function openSolana(network: string, amount: bigint): Promise<Wallet> {
    if (solana?.id !== network) throw new Error(`the sandbox has no ${network}`);
    const { address: own, secretKey } = newSolanaWallet();
    const mint = address(solana.mint);
    const account = await associatedTokenAccount(address(own), mint);
    const put = (units: bigint) => {
      const data = tokenAccount(mint, address(own), units).toString('hex');
      return rpcOf(network)('surfnet_setAccount', [account, { owner: TOKEN_PROGRAM, data }]);
    };
    await put(amount);
    let given = amount;
    return {
      gateway: { ...gateway, state: { ...state, solana: { ...solana, secretKey } } },
      network,
      address: own,
      paid: async () => given - (await sandbox.balance(network, own)),
      async empty() {
        given -= await sandbox.balance(network, own);
        await put(0n);
      },
    };
  }

  return {
    rpc: rpcOf,
    open: (network, amount, { permit2 = false } = {}) =>
      network === solana?.id ? openSolana(network, amount) : openEvm(network, amount, permit2),
  };
}
