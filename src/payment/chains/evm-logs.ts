/** What the questions to EVM chains have in common (Ethereum JSON-RPC). */
import { ChainProblem, isObject, type JsonObject, type Rpc } from './rpc.ts';

/** keccak256 of ERC-20's Transfer(address,address,uint256). */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Clock and reorganisation margin: only then is an unused, expired authorization dead. */
export const EXPIRY_MARGIN_SECONDS = 30;
/** How far back a use is looked for where nothing else is known. */
export const DAY_SECONDS = 86_400;

/** Nodes bound the range of eth_getLogs, some to 100 blocks. */
const LARGEST_RANGE = 1_000;
const SMALLEST_RANGE = 10;
const MOST_RANGES = 500;

/** 32 bytes in hex, without `0x`. */
export const word = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');
export const quantity = (value: number): string => `0x${value.toString(16)}`;
export const same = (left: unknown, right: string): boolean => String(left).toLowerCase() === right.toLowerCase();

export async function readBlock(rpc: Rpc, at: string): Promise<{ number: number; timestamp: number }> {
  const found = await rpc('eth_getBlockByNumber', [at, false]);
  if (!isObject(found)) throw new Error(`the chain's node does not know block ${at}`);
  return { number: Number(found.number), timestamp: Number(found.timestamp) };
}

interface LogFilter {
  readonly address: string;
  readonly topics: readonly unknown[];
}

/**
 * The newest log that fits, from block `last` back to the time `since` (seconds since the epoch). A range that the
 * node finds too large is made smaller.
 */
export async function findLog(
  rpc: Rpc,
  filter: LogFilter,
  { last, since }: { last: number; since: number },
  fits: (log: JsonObject) => Promise<boolean> | boolean = () => true,
): Promise<JsonObject | undefined> {
  let range = LARGEST_RANGE;
  let to = last;
  for (let asked = 0; asked < MOST_RANGES && to >= 0; asked += 1) {
    const from = Math.max(0, to - range + 1);
    let logs: unknown;
    try {
      logs = await rpc('eth_getLogs', [{ ...filter, fromBlock: quantity(from), toBlock: quantity(to) }]);
    } catch (error) {
      if (!(error instanceof ChainProblem) || range <= SMALLEST_RANGE) throw error;
      range = Math.max(SMALLEST_RANGE, Math.floor(range / 4));
      continue;
    }
    for (const log of Array.isArray(logs) ? logs.filter(isObject).reverse() : []) {
      if (await fits(log)) return log;
    }
    if ((await readBlock(rpc, quantity(from))).timestamp < since) return undefined;
    to = from - 1;
  }
  return undefined;
}
