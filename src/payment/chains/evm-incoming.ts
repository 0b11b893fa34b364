/** What an address got on an EVM chain: the token's Transfer logs (ERC-20, and TIP-20 alike). */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { firstBlockSince, logsIn, readBlock, same, TRANSFER, word } from './evm-logs.ts';
import type { Incoming, IncomingReader, TokenHolder } from './incoming.ts';

const addressOf = (topic: unknown): string => `0x${String(topic).slice(-40)}`;

/** Anybody can have a token log transfers of nothing. */
function transferOf(log: JsonObject, { asset, payTo }: TokenHolder): Incoming[] {
  const topics = Array.isArray(log.topics) ? log.topics : [];
  const isOurs = same(log.address, asset) && topics[0] === TRANSFER && same(topics[2], `0x${word(payTo)}`);
  const amount = isOurs && log.removed !== true ? BigInt(String(log.data)) : 0n;
  return amount === 0n ? [] : [{ transaction: String(log.transactionHash), amount, payer: addressOf(topics[1]) }];
}

export const evmIncoming: IncomingReader = {
  async *between(rpc, holder, from, to) {
    const latest = await readBlock(rpc, 'latest');
    const first = await firstBlockSince(rpc, Math.ceil(from / 1_000), latest);
    const end = await firstBlockSince(rpc, Math.ceil(to / 1_000), latest);
    const filter = { address: holder.asset, topics: [TRANSFER, null, `0x${word(holder.payTo)}`] };
    for await (const log of logsIn(rpc, filter, first, end - 1)) yield* transferOf(log, holder);
  },

  async with(rpc, holder, transaction) {
    const receipt = await rpc('eth_getTransactionReceipt', [transaction]);
    const logs = isJsonObject(receipt) && Array.isArray(receipt.logs) ? receipt.logs : [];
    return logs.filter(isJsonObject).flatMap((log) => transferOf(log, holder));
  },
};
