/** The gateway's own server, over streamable HTTP. */
import {
  type CallToolResult,
  Client,
  type JSONRPCMessage,
  type Progress,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { LONGEST_TIMER_MS } from '../../timing.ts';
import { boundedFetch } from '../bounded-fetch.ts';
import { UsageProblem } from '../command-line.ts';
import { reasonOf } from '../reason.ts';

/** A tool call as it is sent. */
export interface Order {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly meta: Record<string, unknown>;
}

export interface Asking {
  readonly signal?: AbortSignal;
  onProgress?(progress: Progress): void;
}

export interface Gateway {
  readonly client: Client;
  /** Waits as long as it takes. Throws what the gateway answered, and for a connection that broke off. */
  call(order: Order, asking: Asking): Promise<CallToolResult>;
}

const SERVER_ERROR = -32_000;

/** The package leaves a request unanswered for ever whose answer breaks off: this answers it. */
class AnsweringTransport extends StreamableHTTPClientTransport {
  override send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message && 'id' in message)) return super.send(message, options);
    const { id } = message;
    const error = { code: SERVER_ERROR, message: 'the connection broke off before the answer' };
    // One that was answered before its stream ended is not answered twice: nobody waits for its id any more.
    const onRequestStreamEnd = () => this.onmessage?.({ jsonrpc: '2.0', id, error });
    return super.send(message, { ...options, onRequestStreamEnd });
  }
}

/** No gateway's stream goes on where it broke off: one that says so would be taken up for ever, as often as it likes. */
const reconnectionOptions = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/** Throws UsageProblem where nothing answers there, or not as a gateway does. */
export async function openGateway(server: URL, version: string): Promise<Gateway> {
  const client = new Client({ name: 'turnpike-mcp', version }, { versionNegotiation: { mode: 'auto' } });
  try {
    await client.connect(new AnsweringTransport(server, { fetch: boundedFetch, reconnectionOptions }));
  } catch (error) {
    throw new UsageProblem(
      `no MCP server answers at ${server} (${reasonOf(error)}): start the gateway with \`npm start\`, or name another with --url`,
    );
  }
  return {
    client,
    call: ({ name, arguments: input, meta }, { signal, onProgress }) =>
      client.request(
        { method: 'tools/call', params: { name, arguments: input, _meta: meta } },
        // News of its progress also keeps the connection of a call that takes long.
        { onprogress: (progress) => onProgress?.(progress), timeout: LONGEST_TIMER_MS, ...(signal && { signal }) },
      ),
  };
}
