/** One call of a tool, over a connection of its own. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { LONGEST_TIMER_MS, within } from '../../../timing.ts';
import type { UpstreamHttp } from '../../http/upstream-http.ts';
import { UpstreamProblem } from '../../problem.ts';
import { fetchThrough } from './fetch.ts';

type Package = typeof import('@modelcontextprotocol/client');

interface Order {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

const FAREWELL_MS = 5_000;

/**
 * What the tool answers, `isError` included. Servers of revision 2026-07-28 of the Model Context Protocol are asked
 * without a session; others, back to 2024-11-05, are greeted first, as modelcontextprotocol.io/specification ("Streamable
 * HTTP", "Versioning", "Tools") wants it. Throws UpstreamProblem.
 */
export async function callTool(http: UpstreamHttp, order: Order, signal: AbortSignal): Promise<CallToolResult> {
  // Large, and most catalogues have no use for it.
  const mcp = await import('@modelcontextprotocol/client');
  const given = new AbortController();
  const transport = new mcp.StreamableHTTPClientTransport(new URL(http.baseUrl), {
    fetch: fetchThrough(http, signal, (problem) => given.abort(problem)),
  });
  const client = new mcp.Client({ name: 'turnpike', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  // The signal alone says how long a call may take.
  const options = { signal: AbortSignal.any([signal, given.signal]), timeout: LONGEST_TIMER_MS };
  try {
    await client.connect(transport, options);
    return await client.callTool(order, options);
  } catch (error) {
    if (given.signal.aborted) throw given.signal.reason;
    if (signal.aborted) throw new UpstreamProblem('timeout', http.upstream, `${order.name} had no answer in time`);
    throw problemOf(error, order.name, http.upstream, mcp);
  } finally {
    // Nobody waits for the server to forget the session; one that does not say so keeps no turn from others.
    void within(FAREWELL_MS, transport.terminateSession())
      .catch(() => undefined)
      .finally(() => client.close());
  }
}

/** What the caller gave is not what the tool takes. */
export function argumentsRefused(tool: string, upstream: string, providerMessage: string): UpstreamProblem {
  const publicMessage = 'The provider does not take these values';
  return new UpstreamProblem('invalid-input', upstream, `${tool}: invalid params`, { publicMessage, providerMessage });
}

/** How servers begin to say that a tool is not there, or is switched off: which one is asked for, no caller chose. */
const TOOL_MISSING =
  /^(?:MCP error -32602: )?(?:unknown tool\b|no such tool\b|tool (?:\S{1,200} )?(?:not found|disabled))/i;

function problemOf(error: unknown, tool: string, upstream: string, mcp: Package): UpstreamProblem {
  const providerMessage = error instanceof Error ? error.message : String(error);
  const isOfParams = error instanceof mcp.ProtocolError && error.code === mcp.ProtocolErrorCode.InvalidParams;
  if (isOfParams && !TOOL_MISSING.test(providerMessage)) return argumentsRefused(tool, upstream, providerMessage);
  if (error instanceof mcp.SdkHttpError) {
    const { status } = error.data;
    return new UpstreamProblem('failed', upstream, `${tool}: answered ${status}`, { status, providerMessage });
  }
  if (error instanceof mcp.ProtocolError)
    return new UpstreamProblem('failed', upstream, `${tool}: answered an error of the protocol`, { providerMessage });
  return new UpstreamProblem('malformed', upstream, `${tool}: answered what the protocol does not know`, {
    providerMessage,
  });
}
