/** A node that passes everything on to another one and counts what it is asked. */
import type { Test } from 'tap';
import { ChainProblem, createRpc } from '../../../src/payment/chains/rpc.ts';
import { json, serve } from '../facilitators/front.ts';

export interface CountedNode {
  readonly url: string;
  /** Calls by method since it was asked last. */
  taken(): { readonly total: number; readonly methods: Readonly<Record<string, number>> };
}

/** `instead` answers in the node's place where it gives something. */
export async function countedNode(
  t: Test,
  rpcUrl: string,
  instead: (method: string, params: readonly unknown[]) => unknown = () => undefined,
): Promise<CountedNode> {
  const rpc = createRpc(rpcUrl);
  let methods: Record<string, number> = {};
  const { url, stop } = await serve(async (_request, response, body) => {
    const { method, params }: { method: string; params: unknown[] } = JSON.parse(body);
    methods[method] = (methods[method] ?? 0) + 1;
    try {
      json(response, 200, { jsonrpc: '2.0', id: 1, result: instead(method, params) ?? (await rpc(method, params)) });
    } catch (error) {
      const code = error instanceof ChainProblem ? error.code : -32603;
      json(response, 200, { jsonrpc: '2.0', id: 1, error: { code, message: 'refused by the node behind' } });
    }
  });
  t.teardown(stop);
  return {
    url,
    taken() {
      const counted = methods;
      methods = {};
      return { total: Object.values(counted).reduce((sum, count) => sum + count, 0), methods: counted };
    },
  };
}
