/** What the questions to EVM chains have in common (Ethereum JSON-RPC). */
import { isJsonObject, type JsonObject } from '../../json.ts';
import { ChainProblem, type Rpc } from './rpc.ts';

/** keccak256 of ERC-20's Transfer(address,address,uint256). */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Clock and reorganisation margin: only then is an unused, expired authorization dead. */
export const EXPIRY_MARGIN_SECONDS = 30;
/** Nodes behind one address do not all have the newest blocks at once: a log that one does not show is missing only then. */
export const SEEN_BY_ALL_SECONDS = 60;
/** How far back a use is looked for where nothing else is known. */
export const DAY_SECONDS = 86_400;

/** Nodes bound the range of eth_getLogs, some to 10 blocks. */
const LARGEST_RANGE = 1_000;
const SMALLEST_RANGE = 10;
/** How exactly the block of a time is looked for. */
const NEAR_BLOCKS = 64;
/** The newest blocks may be replaced: what was searched in them is searched again. */
const REPLACEABLE_BLOCKS = 64;

/** 32 bytes in hex, without `0x`. */
export const word = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');
/** The same of a whole number. */
export const numberWord = (value: number | bigint | string): string => BigInt(value).toString(16).padStart(64, '0');
export const quantity = (value: number): string => `0x${value.toString(16)}`;
export const same = (left: unknown, right: string): boolean => String(left).toLowerCase() === right.toLowerCase();

export interface Block {
  readonly number: number;
  /** Seconds since the epoch. */
  readonly timestamp: number;
}

export async function readBlock(rpc: Rpc, at: string): Promise<Block> {
  const found = await rpc('eth_getBlockByNumber', [at, false]);
  if (!isJsonObject(found)) throw new Error(`the chain's node does not know block ${at}`);
  return { number: Number(found.number), timestamp: Number(found.timestamp) };
}

interface LogFilter {
  readonly address: string;
  readonly topics: readonly unknown[];
}

/** Times in seconds since the epoch. */
export interface Span {
  readonly since: number;
  readonly until: number;
  readonly latest: Block;
  /** Blocks that are asked for at once, at first. Default: as many as most nodes take. */
  readonly range?: number;
}

/** How far a search for a log came: nothing that fits is before this log of this block. */
export interface LogProgress {
  next: { readonly block: number; readonly logIndex: number };
}

/** Nothing that fits can be in the chain as it is: the search begins behind its newest blocks. */
export function nothingUntil(latest: Block, progress: Partial<LogProgress>): void {
  const block = latest.number - REPLACEABLE_BLOCKS;
  if (block > (progress.next?.block ?? 0)) progress.next = { block, logIndex: 0 };
}

/** A block older than `since`, close to the first that is not; the first block of all where none is older. */
async function blockBefore(rpc: Rpc, since: number, latest: Block, near = NEAR_BLOCKS): Promise<number> {
  const isOlder = async (block: number) => (await readBlock(rpc, quantity(block))).timestamp < since;
  let late = latest.number;
  let step = LARGEST_RANGE;
  let early = Math.max(0, late - step);
  while (early > 0 && !(await isOlder(early))) {
    late = early;
    step *= 4;
    early = Math.max(0, late - step);
  }
  while (late - early > near) {
    const middle = Math.floor((early + late) / 2);
    if (await isOlder(middle)) early = middle;
    else late = middle;
  }
  return early;
}

async function lastSeenByAll(rpc: Rpc, latest: Block): Promise<number> {
  const since = latest.timestamp - SEEN_BY_ALL_SECONDS;
  const block = Math.max(0, latest.number - REPLACEABLE_BLOCKS);
  return (await readBlock(rpc, quantity(block))).timestamp < since ? block : blockBefore(rpc, since, latest);
}

/** The first block that is not older than `since`, in seconds since the epoch; the one after the latest where all are. */
export async function firstBlockSince(rpc: Rpc, since: number, latest: Block): Promise<number> {
  if (latest.timestamp < since) return latest.number + 1;
  const before = await blockBefore(rpc, since, latest, 1);
  return before === 0 && (await readBlock(rpc, quantity(0))).timestamp >= since ? 0 : before + 1;
}

/** The logs of an answer to eth_getLogs. Throws for anything but a list: that would say that there are none. */
function readLogs(answer: unknown): JsonObject[] {
  if (!Array.isArray(answer)) throw new Error("the chain's node answered eth_getLogs with something else");
  return answer.filter(isJsonObject);
}

/** Logs of the blocks from `first` to `last`, both included. A range that the node finds too large is made smaller. */
export async function* logsIn(rpc: Rpc, filter: LogFilter, first: number, last: number): AsyncGenerator<JsonObject> {
  let range = LARGEST_RANGE;
  for (let from = first; from <= last; ) {
    const to = Math.min(last, from + range - 1);
    let logs: unknown;
    try {
      logs = await rpc('eth_getLogs', [{ ...filter, fromBlock: quantity(from), toBlock: quantity(to) }]);
    } catch (error) {
      if (!(error instanceof ChainProblem) || range <= SMALLEST_RANGE) throw error;
      range = Math.max(SMALLEST_RANGE, Math.floor(range / 4));
      continue;
    }
    yield* readLogs(logs);
    from = to + 1;
  }
}

/**
 * The first log of the span that fits, or undefined once all of the span was searched. The search goes on from where
 * `progress` says. A range that the node finds too large is made smaller.
 */
export async function findLog(
  rpc: Rpc,
  filter: LogFilter,
  { since, until, latest, range: first = LARGEST_RANGE }: Span,
  progress: Partial<LogProgress>,
  fits: (log: JsonObject) => Promise<boolean> | boolean = () => true,
): Promise<JsonObject | undefined> {
  let range = first;
  let next = progress.next ?? { block: await blockBefore(rpc, since, latest), logIndex: 0 };
  const mayBeReplaced = ({ block }: LogProgress['next']) => block > latest.number - REPLACEABLE_BLOCKS;
  // Its blocks before that are too old, whichever node has them.
  if (!mayBeReplaced(next)) progress.next = next;
  let lasting: number | undefined;
  /** The search may go on from there, unless those blocks may still be replaced, or not every node has them yet. */
  async function remember(at: LogProgress['next']): Promise<void> {
    if (mayBeReplaced(at)) return;
    lasting ??= await lastSeenByAll(rpc, latest);
    if (at.block <= lasting) progress.next = at;
  }
  while (next.block <= latest.number) {
    const from = next;
    const to = Math.min(latest.number, from.block + range - 1);
    let logs: unknown;
    try {
      logs = await rpc('eth_getLogs', [{ ...filter, fromBlock: quantity(from.block), toBlock: quantity(to) }]);
    } catch (error) {
      if (!(error instanceof ChainProblem) || range <= SMALLEST_RANGE) throw error;
      range = Math.max(SMALLEST_RANGE, Math.floor(range / 4));
      continue;
    }
    for (const log of readLogs(logs)) {
      const [block, logIndex] = [Number(log.blockNumber), Number(log.logIndex)];
      if (block === from.block && logIndex < from.logIndex) continue;
      if (await fits(log)) return log;
      await remember({ block, logIndex: logIndex + 1 });
    }
    next = { block: to + 1, logIndex: 0 };
    await remember(next);
    if (to < latest.number && (await readBlock(rpc, quantity(to))).timestamp > until) return undefined;
  }
  return undefined;
}
