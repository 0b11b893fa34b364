/** A client by the specifications alone: JSON-RPC over fetch, x402 with the published signer, MPP with mppx. */
import { isDeepStrictEqual } from 'node:util';
import type { x402HTTPClient } from '@x402/core/client';
import { openWallet } from '../../src/rails/x402/payer.ts';
import type { Gateway } from '../clients.ts';

export interface ToolResult {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly uri?: string;
    readonly data?: string;
    readonly mimeType?: string;
  }[];
  readonly _meta?: Record<string, unknown>;
}

export interface RpcAnswer {
  readonly status: number;
  readonly result?: ToolResult & Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** The last message of an answer, which may come as a stream. */
function lastMessage(type: string, text: string): Omit<RpcAnswer, 'status'> {
  if (!type.startsWith('text/event-stream')) return text === '' ? {} : JSON.parse(text);
  const data = text.split('\n').filter((line) => line.startsWith('data: ') && line.length > 6);
  return JSON.parse(data.at(-1)?.slice(6) ?? '{}');
}

/** One request, of the revision 2025-06-18. `params` as they are; `query` with its `?`. */
export async function rpc(
  { url }: Pick<Gateway, 'url'>,
  method: string,
  params: object | null = {},
  {
    query = '',
    headers = {},
    outside = {},
  }: { query?: string; headers?: Record<string, string>; outside?: object } = {},
): Promise<RpcAnswer> {
  const answer = await fetch(`${url}/mcp${query}`, {
    method: 'POST',
    headers: { ...HEADERS, 'mcp-protocol-version': '2025-06-18', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params, ...outside }),
  });
  return { status: answer.status, ...lastMessage(answer.headers.get('content-type') ?? '', await answer.text()) };
}

/** Calls a tool; `meta`: a payment, or nothing. Throws where the answer is no result. */
export async function callTool(
  gateway: Pick<Gateway, 'url'>,
  name: string,
  input: object,
  meta: object = {},
): Promise<ToolResult> {
  const { result, error } = await rpc(gateway, 'tools/call', { name, arguments: input, _meta: meta });
  if (!result) throw new Error(`${name} answered no result, but ${JSON.stringify(error)}`);
  return result;
}

type Required = Parameters<x402HTTPClient['createPaymentPayload']>[0];

/** `_meta` with a signed payment for what a result asks for. */
export async function signToolPayment(
  gateway: Gateway,
  network: string,
  { structuredContent }: ToolResult,
): Promise<{ 'x402/payment': Record<string, unknown> }> {
  const { evm, solana } = gateway.state;
  const wallet = await openWallet(gateway.state, evm[network]?.caip2 ?? solana?.caip2);
  const payment = await wallet.createPaymentPayload(structuredContent as unknown as Required);
  return { 'x402/payment': { ...payment } };
}

/** Asks, signs and pays. */
export async function payTool(gateway: Gateway, network: string, name: string, input: object): Promise<ToolResult> {
  const unpaid = await callTool(gateway, name, input);
  return await callTool(gateway, name, input, await signToolPayment(gateway, network, unpaid));
}

/** The receipt of an x402 payment. */
export const receiptIn = ({ _meta }: ToolResult) =>
  _meta?.['x402/payment-response'] as
    | { success: boolean; transaction: string; network: string; payer: string; amount: string }
    | undefined;

/** The text of a result as JSON, which is what is in it besides. */
export function answerIn({ content, structuredContent }: ToolResult): Record<string, unknown> {
  const read = JSON.parse(content[0]?.text ?? '');
  if (!isDeepStrictEqual(read, structuredContent)) throw new Error('text and structured content differ');
  return read;
}
