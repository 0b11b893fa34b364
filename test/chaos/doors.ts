/** The two transports by which everything is sold. What the MCP door says is put into the words of HTTP. */
import { Challenge, Credential } from 'mppx';
import { type ProblemCode, problems } from '../../src/errors.ts';
import { toolName } from '../../src/mcp/tool-name.ts';
import { HEADERS, type RpcAnswer, type ToolResult } from '../mcp/tool-client.ts';
import type { Proof } from './chains.ts';
import type { Answer, Message, Sender } from './send.ts';

export type DoorName = 'HTTP' | 'MCP';

/** What is asked for at either door. */
export interface Asking {
  /** The gateway's. */
  readonly url: string;
  readonly path: string;
  readonly body: object;
  readonly headers?: Proof['headers'];
  readonly signal?: AbortSignal | undefined;
}

type Post = Sender['post'];
type JsonChallenge = Parameters<typeof Challenge.serialize>[0];

/** Throws as the sender does. */
export const askAt = (door: DoorName, sender: Pick<Sender, 'post'>, asking: Asking): Promise<Answer> =>
  door === 'MCP' ? askTool(sender.post, asking) : askPath(sender.post, asking);

const askPath = (post: Post, { url, path, ...message }: Asking): Promise<Answer> =>
  post({ ...message, url: url + path });

async function askTool(post: Post, { url, path, body, headers = {}, signal }: Asking): Promise<Answer> {
  const params = { name: toolName(path, new Set()), arguments: body, _meta: metaOf(headers) };
  const message: Message = {
    url: `${url}/mcp`,
    headers: { ...HEADERS, 'mcp-protocol-version': '2025-06-18' },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    signal,
  };
  const answer = await post(message);
  if (answer.status !== 200) return answer;
  const { result }: Partial<RpcAnswer> = JSON.parse(answer.text);
  // No call of a tool that is sold may be an error of the protocol.
  return result ? inHttp(result) : { ...answer, status: 500, code: 'internal_error' };
}

/** A proof's headers as a tool call carries them. Source: x402 specifications, MCP transport; draft-payment-transport-mcp-00. */
function metaOf(headers: Proof['headers']): object {
  const { authorization, ...others } = headers;
  if (authorization) return { 'org.paymentauth/credential': Credential.deserialize(authorization) };
  const [payment] = Object.values(others);
  return payment ? { 'x402/payment': JSON.parse(Buffer.from(payment, 'base64').toString()) } : {};
}

function inHttp({ isError, structuredContent = {}, content, _meta = {} }: ToolResult): Answer {
  const text = content[0]?.text ?? '';
  if (!isError) return { status: 200, code: 'ok', text, headers: {} };
  const error = structuredContent.error as string | { readonly code: ProblemCode } | undefined;
  if (typeof error === 'object') return { status: problems[error.code].status, code: error.code, text, headers: {} };
  const overMpp = _meta['org.paymentauth/payment-required'] as
    | { readonly challenges: readonly JsonChallenge[] }
    | undefined;
  const headers = {
    'payment-required': Buffer.from(JSON.stringify(structuredContent)).toString('base64'),
    'www-authenticate': overMpp?.challenges.map((each) => Challenge.serialize(each)),
  };
  return { status: 402, code: String(error), text, headers };
}
