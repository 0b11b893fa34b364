/** A chain's node: JSON-RPC 2.0 over HTTP, on a free port of this machine. */
import type { Test } from 'tap';
import { createRpc, type Rpc } from '../../../src/payment/chains/rpc.ts';
import { json, serve } from '../facilitators/front.ts';

/** What a node answers with in place of a result: a JSON-RPC error. */
export class NodeError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Undefined for a method that the node does not have. Throws NodeError. */
export type Answer = (method: string, params: readonly unknown[]) => unknown;

/** In place of any answer: the connection ends. */
export const GONE = Symbol('gone');

export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface Node {
  readonly url: string;
  readonly rpc: Rpc;
  /** What it was asked since this was called last. */
  asked(): readonly Asked[];
}

/** `most`: who asks for more than that would go on for ever. */
export async function openNode(t: Test, answer: Answer, most = 500): Promise<Node> {
  let asked: Asked[] = [];
  let questions = 0;
  const { url, stop } = await serve((_request, response, body) => {
    const { id, method, params } = JSON.parse(body) as Asked & { id: number };
    asked.push({ method, params });
    questions += 1;
    try {
      if (questions > most) t.fail(`nobody needs more than ${most} answers`);
      const result = answer(method, params);
      if (result === GONE) return response.destroy();
      if (result === undefined) throw new NodeError(-32_601, `the method ${method} does not exist`);
      json(response, 200, { jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      json(response, 200, { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } });
    }
  });
  t.teardown(stop);
  return {
    url,
    rpc: createRpc(url),
    asked() {
      const before = asked;
      asked = [];
      return before;
    },
  };
}
