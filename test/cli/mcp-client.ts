/** `npm run mcp` as a process, or what it does in this one, spoken to by plain clients that know of no payments. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport as FirstTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Test } from 'tap';
import { readArguments } from '../../src/cli/mcp/arguments.ts';
import { askBack, type Caller, openBridge } from '../../src/cli/mcp/serve.ts';
import { wordsFor } from '../words-for.ts';

export interface Started {
  readonly url: string;
  /** Where what was spent is kept. */
  readonly data: string;
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export const commandOf = ({ url, data, words = [], environment = {} }: Started) => ({
  command: process.execPath,
  args: [...wordsFor('src/cli/mcp.ts'), '--url', url, ...words],
  env: { PATH: process.env.PATH ?? '', TURNPIKE_DATA: data, ...environment },
  stderr: 'pipe' as const,
});

/** What the tools that are tested answer. */
export interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly _meta?: Record<string, unknown>;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  /** Of its first block. */
  readonly text: string;
}

function answerOf(result: Readonly<Record<string, unknown>>): Answer {
  const content = result.content as Answer['content'];
  return { ...result, content, text: content[0]?.text ?? '' };
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk) => (text += chunk));
  return () => text;
}

/** How the revision is found, or the only one that the client knows. */
type Mode = 'auto' | 'legacy' | '2025-06-18' | '2024-11-05';
type CallOptions = Parameters<Client['callTool']>[1];

/** A client of the second generation, of either era. */
async function connect(t: Test, transport: Transport, mode: Mode) {
  const options =
    mode === 'auto' || mode === 'legacy' ? { versionNegotiation: { mode } } : { supportedProtocolVersions: [mode] };
  const client = new Client({ name: 'plain', version: '1' }, options);
  await client.connect(transport);
  t.teardown(() => client.close());
  const call = async (name: string, input: object, options: CallOptions = {}) =>
    answerOf(await client.callTool({ name, arguments: { ...input } }, options));
  return { client, call };
}

/** The command, and a client of it. */
export async function startMcp(t: Test, started: Started, mode: Mode = 'legacy') {
  const transport = new StdioClientTransport(commandOf(started));
  const stderr = transport.stderr as Readable;
  const said = collect(stderr);
  /** What it has said, once that has the pattern: it comes another way than its answers. */
  const saying = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(said())) await once(stderr, 'data');
    return said();
  };
  /** Ends it as a crash does. */
  const kill = () => process.kill(transport.pid ?? Number.NaN, 'SIGKILL');
  return { ...(await connect(t, transport, mode)), said, saying, kill };
}

/** What the command is given, and what it has told. */
function callerOf({ url, data, words = [], environment = {} }: Started) {
  const lines: string[] = [];
  const caller: Caller = {
    environment: { TURNPIKE_DATA: data, ...environment },
    tell: (line) => void lines.push(line),
  };
  return { caller, given: readArguments(['--url', url, ...words], caller.environment), told: () => lines.join('\n') };
}

/** What the command serves, at the other end of a transport. */
async function serve(t: Test, started: Started) {
  const { caller, given, told } = callerOf(started);
  const bridge = await openBridge(given, caller);
  const [transport, its] = InMemoryTransport.createLinkedPair();
  const serving = serveStdio(bridge.createServer, { transport: its });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= serving.close().then(bridge.close));
  t.teardown(close);
  return { transport, told, close };
}

/**
 * What the command serves, and a client of it, without a process: a process takes longer to begin than its calls. Where a
 * promise is about processes, it is made with `startMcp`.
 */
export async function openMcp(t: Test, started: Started, mode: Mode = 'legacy') {
  const { transport, told, close } = await serve(t, started);
  return { ...(await connect(t, transport, mode)), told, close };
}

/** What the command does with `--refund`: whether all of it came back, and what it tells. */
export async function refundMcp({ words = [], ...started }: Started): Promise<{ isAll: boolean; told: string }> {
  const { caller, given, told } = callerOf({ ...started, words: [...words, '--refund'] });
  return { isAll: await askBack(given, caller), told: told() };
}

/** What the command serves, spoken to in messages of the protocol, one at a time. */
export async function speakToMcp(t: Test, started: Started) {
  const { transport, ...served } = await serve(t, started);
  let hear: (result: Record<string, unknown>) => void = () => {};
  transport.onmessage = (message) => {
    if ('result' in message) hear(message.result);
  };
  await transport.start();
  const tell = (method: string, params: Record<string, unknown> = {}) =>
    transport.send({ jsonrpc: '2.0', method, params });
  const ask = (id: number, method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> =>
    new Promise((resolve) => {
      hear = resolve;
      void transport.send({ jsonrpc: '2.0', id, method, params });
    });
  const clientInfo = { name: 'plain', version: '1' };
  await ask(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  await tell('notifications/initialized');
  return {
    ...served,
    tell,
    call: async (id: number, name: string, input: object) =>
      answerOf(await ask(id, 'tools/call', { name, arguments: input })),
  };
}

async function connectFirst(t: Test, transport: FirstTransport) {
  const client = new FirstClient({ name: 'plain', version: '1' });
  await client.connect(transport);
  t.teardown(() => client.close());
  return {
    client,
    call: async (name: string, input: object) => answerOf(await client.callTool({ name, arguments: { ...input } })),
  };
}

/** The command, and a client of the first generation. */
export const startFirstMcp = (t: Test, started: Started) =>
  connectFirst(t, new FirstStdioTransport(commandOf(started)));

/** What the command serves, and a client of the first generation, without a process. */
export const openFirstMcp = async (t: Test, started: Started) => connectFirst(t, (await serve(t, started)).transport);
