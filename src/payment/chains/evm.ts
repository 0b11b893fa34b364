/** Asks an EVM chain what became of an EIP-3009 authorization (EIP-3009: Transfer With Authorization). */
import { type ChainOutcome, unknown, unsettled } from './outcome.ts';
import { ChainProblem, createRpc, isObject, type JsonObject, type Rpc } from './rpc.ts';

export interface Eip3009Query {
  readonly rpcUrl: string;
  /** The token's address. */
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** 32 bytes in hex. */
  readonly nonce: string;
  /** Seconds since the epoch: from then on the token refuses the authorization. */
  readonly validBefore: number;
  /** Seconds since the epoch: it cannot have been used earlier. Default: one day before `validBefore`. */
  readonly since?: number;
}

/** keccak256 of the signatures of EIP-3009's and ERC-20's functions and events. */
const AUTHORIZATION_STATE = '0xe94a0102';
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const AUTHORIZATION_CANCELED = '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** Clock and reorganisation margin: only then is an unused, expired authorization dead. */
const EXPIRY_MARGIN_SECONDS = 30;
/** Nodes bound the range of eth_getLogs, some to 100 blocks. */
const LARGEST_RANGE = 1_000;
const SMALLEST_RANGE = 10;
const MOST_RANGES = 500;
const DAY_SECONDS = 86_400;

const word = (hex: string): string => hex.replace(/^0x/, '').toLowerCase().padStart(64, '0');
const quantity = (value: number): string => `0x${value.toString(16)}`;
const same = (left: unknown, right: string): boolean => String(left).toLowerCase() === right.toLowerCase();

async function block(rpc: Rpc, at: string): Promise<{ number: number; timestamp: number }> {
  const found = await rpc('eth_getBlockByNumber', [at, false]);
  if (!isObject(found)) throw new Error(`the chain's node does not know block ${at}`);
  return { number: Number(found.number), timestamp: Number(found.timestamp) };
}

/** The newest log of the authorization's use or cancellation, searched backwards from `last` to the time `since`. */
async function findUse(rpc: Rpc, query: Eip3009Query, last: number, since: number): Promise<JsonObject | undefined> {
  const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], `0x${word(query.payer)}`, `0x${word(query.nonce)}`];
  let range = LARGEST_RANGE;
  let to = last;
  for (let asked = 0; asked < MOST_RANGES && to >= 0; asked += 1) {
    const from = Math.max(0, to - range + 1);
    let logs: unknown;
    try {
      logs = await rpc('eth_getLogs', [
        { address: query.asset, topics, fromBlock: quantity(from), toBlock: quantity(to) },
      ]);
    } catch (error) {
      if (!(error instanceof ChainProblem) || range <= SMALLEST_RANGE) throw error;
      range = Math.max(SMALLEST_RANGE, Math.floor(range / 4));
      continue;
    }
    const found = Array.isArray(logs) ? logs.filter(isObject).at(-1) : undefined;
    if (found) return found;
    if ((await block(rpc, quantity(from))).timestamp < since) return undefined;
    to = from - 1;
  }
  return undefined;
}

/** The payer's transfer that belongs to the use: the nearest one in the same receipt, for a receipt may hold several. */
function nearestTransfer(receipt: JsonObject, use: JsonObject, query: Eip3009Query): JsonObject | undefined {
  const at = Number(use.logIndex);
  const distance = (log: JsonObject): number => Math.abs(Number(log.logIndex) - at);
  return (Array.isArray(receipt.logs) ? receipt.logs.filter(isObject) : [])
    .filter((log) => same(log.address, query.asset) && Array.isArray(log.topics) && log.topics[0] === TRANSFER)
    .filter((log) => Array.isArray(log.topics) && same(log.topics[1], `0x${word(query.payer)}`))
    .sort((left, right) => distance(left) - distance(right))[0];
}

async function find(query: Eip3009Query): Promise<ChainOutcome> {
  const rpc = createRpc(query.rpcUrl);
  const latest = await block(rpc, 'latest');
  const call = { to: query.asset, data: `${AUTHORIZATION_STATE}${word(query.payer)}${word(query.nonce)}` };
  const state = String(await rpc('eth_call', [call, quantity(latest.number)]));
  if (!/^0x[0-9a-f]{64}$/i.test(state)) return unknown('the token does not tell the state of authorizations');
  if (BigInt(state) === 0n) {
    return latest.timestamp >= query.validBefore + EXPIRY_MARGIN_SECONDS
      ? unsettled('the authorization expired without being used')
      : unknown('the authorization has not been used yet');
  }
  const use = await findUse(rpc, query, latest.number, query.since ?? query.validBefore - DAY_SECONDS);
  if (!use) return unknown('the authorization was used, but no log of it was found');
  if (Array.isArray(use.topics) && use.topics[0] === AUTHORIZATION_CANCELED) {
    return unsettled('the payer cancelled the authorization');
  }
  const transaction = String(use.transactionHash);
  const receipt = await rpc('eth_getTransactionReceipt', [transaction]);
  if (!isObject(receipt)) return unknown('the settling transaction has no receipt yet');
  const transfer = nearestTransfer(receipt, use, query);
  if (!transfer) return unknown('the settling transaction shows no transfer of the payer');
  if (!Array.isArray(transfer.topics) || !same(transfer.topics[2], `0x${word(query.payTo)}`)) {
    return unsettled('the payer used the nonce for a transfer to someone else');
  }
  return { state: 'settled', transaction, amount: BigInt(String(transfer.data)) };
}

/** Never throws: what cannot be asked is `unknown`. */
export async function findEip3009Settlement(query: Eip3009Query): Promise<ChainOutcome> {
  try {
    return await find(query);
  } catch (error) {
    return unknown(error instanceof Error ? error.message : 'the chain could not be asked');
  }
}
