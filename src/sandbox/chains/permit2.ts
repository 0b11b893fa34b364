import { encodeFunctionData, erc20Abi, type Hex, maxUint256 } from 'viem';
import type { Rpc } from '../../payment/chains/rpc.ts';
import { actAs, readArtifact } from './contract.ts';

/** Where every chain has Uniswap's Permit2 and Multicall3; anvil's Tempo network has both in its genesis block. */
const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';
/** Where x402's clients look for the contract that settles `upto` (@x402/evm, x402UptoPermit2ProxyAddress). */
const UPTO_PROXY = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';

/** Runtime code by address. */
export type SharedContracts = ReadonlyMap<string, Hex>;

export async function readSharedContracts(rpc: Rpc): Promise<SharedContracts> {
  const codes = new Map<string, Hex>();
  for (const address of [PERMIT2, MULTICALL3])
    codes.set(address, (await rpc('eth_getCode', [address, 'latest'])) as Hex);
  return codes;
}

/** Makes `upto` payments possible: puts the contracts in place, and lets Permit2 move the payer's tokens. */
export async function placePermit2(rpc: Rpc, shared: SharedContracts, token: string, payer: string): Promise<void> {
  for (const [address, code] of shared) await rpc('anvil_setCode', [address, code]);
  const { deployedBytecode } = readArtifact(new URL('./UptoPermit2Proxy.json', import.meta.url));
  await rpc('anvil_setCode', [UPTO_PROXY, deployedBytecode]);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2, maxUint256] });
  await actAs(rpc, payer, [{ to: token, data }]);
}
