/**
 * What a Solana wallet's payment needs to know of the chain, answered in the words of a node's JSON-RPC: the latest
 * blockhash, and the mint of the network's asset. Whatever is asked, the node itself is asked for these two alone, and
 * each no more often than once in its time. Source: Solana's JSON-RPC, `getLatestBlockhash` and `getAccountInfo`.
 */
import { isJsonObject } from '../../json.ts';
import { createRpc, type Rpc } from '../../payment/chains/rpc.ts';

const BLOCKHASH_KEPT_MS = 2_000;
const MINT_KEPT_MS = 10 * 60_000;
const FAILURE_KEPT_MS = 2_000;

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;

type Id = string | number | null;

const LONGEST_ID = 64;

type Said = { readonly result: unknown } | { readonly error: { readonly code: number; readonly message: string } };

const refusal = (code: number, message: string): Said => ({ error: { code, message } });

/** One question for all who ask meanwhile, and for those who ask within the time; a failure is kept for a while too. */
function shared(keptMs: number, ask: () => Promise<unknown>): () => Promise<unknown> {
  let last: { readonly answer: Promise<unknown>; until: number } | undefined;
  return () => {
    if (last && performance.now() < last.until) return last.answer;
    const asked = { answer: ask(), until: Number.POSITIVE_INFINITY };
    last = asked;
    asked.answer.then(
      () => {
        asked.until = performance.now() + keptMs;
      },
      () => {
        asked.until = performance.now() + FAILURE_KEPT_MS;
      },
    );
    return asked.answer;
  };
}

function idOf(request: unknown): Id {
  const id = isJsonObject(request) ? request.id : undefined;
  if (typeof id === 'number') return id;
  return typeof id === 'string' && id.length <= LONGEST_ID ? id : null;
}

/** Answers one JSON-RPC request of a wallet's client; never rejects. */
export type SolanaNode = (request: unknown) => Promise<object>;

/** `mint`: the only account that is shown. The node's address and its errors stay here. */
export function createSolanaNode(rpcUrl: string, mint: string, rpc: Rpc = createRpc(rpcUrl)): SolanaNode {
  const blockhash = shared(BLOCKHASH_KEPT_MS, () => rpc('getLatestBlockhash', [{ commitment: 'confirmed' }]));
  const mintAccount = shared(MINT_KEPT_MS, () =>
    rpc('getAccountInfo', [mint, { encoding: 'base64', commitment: 'confirmed' }]),
  );
  const answered = async (ask: () => Promise<unknown>): Promise<Said> => {
    try {
      return { result: await ask() };
    } catch {
      return refusal(INTERNAL_ERROR, "the chain's node gave no answer: try again in a moment");
    }
  };
  const said = async (request: unknown): Promise<Said> => {
    if (!isJsonObject(request)) return refusal(INVALID_REQUEST, 'send one JSON-RPC request, as an object');
    const { method, params } = request;
    if (method === 'getLatestBlockhash') return answered(blockhash);
    if (method !== 'getAccountInfo')
      return refusal(METHOD_NOT_FOUND, 'answered here: getLatestBlockhash, getAccountInfo');
    if (!Array.isArray(params) || params[0] !== mint) return refusal(INVALID_PARAMS, `the one account here is ${mint}`);
    return answered(mintAccount);
  };
  return async (request) => ({ jsonrpc: '2.0', id: idOf(request), ...(await said(request)) });
}
