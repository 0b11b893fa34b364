import type { Agent } from 'undici';
import { isJsonObject } from '../../json.ts';
import { connect } from '../../outgoing/connect.ts';
import { TimeLimit } from '../../outgoing/time-limit.ts';
import { wholeAnswer } from '../../outgoing/whole-answer.ts';
import { withoutAddresses } from '../without-addresses.ts';

/** The node gave no usable answer. Its address stays out of the message: it may carry an access key. */
export class ChainUnreachable extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'ChainUnreachable';
  }
}

/** The node answered with a JSON-RPC error. */
export class ChainProblem extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'ChainProblem';
    this.code = code;
  }
}

/** One JSON-RPC 2.0 call. Throws ChainUnreachable or ChainProblem. */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>;

const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const TOO_MANY_REQUESTS = 429;

/** Objects have no text that could be relied on. */
const isPlain = (value: unknown): boolean => value === null || typeof value !== 'object';

/**
 * Kept alive, and shared per host. undici's own may be of the version that Node has in it. Loaded when a node is asked for the
 * first time: commands load this file with the rails and ask none, and it is a quarter of their start.
 */
let opened: Promise<Agent> | undefined;
const openConnections = (): Promise<Agent> => (opened ??= import('undici').then(({ Agent }) => new Agent({ connect })));

/** A caller of one node over HTTP. */
export function createRpc(rpcUrl: string, timeoutMs = 10_000): Rpc {
  const { origin, pathname, search } = new URL(rpcUrl);
  return async (method, params) => {
    let answer: unknown;
    let isLimited = false;
    const connections = await openConnections();
    const limit = new TimeLimit(undefined, timeoutMs);
    try {
      const request = {
        origin,
        path: pathname + search,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      } as const;
      const { status, body } = await wholeAnswer(connections, request, { maxBytes: MAX_ANSWER_BYTES, limit });
      isLimited = status === TOO_MANY_REQUESTS;
      if (!body) throw new Error('the answer is too large');
      answer = JSON.parse(body.toString());
    } catch (cause) {
      throw new ChainUnreachable(`the chain's node gave no answer to ${method}`, { cause });
    } finally {
      limit.clear();
    }
    if (!isJsonObject(answer)) throw new ChainUnreachable(`the chain's node answered ${method} with something else`);
    // Its error is its provider's then, and says nothing of what was asked.
    if (isLimited) throw new ChainUnreachable(`the chain's node is asked too often to answer ${method}`);
    if (isJsonObject(answer.error)) {
      const { code, message } = answer.error;
      if (!isPlain(code) || !isPlain(message)) {
        throw new ChainUnreachable(`the chain's node answered ${method} with an error that is none`);
      }
      throw new ChainProblem(Number(code), `${method}: ${withoutAddresses(String(message).slice(0, 200))}`);
    }
    if (!('result' in answer)) throw new ChainUnreachable(`the chain's node answered ${method} without a result`);
    return answer.result;
  };
}

const BRIEFLY_MS = 3_000;

/** What a node says while others wait for it; undefined where it does not answer that. */
export async function askBriefly<Told>(
  rpcUrl: string,
  ask: (rpc: Rpc) => Promise<Told | undefined>,
): Promise<Told | undefined> {
  const rpc = createRpc(rpcUrl, BRIEFLY_MS);
  try {
    return await ask(rpc);
  } catch {
    return undefined;
  }
}
