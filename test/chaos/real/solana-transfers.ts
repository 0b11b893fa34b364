/** What an address got on Solana, read from the transactions of its token account. */

import { createHash } from 'node:crypto';
import { address, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { isJsonObject } from '../../../src/json.ts';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import type { SolanaAccess } from '../../../src/sandbox/chains/index.ts';
import { associatedTokenAccount } from '../../../src/sandbox/chains/spl.ts';
import type { Transfer } from '../ledger.ts';
import { solanaName } from '../names.ts';

/** SPL Token's TransferChecked: this byte, then the amount in eight. */
const TRANSFER_CHECKED = 12;
const PAGE = 1_000;

export async function readSolanaTransfers({ rpcUrl, caip2, mint }: SolanaAccess, payTo: string): Promise<Transfer[]> {
  const rpc = createRpc(rpcUrl);
  const account = await associatedTokenAccount(address(payTo), address(mint));

  async function signatures(before?: string): Promise<string[]> {
    const rows = await rpc('getSignaturesForAddress', [account, { limit: PAGE, ...(before && { before }) }]);
    const found = Array.isArray(rows) ? rows.filter(isJsonObject) : [];
    const own = found.filter(({ err }) => err === null).map(({ signature }) => String(signature));
    const last = found.at(-1)?.signature;
    return found.length < PAGE ? own : [...own, ...(await signatures(String(last)))];
  }

  async function read(transaction: string): Promise<Transfer> {
    const found = await rpc('getTransaction', [transaction, { encoding: 'base64' }]);
    const [wire] = isJsonObject(found) && Array.isArray(found.transaction) ? found.transaction : [];
    const { messageBytes } = getTransactionDecoder().decode(Buffer.from(String(wire), 'base64'));
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (!('instructions' in message)) throw new Error(`the instructions of ${transaction} cannot be read`);
    const moves = message.instructions.filter(({ data }) => data?.[0] === TRANSFER_CHECKED && data.length === 10);
    const moved = moves.reduce((sum, { data }) => sum + Buffer.from(data ?? []).readBigUInt64LE(1), 0n);
    const hash = createHash('sha256').update(Uint8Array.from(messageBytes)).digest('hex');
    return { payment: solanaName(caip2, hash), transaction, moved };
  }

  return Promise.all((await signatures()).map(read));
}
