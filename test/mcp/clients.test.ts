/**
 * Unmodified clients, of both generations and eras, that know nothing but the address: they list, describe, quote, pay
 * and use tools of many groups, and what the chains hold moves by the prices.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { withX402Client } from 'agents/x402';
import { McpClient } from 'mppx/mcp/client';
import t, { type Test } from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { toAtomic, usd } from '../../src/money.ts';
import { evmMethod, tempoMethods } from '../../src/rails/mpp/payer.ts';
import { startGateway } from '../gateway.ts';
import { payTool, receiptIn, type ToolResult } from './tool-client.ts';

const gateway = await startGateway({ networks: ['chain-a', 'chain-c'], tempo: true });
t.teardown(gateway.stop);
const address = new URL('/mcp', gateway.url);
const { evm, tempo } = gateway.state;
const access = evm['chain-c'];
if (!access || !tempo) throw new Error('the sandbox has no wallets');
const account = privateKeyToAccount(access.privateKey);

/** What is the same in all clients. */
interface AnyClient {
  listTools(params?: { cursor?: string }): Promise<{ tools: { name: string }[]; nextCursor?: string }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
}
type Use = (name: string, input: Record<string, unknown>) => Promise<ToolResult>;

interface Buyer {
  /** What it can list, describe and quote with. */
  readonly client: AnyClient;
  /** Calls and pays. */
  readonly use: Use;
}

const about = { name: 'an-agent', version: '1.0.0' };
const plain =
  (client: AnyClient): Use =>
  async (name, input) =>
    (await client.callTool({ name, arguments: input })) as ToolResult;

async function second(t: Test, era: '2025' | '2026'): Promise<Client> {
  const client = new Client(about, { versionNegotiation: { mode: era === '2026' ? { pin: '2026-07-28' } : 'legacy' } });
  await client.connect(new StreamableHTTPClientTransport(address));
  t.teardown(() => client.close());
  t.equal(client.getNegotiatedProtocolVersion()?.slice(0, 4), era);
  return client;
}

async function first(t: Test): Promise<FirstClient> {
  const client = new FirstClient(about);
  await client.connect(new FirstTransport(address) as Parameters<FirstClient['connect']>[0]);
  t.teardown(() => client.close());
  return client;
}

/** The client of the package `agents`. */
function withAgents(client: Client | FirstClient): Buyer {
  const buyer = withX402Client(client as Client, {
    account,
    maxPaymentValue: 10_000_000n,
    network: access?.caip2 ?? '',
  });
  const callTool: AnyClient['callTool'] = (params) => buyer.callTool(null, params);
  const listTools = buyer.listTools.bind(buyer) as AnyClient['listTools'];
  return { client: { listTools, callTool }, use: plain({ listTools, callTool }) };
}

/** The client of the package `mppx`. */
function withMppx(client: Client | FirstClient, by: 'tempo' | 'evm'): Buyer {
  if (!access || !tempo) throw new Error('the sandbox has no wallets');
  const methods = by === 'tempo' ? [tempoMethods(tempo)] : [evmMethod(access)];
  const wrapped = McpClient.wrap(client as FirstClient, { methods: methods as [(typeof methods)[0]] });
  return { client: wrapped as unknown as AnyClient, use: plain(wrapped as unknown as AnyClient) };
}

/** By the specification alone. */
const byHand = (client: Client | FirstClient, network: string): Buyer => ({
  client: client as AnyClient,
  use: (name, input) => payTool(gateway, network, name, input),
});

/** Every name, through all pages. */
async function allTools({ client }: Buyer): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names;
}

async function ask<Answer>({ client }: Buyer, name: string, input: Record<string, unknown>): Promise<Answer> {
  const { structuredContent, isError } = (await client.callTool({ name, arguments: input })) as ToolResult;
  if (isError || !structuredContent) throw new Error(`${name} failed: ${JSON.stringify(structuredContent)}`);
  return structuredContent as Answer;
}

/** Buys a tool's own example at the price that is quoted for it. */
async function buy(t: Test, buyer: Buyer, rail: string, network: string, name: string): Promise<void> {
  const { example } = await ask<{ example: Record<string, unknown> }>(buyer, 'describe_endpoint', { name });
  const quote = await ask<{ isValid: boolean; offers: { rail: string; price: string }[] }>(buyer, 'quote', {
    name,
    arguments: example,
  });
  t.equal(quote.isValid, true, name);
  const price = quote.offers.find((offer) => offer.rail === rail)?.price ?? '';
  const before = await gateway.earned(network);
  const result = await buyer.use(name, example);
  t.not(result.isError, true, `${name}: ${result.content[0]?.text?.slice(0, 300)}`);
  t.equal((await gateway.earned(network)) - before, toAtomic(usd(price), 6), `${name} moved ${price} USD`);
  const receipt = result._meta?.['org.paymentauth/receipt'] ?? receiptIn(result);
  t.match(
    receipt,
    rail === 'mpp' ? { status: 'success', reference: /.+/, challengeId: /.+/ } : { success: true, transaction: /.+/ },
  );
  if (!name.startsWith('image')) return;
  const blocks = result.content.map(({ type }) => type);
  t.same(blocks, ['text', 'image'], 'a picture is shown');
  const file = await fetch(String(result.structuredContent?.image_url));
  t.equal(file.headers.get('content-type'), result.content[1]?.mimeType);
}

const buyers: readonly {
  readonly who: string;
  readonly rail: string;
  readonly network: string;
  readonly open: (t: Test) => Promise<Buyer>;
  readonly tools: readonly string[];
}[] = [
  {
    who: 'agents over the first generation of clients',
    rail: 'x402',
    network: 'chain-c',
    open: async (t) => withAgents(await first(t)),
    tools: [
      'image_family-a-2-pro',
      'audio_x-text-to-speech',
      'llm_vendor1-opus-5',
      'shop_search',
      'video_short-generation',
    ],
  },
  {
    who: 'agents over the second generation, before 2026',
    rail: 'x402',
    network: 'chain-c',
    open: async (t) => withAgents(await second(t, '2025')),
    tools: ['image_family-d-2-medium', 'llm_vendor3-5_2'],
  },
  {
    who: 'agents over the second generation, revision 2026-07-28',
    rail: 'x402',
    network: 'chain-c',
    open: async (t) => withAgents(await second(t, '2026')),
    tools: ['image_family-c-imagine', 'tiktok_search'],
  },
  {
    who: 'a client by the specification, over EVM',
    rail: 'x402',
    network: 'chain-c',
    open: async (t) => byHand(await second(t, '2025'), 'chain-c'),
    tools: ['image_family-e', 'audio_speech-to-text'],
  },
  {
    who: 'a client by the specification, over Solana',
    rail: 'x402',
    network: 'chain-a',
    open: async (t) => byHand(await first(t), 'chain-a'),
    tools: ['token_news', 'stock_signal', 'tokens-api_search', 'ai_x-news', 'image_family-b-image-2'],
  },
  {
    who: 'mppx over the first generation of clients, on Tempo',
    rail: 'mpp',
    network: 'tempo',
    open: async (t) => withMppx(await first(t), 'tempo'),
    tools: ['image_family-e-2', 'token_launchpad-trending', 'audio_speech-to-text'],
  },
  {
    who: 'mppx over the second generation, revision 2026-07-28, on Tempo',
    rail: 'mpp',
    network: 'tempo',
    open: async (t) => withMppx(await second(t, '2026'), 'tempo'),
    tools: ['image_family-e-pro', 'video_short-generation'],
  },
  {
    who: 'mppx over the second generation, before 2026, on EVM',
    rail: 'mpp',
    network: 'chain-c',
    open: async (t) => withMppx(await second(t, '2025'), 'evm'),
    tools: ['image_designer'],
  },
];

for (const { who, rail, network, open, tools } of buyers) {
  t.test(`${who}: lists, asks the price, pays it and uses what it bought`, async (t) => {
    const buyer = await open(t);
    const names = await allTools(buyer);
    for (const name of tools) t.ok(names.includes(name), `${name} is listed`);
    for (const name of tools) await buy(t, buyer, rail, network, name);
  });
}
