/** Payments of the `upto` scheme move tokens through Uniswap's Permit2, which a payer has to have allowed that once. */
import { type Address, decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import type { Accepted } from '../purchase/types.ts';
import { type EvmWallet, WalletProblem } from './wallet.ts';

/** The same on every chain. */
export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/** Asks the wallet's own node. Throws WalletProblem where the allowance is less than what is asked. */
export async function demandAllowance({ provider, name }: EvmWallet, offer: Accepted, owner: Address): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner, PERMIT2] });
  const answer = (await provider.request({ method: 'eth_call', params: [{ to: offer.asset, data }, 'latest'] })) as Hex;
  const allowed = decodeFunctionResult({ abi: erc20Abi, functionName: 'allowance', data: answer });
  if (allowed >= BigInt(offer.amount)) return;
  throw new WalletProblem(
    `${name} has not allowed Permit2 (${PERMIT2}) to move as much of this token, and paying by use needs that: allow it once with your wallet, or choose the fixed price of the same network. Nothing was signed.`,
  );
}
