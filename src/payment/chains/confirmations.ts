/** How deep a transaction lies in its chain: 0 where the chain does not have it (any more). Throws where nobody can say. */
import { isJsonObject } from '../../json.ts';
import type { Rpc } from './rpc.ts';

/** Blocks from the transaction's own to the newest, both counted (Ethereum JSON-RPC). */
export async function evmConfirmations(rpc: Rpc, transaction: string): Promise<number> {
  const newest = Number(await rpc('eth_blockNumber', []));
  const receipt = await rpc('eth_getTransactionReceipt', [transaction]);
  // Some nodes tell what becomes of one before it is in a block.
  if (!isJsonObject(receipt) || receipt.status !== '0x1' || typeof receipt.blockNumber !== 'string') return 0;
  return Math.max(1, newest - Number(receipt.blockNumber) + 1);
}

/** Blocks on top of the transaction's own and that one; without end once it is final (Solana's getSignatureStatuses). */
export async function solanaConfirmations(rpc: Rpc, signature: string): Promise<number> {
  const statuses = await rpc('getSignatureStatuses', [[signature], { searchTransactionHistory: true }]);
  const status = isJsonObject(statuses) && Array.isArray(statuses.value) ? statuses.value[0] : undefined;
  if (!isJsonObject(status) || status.err) return 0;
  return status.confirmations === null ? Number.POSITIVE_INFINITY : Number(status.confirmations) + 1;
}
