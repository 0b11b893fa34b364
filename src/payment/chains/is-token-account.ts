import { isJsonObject } from '../../json.ts';
import { askBriefly } from './rpc.ts';
import { TOKEN_PROGRAMS } from './solana-transaction.ts';

/** Whether an address of Solana is where a wallet has its tokens, and not a wallet. Undefined where the node does not tell. Never throws. */
export const isTokenAccount = (rpcUrl: string, address: string): Promise<boolean | undefined> =>
  askBriefly(rpcUrl, async (rpc) => {
    const told = await rpc('getAccountInfo', [address, { encoding: 'base64', commitment: 'confirmed' }]);
    if (!isJsonObject(told)) return undefined;
    return isJsonObject(told.value) && TOKEN_PROGRAMS.includes(String(told.value.owner));
  });
