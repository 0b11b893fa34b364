/** A server of the Model Context Protocol for one request: what it lists and shows follows from the address that was asked. */
import { type JSONObject, Server } from '@modelcontextprotocol/server';
import type { Log } from '../log.ts';
import type { Visit } from '../request/visit.ts';
import { inKnownContent } from './known-content.ts';
import { pageOf } from './page.ts';
import { asksForPayment, inExtension } from './payment-extension.ts';
import { withProgress } from './progress.ts';
import { servePrompts } from './prompts.ts';
import { type ListedDocument, serveResources } from './resources.ts';
import type { Selection } from './selection.ts';
import type { Toolbox } from './toolbox.ts';

export interface ServerParts {
  readonly toolbox: Toolbox;
  readonly documents: readonly ListedDocument[];
  readonly service: { readonly name: string; readonly instructions: string };
  readonly version: string;
  readonly publicUrl: string;
  /** What the rails say in `capabilities.experimental`. */
  readonly experimental: Record<string, JSONObject>;
  readonly log: Log;
}

/** How long clients may keep lists: as long as a page of a document. */
const CACHED = { ttlMs: 60_000, cacheScope: 'public' } as const;

/** What a service says of buying is for all who call it, by headers and statuses: a tool call has neither. */
const OVER_MCP = [
  'A tool takes no headers: call it without a payment first, and its result says what those arguments cost, or every fault.',
  'Then call it with the same arguments and the payment in `_meta["x402/payment"]` or `_meta["org.paymentauth/credential"]`.',
].join(' ');

/** `revision`: that the request says it is of. */
export function createServer(
  parts: ServerParts,
  selection: Selection,
  request: Visit,
  revision: string | undefined,
): Server {
  const { toolbox, service, version, publicUrl } = parts;
  const server = new Server(
    { name: service.name, version, websiteUrl: publicUrl },
    {
      capabilities: { tools: {}, resources: {}, prompts: {}, experimental: parts.experimental },
      instructions: `${service.instructions.trim()}\n\n${OVER_MCP}`,
      cacheHints: { 'tools/list': CACHED, 'resources/list': CACHED, 'prompts/list': CACHED, 'server/discover': CACHED },
    },
  );
  server.setRequestHandler('tools/list', ({ params }) => {
    const { items, nextCursor } = pageOf(toolbox.list(selection), params?.cursor);
    return { tools: [...items], ...(nextCursor && { nextCursor }) };
  });
  server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }, context) =>
    withProgress(context, async () => {
      const called = await toolbox.call(name, input, context.mcpReq._meta ?? {}, request);
      const result = inKnownContent(called, { ...selection, revision });
      return asksForPayment(context) ? inExtension(result) : result;
    }),
  );
  serveResources(server, parts.documents, publicUrl);
  servePrompts(server);
  return server;
}
