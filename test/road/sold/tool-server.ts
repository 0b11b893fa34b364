/** A server of nobody's with tools, made with the official package, in the two manners in which servers are reached. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import type { Test } from 'tap';
import { drawPicture } from '../../../src/sandbox/files/png.ts';

export const KEY = 'tools-key-51cd';

export interface ToolServer {
  /** `/today` takes the newest revision of the protocol alone, `/sessions` only older ones, streamed, after a greeting. */
  readonly url: string;
  /** What the tools were given. */
  readonly given: { readonly tool: string; readonly arguments: unknown }[];
  /** Those that are open. */
  readonly sessions: { readonly size: number };
}

export async function startToolServer(t: Test): Promise<ToolServer> {
  const given: ToolServer['given'] = [];
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const picture = await drawPicture({ seed: 'map', width: 64, height: 48, label: 'map', format: 'png' });

  function openTools(): McpServer {
    const server = new McpServer({ name: 'documents', version: '1.0.0' });
    const inputSchema = fromJsonSchema<Record<string, unknown>>({
      type: 'object',
      required: ['query'],
      properties: { query: { type: 'string' }, limit: { type: 'integer', maximum: 50 } },
    });
    const heard = (tool: string, values: unknown) => given.push({ tool, arguments: values });
    const text = (...lines: string[]) => lines.map((line) => ({ type: 'text' as const, text: line }));
    server.registerTool('search_docs', { inputSchema }, (values) => {
      heard('search_docs', values);
      if (values.query === 'forbidden') return { isError: true, content: text(`nothing of this for ${KEY}`) };
      return { content: text(`about ${values.query}`, `asked with ${KEY}`) };
    });
    const counted = fromJsonSchema({ type: 'object', properties: { found: { type: 'integer' } } });
    server.registerTool('count_docs', { inputSchema, outputSchema: counted }, (values) => {
      heard('count_docs', values);
      return { content: text('seven'), structuredContent: { found: 7 } };
    });
    server.registerTool('draw', { inputSchema }, (values) => {
      heard('draw', values);
      const data = picture.toString('base64');
      return { content: [...text('a map'), { type: 'image', data, mimeType: 'image/png' }] };
    });
    return server;
  }

  async function openSession(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await openTools().connect(transport);
    return transport;
  }

  const today = toNodeHandler(createMcpHandler(openTools, { legacy: 'reject' }));
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== `Bearer ${KEY}`) return response.writeHead(401).end(`who has ${KEY}?`);
    if (request.url === '/today') return await today(request, response);
    const known = sessions.get(String(request.headers['mcp-session-id']));
    await (known ?? (await openSession())).handleRequest(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, given, sessions };
}
