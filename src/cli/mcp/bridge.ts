/** A server for one client over stdio, that passes on to the gateway what it is asked. */
import type { CallToolResult, Progress } from '@modelcontextprotocol/client';
import { ProtocolError, type Result } from '@modelcontextprotocol/client';
import { isSpecType, type RequestId, Server, type ServerContext, type Transport } from '@modelcontextprotocol/server';
import { inKnownContent } from '../../mcp/known-content.ts';
import { inWords, words } from './answers.ts';
import type { Asking, Gateway, Order } from './gateway.ts';
import { gatewayReason } from './gateway-reason.ts';
import { paysItself } from './payment-required.ts';

export interface BridgeParts {
  readonly gateway: Gateway;
  readonly origin: string;
  /** Throws where the gateway cannot be reached and this process has paid nothing. */
  readonly call: (order: Order, asking: Asking) => Promise<CallToolResult>;
  /** What is said to models besides the gateway's own instructions. */
  readonly instructions: string | undefined;
}

/** Names that each connection has its own values for. */
const isOwn = (name: string): boolean => name === 'progressToken' || name.startsWith('io.modelcontextprotocol/');

const passedOn = (meta: object | undefined): Record<string, unknown> =>
  Object.fromEntries(Object.entries(meta ?? {}).filter(([name]) => !isOwn(name)));

/** Tells the client that asked for it how its call gets on; numbers only grow, also when a call is sent again. */
function progressTo({ mcpReq }: ServerContext): ((progress: Progress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let last = 0;
  return ({ progress, ...others }) => {
    last = Math.max(last + 1, progress);
    const params = { ...others, progressToken, progress: last };
    // Who has left is told nothing.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  };
}

/**
 * Whose callers leave, also where the news of it crosses the answer: the package knows of none that was answered. Who has gone
 * on since has read it: some clients say when they end that they left all that they ever asked.
 */
class LeavableServer extends Server {
  readonly #answered = new Map<RequestId, AbortController>();

  override async connect(transport: Transport): Promise<void> {
    transport.onmessage = (message) => {
      if (!isSpecType.CancelledNotification(message)) return this.#answered.clear();
      const { requestId } = message.params;
      if (requestId !== undefined) this.#answered.get(requestId)?.abort();
    };
    await super.connect(transport);
  }

  /** Answers by what `work` comes to. Its signal is aborted when the caller leaves, before the answer or right behind it. */
  async answer<Answer>(
    { mcpReq: { id, signal } }: ServerContext,
    work: (left: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const caller = new AbortController();
    signal.addEventListener('abort', () => caller.abort(signal.reason), { once: true });
    try {
      return await work(caller.signal);
    } finally {
      this.#answered.set(id, caller);
    }
  }
}

export function createBridge({ gateway, origin, call, instructions }: BridgeParts): Server {
  const { client } = gateway;
  const { name = 'turnpike', version = '0', ...others } = client.getServerVersion() ?? {};
  const { experimental } = client.getServerCapabilities() ?? {};
  const said = [client.getInstructions(), instructions].filter((text) => text !== undefined).join('\n\n');
  const server = new LeavableServer(
    { ...others, name, version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, ...(experimental && { experimental }) },
      instructions: said,
    },
  );

  const unreached = (error: unknown): string => `${origin} cannot be reached (${gatewayReason(error)})`;

  /** The same request, with what of its `_meta` is the caller's. */
  const pass = async <Answer extends Result>(
    params: { readonly _meta?: object | undefined } | undefined,
    { mcpReq }: ServerContext,
    ask: (params: { _meta: Record<string, unknown> }, options: { signal: AbortSignal }) => Promise<Answer>,
  ): Promise<Answer> => {
    const { _meta, ...rest } = params ?? {};
    try {
      return await ask({ ...rest, _meta: passedOn(_meta) }, { signal: mcpReq.signal });
    } catch (error) {
      throw error instanceof ProtocolError ? error : new Error(unreached(error));
    }
  };

  server.setRequestHandler('tools/list', ({ params }, context) =>
    pass(params, context, (given, options) => client.request({ method: 'tools/list', params: given }, options)),
  );
  server.setRequestHandler('resources/list', ({ params }, context) =>
    pass(params, context, (given, options) => client.request({ method: 'resources/list', params: given }, options)),
  );
  server.setRequestHandler('resources/templates/list', ({ params }, context) =>
    pass(params, context, (given, options) =>
      client.request({ method: 'resources/templates/list', params: given }, options),
    ),
  );
  server.setRequestHandler('resources/read', ({ params }, context) =>
    pass(params, context, (given, options) =>
      client.request({ method: 'resources/read', params: { ...given, uri: params.uri } }, options),
    ),
  );
  server.setRequestHandler('prompts/list', ({ params }, context) =>
    pass(params, context, (given, options) => client.request({ method: 'prompts/list', params: given }, options)),
  );
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    pass(params, context, (given, options) =>
      client.request({ method: 'prompts/get', params: { ...given, name: params.name } }, options),
    ),
  );
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const order = { name: params.name, arguments: params.arguments ?? {}, meta: passedOn(context.mcpReq._meta) };
    const onProgress = progressTo(context);
    try {
      const result = await server.answer(context, (signal) =>
        call(order, { signal, ...(onProgress && { onProgress }) }),
      );
      return inKnownContent(result, { revision: server.getNegotiatedProtocolVersion() });
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      const reason = unreached(error);
      return inWords(paysItself(order) ? words.unanswered(order.name, reason) : words.uncalled(order.name, reason));
    }
  });
  return server;
}
