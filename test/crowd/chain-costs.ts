/** What settling cost the operator, read from the chains: whose transaction took how much. */

import { isJsonObject } from '../../src/json.ts';
import type { Rate } from '../../src/money.ts';
import type { Rpc } from '../../src/payment/chains/rpc.ts';

/** Trillionths of a dollar: gas at 0.005 gwei and 3,000 dollars a coin, as on Base; lamports at 200 dollars. */
const GAS_COST: Rate = 15_000n;
const LAMPORT_COST: Rate = 200_000n;
/** What a plain settlement costs the fee payer on Solana. */
const PLAIN_LAMPORTS = 10_001n;

const AT_ONCE = 50;

interface Sent {
  readonly hash: string;
  readonly from: string;
  readonly input: string;
}

/** Transactions of one sender on an EVM chain, with what each cost. */
export async function sentBy(rpc: Rpc, sender: string): Promise<{ input: string; cost: Rate }[]> {
  const last = Number(await rpc('eth_blockNumber', []));
  const found: { input: string; cost: Rate }[] = [];
  const numbers = Array.from({ length: last }, (_, number) => number + 1);
  for (let start = 0; start < numbers.length; start += AT_ONCE) {
    const blocks = await Promise.all(
      numbers
        .slice(start, start + AT_ONCE)
        .map((number) => rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])),
    );
    const sent = blocks.flatMap((block) => (isJsonObject(block) ? (block.transactions as Sent[]) : []));
    const ours = sent.filter(({ from }) => from.toLowerCase() === sender.toLowerCase());
    const receipts = await Promise.all(ours.map(({ hash }) => rpc('eth_getTransactionReceipt', [hash])));
    ours.forEach(({ input }, place) => {
      const receipt = receipts[place];
      const gas = isJsonObject(receipt) ? BigInt(String(receipt.gasUsed)) : 0n;
      found.push({ input: input.toLowerCase(), cost: gas * GAS_COST });
    });
  }
  return found;
}

/** Whoever sent a transaction. */
export async function senderOf(rpc: Rpc, transaction: string): Promise<string> {
  const found = await rpc('eth_getTransactionByHash', [transaction]);
  return isJsonObject(found) ? String(found.from) : '';
}

/** What a Solana fee payer lost beyond what so many plain settlements cost. */
export const lostLamports = (lost: bigint, settlements: number): Rate =>
  (lost - BigInt(settlements) * PLAIN_LAMPORTS) * LAMPORT_COST;
