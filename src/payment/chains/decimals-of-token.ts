/** How many decimals a token has. Sources: ERC-20's `decimals()`; byte 44 of a mint of Solana's token programs. */
import type { Network } from '../../catalogue/types.ts';
import { askBriefly, type Rpc } from './rpc.ts';
import { solanaAccount } from './solana-account.ts';

const DECIMALS = '0x313ce567';
const MINT_BYTES = 82;
const MINT_DECIMALS_AT = 44;

async function ofContract(rpc: Rpc, token: string): Promise<number | undefined> {
  const told = String(await rpc('eth_call', [{ to: token, data: DECIMALS }, 'latest']));
  return /^0x0{62}[0-9a-f]{2}$/i.test(told) ? Number(told) : undefined;
}

async function ofMint(rpc: Rpc, token: string): Promise<number | undefined> {
  const { data } = await solanaAccount(rpc, token);
  const bytes = Buffer.from(Array.isArray(data) ? String(data[0]) : '', 'base64');
  return bytes.length < MINT_BYTES ? undefined : bytes[MINT_DECIMALS_AT];
}

/** As its chain has it. Undefined where the node does not tell. Never throws. */
export const decimalsOfToken = (
  family: Network['family'],
  rpcUrl: string,
  token: string,
): Promise<number | undefined> => askBriefly(rpcUrl, (rpc) => (family === 'evm' ? ofContract : ofMint)(rpc, token));
