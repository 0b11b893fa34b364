import { askBriefly } from './rpc.ts';
import { solanaAccount } from './solana-account.ts';
import { TOKEN_PROGRAMS } from './solana-transaction.ts';

/** Whether an address of Solana is where a wallet has its tokens, and not a wallet. Undefined where the node does not tell. Never throws. */
export const isTokenAccount = (rpcUrl: string, address: string): Promise<boolean | undefined> =>
  askBriefly(rpcUrl, async (rpc) => TOKEN_PROGRAMS.includes(String((await solanaAccount(rpc, address)).owner)));
