/**
 * How much longer a blockhash is good: it ends with the 150th block after its own. Sources: Solana's sysvar
 * RecentBlockhashes (a count, then hashes of 32 bytes with 8 bytes of fees each, newest first), JSON-RPC
 * `isBlockhashValid`.
 */
import { isJsonObject } from '../../json.ts';
import { encodeBase58 } from '../../on-chain/base58.ts';
import type { Rpc } from './rpc.ts';

const RECENT_BLOCKHASHES = 'SysvarRecentB1ockHashes11111111111111111111';
const COUNT_BYTES = 8;
const HASH_BYTES = 32;
const ENTRY_BYTES = 40;
const LIFE_BLOCKS = 150;
/** At the least: slots without a block only make a blockhash last longer. */
const BLOCK_MS = 400;

/** Milliseconds at the least, 0 where it has ended. Throws where the chain cannot be asked. */
export async function blockhashGoodForMs(rpc: Rpc, blockhash: string): Promise<number> {
  const age = (await recentBlockhashes(rpc)).indexOf(blockhash);
  if (age >= 0) return (LIFE_BLOCKS - age) * BLOCK_MS;
  // Newer than the node's newest, or a node without the sysvar.
  const valid = await rpc('isBlockhashValid', [blockhash, { commitment: 'processed' }]);
  return isJsonObject(valid) && valid.value === true ? LIFE_BLOCKS * BLOCK_MS : 0;
}

async function recentBlockhashes(rpc: Rpc): Promise<string[]> {
  const answer = await rpc('getAccountInfo', [RECENT_BLOCKHASHES, { encoding: 'base64', commitment: 'processed' }]);
  const account = isJsonObject(answer) && isJsonObject(answer.value) ? answer.value : {};
  const [text] = Array.isArray(account.data) ? account.data : [];
  const data = Buffer.from(typeof text === 'string' ? text : '', 'base64').subarray(COUNT_BYTES);
  return Array.from({ length: Math.floor(data.length / ENTRY_BYTES) }, (_, at) =>
    encodeBase58(data.subarray(at * ENTRY_BYTES, at * ENTRY_BYTES + HASH_BYTES)),
  );
}
