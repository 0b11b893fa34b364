/**
 * A node of an EVM chain, in this process: what is fetched from its address is answered here, as a genuine one answers, for
 * tests that ask so much that they would spend their time on connections.
 */
import type { Test } from 'tap';
import { type Hex, keccak256, numberToHex, parseTransaction, type TransactionSerializableEIP1559 } from 'viem';

/** What a node says of a call that it does not run. */
export class NodeRefusal extends Error {
  readonly code: number;
  readonly data: Hex | undefined;
  constructor(code: number, message: string, data?: Hex) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** `data` is what the contract reverts with. */
export const reverted = (data?: Hex): NodeRefusal => new NodeRefusal(3, 'execution reverted', data);

/** Each method knows what its parameters are. */
type Answer = (...params: never[]) => unknown;

export interface RpcNode {
  readonly url: string;
  /** Methods, in the order in which they were asked. */
  readonly asked: string[];
  /** Methods that get no answer; `all` for every one. */
  readonly silent: Set<string>;
  readonly sent: TransactionSerializableEIP1559[];
  /** Of the receipt of the transaction with this hash. */
  logsOf(hash: Hex): readonly object[];
  /** How a transaction ends; undefined: it is in no block yet. */
  ends: 'success' | 'reverted' | undefined;
  /** What a call takes. */
  gas: bigint;
  /** Wei. */
  baseFee: bigint;
  /** Seconds since the epoch, of the newest block. */
  timestamp: bigint;
  /** By method, in place of the usual ones, now or later; one that throws NodeRefusal refuses. */
  readonly answers: Record<string, Answer>;
}

const HASH: Hex = `0x${'ab'.repeat(32)}`;
const ADDRESS: Hex = `0x${'cd'.repeat(20)}`;

/** Without a stream, which would take longer than the answer. */
function fetched(body: object, status = 200): Response {
  const text = JSON.stringify(body);
  const head = new Response(null, { status, headers: { 'content-type': 'application/json' } });
  return Object.defineProperty(head, 'text', { value: async () => text });
}

const nodes = new Map<string, (body: string) => Promise<Response>>();
const { fetch: elsewhere } = globalThis;
globalThis.fetch = (input, init) => {
  const { origin } = new URL(input instanceof Request ? input.url : input);
  return nodes.get(origin)?.(String(init?.body)) ?? elsewhere(input, init);
};
let opened = 0;

export function rpcNode(t: Test, chainId: number): RpcNode {
  const usual: Record<string, Answer> = {
    eth_chainId: () => numberToHex(chainId),
    eth_blockNumber: () => '0x10',
    eth_getBlockByNumber: () => ({
      ...{ number: '0x10', hash: HASH, transactions: [] },
      baseFeePerGas: numberToHex(node.baseFee),
      timestamp: numberToHex(node.timestamp),
    }),
    eth_maxPriorityFeePerGas: () => '0x0',
    eth_getBalance: () => numberToHex(10n ** 19n),
    eth_estimateGas: () => numberToHex(node.gas),
    eth_getTransactionCount: () => numberToHex(node.sent.length),
    eth_sendRawTransaction(serialized: Hex) {
      node.sent.push(parseTransaction(serialized) as TransactionSerializableEIP1559);
      return keccak256(serialized);
    },
    eth_getTransactionReceipt: (hash: Hex) =>
      node.ends === undefined
        ? null
        : {
            ...{ transactionHash: hash, transactionIndex: '0x0', blockHash: HASH, blockNumber: '0x11' },
            logs: node.logsOf(hash),
            ...{ from: ADDRESS, to: ADDRESS, gasUsed: '0x1', cumulativeGasUsed: '0x1', effectiveGasPrice: '0x1' },
            ...{ logsBloom: '0x', contractAddress: null, type: '0x2' },
            status: node.ends === 'success' ? '0x1' : '0x0',
          },
  };
  async function answerTo(body: string): Promise<Response> {
    const asked: { id: number; method: string; params?: never[] } = JSON.parse(body);
    const { id, method, params = [] } = asked;
    node.asked.push(method);
    if (node.silent.has(method) || node.silent.has('all')) return fetched({}, 503);
    const answer = node.answers[method] ?? usual[method];
    try {
      if (!answer) throw new NodeRefusal(-32601, `the method ${method} does not exist`);
      return fetched({ jsonrpc: '2.0', id, result: await answer(...params) });
    } catch (error) {
      const { code, message, data } = error instanceof NodeRefusal ? error : new NodeRefusal(-32603, String(error));
      return fetched({ jsonrpc: '2.0', id, error: { code, message, data } });
    }
  }
  opened += 1;
  const node: RpcNode = {
    url: `http://node-${opened}.invalid`,
    asked: [],
    silent: new Set(),
    sent: [],
    logsOf: () => [],
    ends: 'success',
    gas: 100_000n,
    baseFee: 10n ** 9n,
    timestamp: 1_700_000_000n,
    answers: {},
  };
  nodes.set(node.url, answerTo);
  t.teardown(() => nodes.delete(node.url));
  return node;
}
