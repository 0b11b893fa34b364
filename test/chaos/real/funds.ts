/** Wallets with money in them, each for one purchase, so that every transfer is somebody's. */
import { address } from '@solana/kit';
import { encodeFunctionData, erc20Abi, type Hex, maxUint256 } from 'viem';
import { createRpc, type Rpc } from '../../../src/payment/chains/rpc.ts';
import { actAs } from '../../../src/sandbox/chains/contract.ts';
import type { Chains as Started } from '../../../src/sandbox/chains/index.ts';
import { associatedTokenAccount, TOKEN_PROGRAM, tokenAccount } from '../../../src/sandbox/chains/spl.ts';
import { newEvmWallet, newSolanaWallet } from '../../../src/sandbox/chains/wallets.ts';
import type { Chains, Wallet } from '../chains.ts';

/** Atomic units of assets with six decimals: more than any purchase costs. */
const FUNDS = 100_000_000n;
const GAS_MONEY = '0xde0b6b3a7640000';
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
/** What fees are paid with on Tempo: pathUSD. */
const TEMPO_FEES = '0x20c0000000000000000000000000000000000000';
const GAS = '0xf4240';
/** Code that takes every signature (ERC-1271): it answers `isValidSignature`, and all else, with the selector. */
const TAKES_EVERYTHING = '0x631626ba7e60e01b60005260206000f3';

const transferOf = (to: string): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, FUNDS] });

/** Each begins when the one before has ended: two that act as one address would take each other's turn. */
function inTurn() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

function evmFunds({ evm, wallets }: Started, id: string) {
  const { rpcUrl = '', asset } = evm[id] ?? {};
  const rpc = createRpc(rpcUrl);
  const next = inTurn();
  const token = asset?.address ?? '';
  return async (options: { readonly permit2?: boolean; readonly isContract?: boolean }): Promise<Wallet> => {
    const wallet = newEvmWallet();
    await next(() => actAs(rpc, wallets.evm.payer.address, [{ to: token, data: transferOf(wallet.address) }]));
    if (options.isContract) await rpc('anvil_setCode', [wallet.address, TAKES_EVERYTHING]);
    if (options.permit2) {
      await rpc('anvil_setBalance', [wallet.address, GAS_MONEY]);
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2, maxUint256] });
      await actAs(rpc, wallet.address, [{ to: token, data }]);
    }
    return wallet;
  };
}

async function solanaFunds({ solana }: Started): Promise<Wallet> {
  const { address: own, secretKey } = newSolanaWallet();
  const mint = address(solana?.mint ?? '');
  const account = await associatedTokenAccount(address(own), mint);
  const data = tokenAccount(mint, address(own), FUNDS).toString('hex');
  await createRpc(solana?.rpcUrl ?? '')('surfnet_setAccount', [account, { owner: TOKEN_PROGRAM, data }]);
  return { address: own, privateKey: secretKey };
}

function tempoFunds({ tempo }: Started) {
  const { rpcUrl = '', currency = '' } = tempo ?? {};
  const rpc: Rpc = createRpc(rpcUrl);
  const next = inTurn();
  return (): Promise<Wallet> =>
    next(async () => {
      const wallet = newEvmWallet();
      const accounts = await rpc('eth_accounts', []);
      const [from] = Array.isArray(accounts) ? accounts : [];
      for (const to of [currency, TEMPO_FEES]) {
        await rpc('eth_sendTransaction', [{ from, to, data: transferOf(wallet.address), gas: GAS }]);
      }
      await rpc('evm_mine', []);
      return wallet;
    });
}

export function openFunds(started: Started): Chains['openWallet'] {
  const onChainC = evmFunds(started, 'chain-c');
  const onChainE = evmFunds(started, 'chain-e');
  const onTempo = tempoFunds(started);
  return async (method, { isContract }) => {
    switch (method) {
      case 'exact on Solana':
        return solanaFunds(started);
      case 'exact on chain-e':
        return onChainE({});
      case 'tempo':
        return onTempo();
      default:
        return onChainC({ isContract, permit2: method === 'upto' });
    }
  };
}
