/**
 * Tool calls, and questions for the list of tools, of revisions before 2026 in the plainest form, which most are: answered
 * without the package's server, whose streams and objects for each request cost more processor time than all the rest of a
 * paid call. Whatever is in any way different is the package's; the same result comes of it either way.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../json.ts';
import { pageOf } from './page.ts';

type Id = string | number;

export interface PlainCall {
  readonly id: Id;
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly meta: JsonObject;
}

/** Revisions that are spoken without sessions and envelopes. */
const REVISIONS = new Set<unknown>([undefined, '2025-03-26', '2025-06-18', '2025-11-25']);

const accepts = (accept: string): boolean =>
  accept.includes('application/json') && accept.includes('text/event-stream');

/** The id of a request for a method; undefined where there is more to it. */
function plainId({ jsonrpc, id, method }: JsonObject, asked: string, headers: IncomingHttpHeaders): Id | undefined {
  if (jsonrpc !== '2.0' || method !== asked) return undefined;
  if (!REVISIONS.has(headers['mcp-protocol-version']) || headers['mcp-method'] !== undefined) return undefined;
  if (headers['content-type'] !== 'application/json' || !accepts(headers.accept ?? '')) return undefined;
  return typeof id === 'string' || Number.isInteger(id) ? (id as Id) : undefined;
}

/** Undefined for everything else. */
export function plainCall(message: JsonObject, headers: IncomingHttpHeaders): PlainCall | undefined {
  const { params } = message;
  const id = plainId(message, 'tools/call', headers);
  if (id === undefined || !isJsonObject(params)) return undefined;
  const { name, arguments: input = {}, _meta: meta = {}, ...others } = params;
  if (typeof name !== 'string' || !isJsonObject(input) || !isJsonObject(meta)) return undefined;
  if (Object.keys(others).length > 0) return undefined;
  // A client that wants to hear of progress needs a stream.
  if (meta.progressToken !== undefined || meta[PROTOCOL_VERSION_META_KEY] !== undefined) return undefined;
  return { id, name, input, meta };
}

/** The answer of a call, as JSON. */
export const plainAnswer = ({ id }: PlainCall, result: CallToolResult): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });

/** The id of a question for the first page of the tools; undefined for everything else. */
export function plainList(message: JsonObject, headers: IncomingHttpHeaders): Id | undefined {
  const { params = {} } = message;
  const isFirst = isJsonObject(params) && Object.keys(params).length === 0;
  return isFirst ? plainId(message, 'tools/list', headers) : undefined;
}

/** A tool's JSON is long, and the same for everybody who asks. Measured: a list takes a twentieth of the CPU. */
const written = new WeakMap<Tool, Buffer>();

function bytesOf(tool: Tool): Buffer {
  const bytes = written.get(tool) ?? Buffer.from(JSON.stringify(tool));
  written.set(tool, bytes);
  return bytes;
}

const COMMA = Buffer.from(',');

/** The answer of a list, as JSON. */
export function listAnswer(id: Id, tools: readonly Tool[]): Buffer {
  const { items, nextCursor } = pageOf(tools, undefined);
  const next = nextCursor === undefined ? '' : `"nextCursor":${JSON.stringify(nextCursor)},`;
  return Buffer.concat([
    Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${next}"tools":[`),
    ...items.flatMap((tool, place) => (place === 0 ? [bytesOf(tool)] : [COMMA, bytesOf(tool)])),
    Buffer.from(']}}'),
  ]);
}
