/** An EVM chain as its node tells of it (Ethereum JSON-RPC): as many blocks and logs as a test needs, and nobody to make them. */
import type { Test } from 'tap';
import { type Answer, type Asked, type Node, NodeError, openNode } from './node.ts';

export interface EvmLog {
  readonly block: number;
  readonly index: number;
  readonly address: string;
  readonly topics: readonly string[];
  /** 32 bytes in hex. */
  readonly data: string;
  readonly transaction: string;
}

/** Tests change it as a chain changes. */
export interface EvmChain {
  /** The newest block. */
  latest: number;
  /** Seconds since the epoch. */
  timeOf(block: number): number;
  logs: EvmLog[];
  /** Blocks that the node searches at once. Default: any number. */
  range?: number;
  /** What contracts say. */
  call?(to: string, data: string, block: string): string;
  /** Transactions by their hashes. */
  transactions?: Readonly<Record<string, unknown>>;
  /** Where it has something to say, it is answered instead. */
  instead?: Answer;
}

export const hex = (value: number | bigint): string => `0x${value.toString(16)}`;
/** 32 bytes in hex. */
export const word = (value: string | number | bigint): string => {
  const digits = typeof value === 'string' ? value.replace(/^0x/, '') : value.toString(16);
  return `0x${digits.toLowerCase().padStart(64, '0')}`;
};

const shown = (log: EvmLog) => ({
  address: log.address,
  topics: log.topics,
  data: log.data,
  blockNumber: hex(log.block),
  logIndex: hex(log.index),
  transactionHash: log.transaction,
  removed: false,
});

interface Filter {
  readonly address: string;
  readonly topics: readonly (null | string | readonly string[])[];
  readonly fromBlock: string;
  readonly toBlock: string;
}

const fits = ({ address, topics }: Filter, log: EvmLog): boolean =>
  address.toLowerCase() === log.address.toLowerCase() &&
  topics.every((topic, at) => topic === null || [topic].flat().includes(log.topics[at] ?? ''));

function logsOf({ logs, latest, range = Number.POSITIVE_INFINITY }: EvmChain, filter: Filter): unknown[] {
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)];
  if (!(from >= 0 && from <= to)) throw new NodeError(-32_602, 'invalid block range');
  if (to - from >= range) throw new NodeError(-32_005, `query exceeds the range of ${range} blocks`);
  return logs
    .filter((log) => log.block >= from && log.block <= to && log.block <= latest && fits(filter, log))
    .map(shown);
}

function receiptOf({ logs }: EvmChain, hash: unknown): unknown {
  const own = logs.filter(({ transaction }) => transaction === hash);
  return own[0] ? { status: '0x1', blockNumber: hex(own[0].block), logs: own.map(shown) } : null;
}

function answerOf(chain: EvmChain, method: string, [first, second]: readonly unknown[]): unknown {
  if (method === 'eth_getBlockByNumber') {
    const number = first === 'latest' ? chain.latest : Number(first);
    if (!(number >= 0)) throw new NodeError(-32_602, 'invalid block number');
    const block = { number: hex(number), timestamp: hex(Math.floor(chain.timeOf(number))), transactions: [] };
    return number <= chain.latest ? block : null;
  }
  if (method === 'eth_getLogs') return logsOf(chain, first as Filter);
  if (method === 'eth_getTransactionReceipt') return receiptOf(chain, first);
  if (method === 'eth_getTransactionByHash') return chain.transactions?.[String(first)] ?? null;
  if (method === 'eth_call') {
    const { to, data } = first as { to: string; data: string };
    return chain.call?.(to, data, String(second)) ?? '0x';
  }
  return undefined;
}

export const openEvmNode = (t: Test, chain: EvmChain): Promise<Node> =>
  openNode(t, (method, params) => {
    const instead = chain.instead?.(method, params);
    return instead === undefined ? answerOf(chain, method, params) : instead;
  });

/** The ranges of blocks whose logs were asked for. */
export const rangesIn = (asked: readonly Asked[]): [from: number, to: number][] =>
  asked
    .filter(({ method }) => method === 'eth_getLogs')
    .map(({ params: [filter] }) => [Number((filter as Filter).fromBlock), Number((filter as Filter).toBlock)]);
