/** The gateway's own server, over streamable HTTP. */
import { AsyncLocalStorage } from 'node:async_hooks';
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
  /** Aborted when whoever asked leaves, also where that is heard after the answer. */
  readonly signal?: AbortSignal;
  onProgress?(progress: Progress): void;
}

export interface Gateway {
  readonly client: Client;
  /** Waits as long as it takes. Throws what the gateway answered, and for a connection that broke off. */
  call(order: Order, asking: Asking): Promise<CallToolResult>;
}

const SERVER_ERROR = -32_000;

/** Whether the answer to what is sent streams: then its end is told apart. */
const asked = new AsyncLocalStorage<{ streams: boolean }>();

/** As the package tells it: of a 202 it reads nothing. */
const isStream = ({ status, headers }: Response): boolean =>
  status !== 202 && /^text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');

async function fetchAnswer(...given: Parameters<typeof fetch>): Promise<Response> {
  const answer = await boundedFetch(...given);
  const sent = asked.getStore();
  if (sent) sent.streams = isStream(answer);
  return answer;
}

/** The package leaves a request unanswered for ever whose answer breaks off, or is none: this answers it. */
class AnsweringTransport extends StreamableHTTPClientTransport {
  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message && 'id' in message)) return super.send(message, options);
    const { id } = message;
    // One that was answered before is not answered twice: nobody waits for its id any more.
    const end = (reason: string) =>
      this.onmessage?.({ jsonrpc: '2.0', id, error: { code: SERVER_ERROR, message: reason } });
    const onRequestStreamEnd = () => end('the connection broke off before the answer');
    const sent = { streams: false };
    await asked.run(sent, () => super.send(message, { ...options, onRequestStreamEnd }));
    if (!sent.streams) end('it was taken, and not answered');
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
    await client.connect(new AnsweringTransport(server, { fetch: fetchAnswer, reconnectionOptions }));
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
