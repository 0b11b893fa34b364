/** `npm run mcp` as a process, spoken to by plain clients that know of no payments. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Test } from 'tap';
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
  /** Of its first block. */
  readonly text: string;
}

function answerOf(result: Readonly<Record<string, unknown>>): Answer {
  const [first] = result.content as { text: string }[];
  return { ...result, text: first?.text ?? '' };
}

function collect(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk) => (text += chunk));
  return () => text;
}

/** A client of the second generation, of either era. */
export async function startMcp(t: Test, started: Started, mode: 'auto' | 'legacy' = 'legacy') {
  const transport = new StdioClientTransport(commandOf(started));
  const stderr = transport.stderr as Readable;
  const said = collect(stderr);
  /** What it has said, once that has the pattern: it comes another way than its answers. */
  const saying = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(said())) await once(stderr, 'data');
    return said();
  };
  const client = new Client({ name: 'plain', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  t.teardown(() => client.close());
  const call = async (name: string, input: object, options: Parameters<Client['callTool']>[1] = {}) =>
    answerOf(await client.callTool({ name, arguments: { ...input } }, options));
  return { client, said, saying, call };
}

/** A client of the first generation. */
export async function startFirstMcp(t: Test, started: Started) {
  const transport = new FirstTransport(commandOf(started));
  const client = new FirstClient({ name: 'plain', version: '1' });
  await client.connect(transport);
  t.teardown(() => client.close());
  return {
    client,
    call: async (name: string, input: object) => answerOf(await client.callTool({ name, arguments: { ...input } })),
  };
}
