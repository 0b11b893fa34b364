/** Of which chain a node is. Sources: EIP-695 for `eth_chainId`; CAIP-2's namespace solana: 32 characters of the first block's hash. */
import type { Network } from '../../catalogue/types.ts';
import { isSolanaAddress } from '../../on-chain/solana-address.ts';
import { askBriefly } from './rpc.ts';

/** As CAIP-2. Undefined where the node does not tell. Never throws. */
export const chainOfNode = (family: Network['family'], rpcUrl: string): Promise<string | undefined> =>
  askBriefly(rpcUrl, async (rpc) => {
    const told = String(await rpc(family === 'evm' ? 'eth_chainId' : 'getGenesisHash', []));
    if (family === 'evm') return /^0x[0-9a-f]{1,64}$/i.test(told) ? `eip155:${BigInt(told)}` : undefined;
    // A hash has the form of an address: 32 bytes in base58.
    return isSolanaAddress(told) ? `solana:${told.slice(0, 32)}` : undefined;
  });
