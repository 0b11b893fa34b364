/**
 * Tool calls of revisions before 2026 in the plainest form, which most are: answered without the package's server, whose
 * streams and objects for each request cost more processor time than all the rest of a paid call. Whatever is in any way
 * different is the package's; the same result comes of it either way.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../json.ts';

export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly meta: JsonObject;
}

/** Revisions that are spoken without sessions and envelopes. */
const REVISIONS = new Set<unknown>([undefined, '2025-03-26', '2025-06-18', '2025-11-25']);

const accepts = (accept: string): boolean =>
  accept.includes('application/json') && accept.includes('text/event-stream');

/** Undefined for everything else. */
export function plainCall(
  { jsonrpc, id, method, params }: JsonObject,
  headers: IncomingHttpHeaders,
): PlainCall | undefined {
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isJsonObject(params)) return undefined;
  if (typeof id !== 'string' && !Number.isInteger(id)) return undefined;
  if (!REVISIONS.has(headers['mcp-protocol-version']) || headers['mcp-method'] !== undefined) return undefined;
  if (headers['content-type'] !== 'application/json' || !accepts(headers.accept ?? '')) return undefined;
  const { name, arguments: input = {}, _meta: meta = {}, ...others } = params;
  if (typeof name !== 'string' || !isJsonObject(input) || !isJsonObject(meta)) return undefined;
  if (Object.keys(others).length > 0) return undefined;
  // A client that wants to hear of progress needs a stream.
  if (meta.progressToken !== undefined || meta[PROTOCOL_VERSION_META_KEY] !== undefined) return undefined;
  return { id: id as string | number, name, input, meta };
}

/** The answer of a call, as JSON. */
export const plainAnswer = ({ id }: PlainCall, result: CallToolResult): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });
