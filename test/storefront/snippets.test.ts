/** Every program on an endpoint's page is pasted as it stands, and does what the page says of it. */
import { execFile } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import t from 'tap';
import { copySelling } from '../few-endpoints.ts';
import { startGateway } from '../gateway.ts';
import { stoppedClock } from '../stopped-clock.ts';

/** Somebody's own directory, from which packages are found. */
const home = t.testdir({ catalogue: {} });
const catalogue = join(home, 'catalogue');
copySelling(['credits', 'image/family-e-2', 'token/launchpad-movers', 'tokens-api/search'], catalogue);
appendFileSync(join(catalogue, 'service.yaml'), '\nexposure: { channels: true }\n');
const gateway = await startGateway({ catalogue, solanaNow: stoppedClock() });
t.teardown(gateway.stop);
const { environment } = (await (await fetch(`${gateway.url}/sandbox`)).json()) as {
  environment: Record<string, string>;
};

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" };

const decoded = (html: string): string => html.replace(/&(#39|\w+);/g, (whole, name) => ENTITIES[name] ?? whole);

/** Id -> text. */
async function snippetsOf(path: string): Promise<ReadonlyMap<string, string>> {
  const page = await (await fetch(`${gateway.url}/endpoints${path}`)).text();
  const found = page.matchAll(/data-snippet="(\w+)"[\s\S]*?<pre><code[^>]*>([\s\S]*?)<\/code>/g);
  return new Map([...found].map(([, id = '', text = '']) => [id, decoded(text)]));
}

const run = async (program: string, words: readonly string[]): Promise<string> => {
  const env = { PATH: process.env.PATH ?? '', HOME: home, ...environment };
  return (await promisify(execFile)(program, words, { env, cwd: home })).stdout;
};

/** Paid on the network that the page's programs choose. */
const endpoints = [
  { path: '/image/family-e-2', network: 'chain-c', price: 100_000n, answers: 'image_url' },
  { path: '/chain-c-main/token/launchpad-movers', network: 'chain-c', price: 100_000n, answers: 'success' },
  { path: '/tokens-api/search', network: 'chain-a', price: 10_000n, answers: 'results' },
];

for (const { path, network, price, answers } of endpoints) {
  t.test(`the programs for ${path} ask and pay`, async (t) => {
    const snippets = await snippetsOf(path);

    const asked = await run('sh', ['-c', snippets.get('curl') ?? 'exit 1']);
    t.match(asked, /^HTTP\/1\.1 402 [\s\S]*^payment-required: /im);

    const before = await gateway.earned(network);
    const paid = await run(process.execPath, ['--input-type=module', '-e', snippets.get('typescript') ?? 'throw 0']);
    t.match(paid, answers);
    t.match(paid, /success: true/);
    t.equal((await gateway.earned(network)) - before, price, 'the price, to the unit');

    const mppx = snippets.get('mppx');
    if (mppx === undefined) return;
    const earned = await gateway.earned('chain-c');
    t.match(await run('sh', ['-c', mppx]), answers);
    t.ok((await gateway.earned('chain-c')) > earned, 'mppx pays');
  });
}

t.test('the program that pays from a deposit deposits once, however often it is run', async (t) => {
  const program = (await snippetsOf('/image/family-e-2')).get('deposit') ?? 'throw 0';
  const words = ['--input-type=module', '-e', program];
  const before = await gateway.spendable('chain-c');
  t.match(await run(process.execPath, words), /chargedAmount: '100000'[\s\S]*image_url/);
  const deposited = before - (await gateway.spendable('chain-c'));
  t.equal(deposited, 1_000_000n, 'ten calls');
  t.match(await run(process.execPath, words), /image_url/);
  t.equal(before - (await gateway.spendable('chain-c')), deposited);
});

t.test('a new API key is not drawn from a deposit, and no program says so', async (t) => {
  t.notOk((await snippetsOf('/v1/credits')).has('deposit'));
});

/** The server that an endpoint's page tells an MCP client to start. */
async function mcpServer(): Promise<{ command: string; args: string[]; env: Record<string, string> }> {
  const { mcpServers } = JSON.parse((await snippetsOf('/image/family-e-2')).get('mcp') ?? '');
  const [server] = Object.values(mcpServers) as [{ command: string; args: string[]; env: Record<string, string> }];
  return server;
}

t.test('an MCP client that is configured as the page says buys the endpoint by its tool', async (t) => {
  const page = await (await fetch(`${gateway.url}/endpoints/image/family-e-2`)).text();
  const [, tool = ''] = /The tool is (\S+?)\.[ <]/.exec(page) ?? [];
  const { command, args, env } = await mcpServer();
  t.same(Object.keys(env), ['TURNPIKE_WALLET_EVM']);
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command,
    args: args.map((word) => (word === '/path/to/turnpike' ? process.cwd() : word)),
    env: { PATH: process.env.PATH ?? '', HOME: home, TURNPIKE_WALLET_EVM: String(environment.EVM_PRIVATE_KEY) },
    stderr: 'ignore',
  });
  await client.connect(transport, { timeout: 240_000 });
  t.teardown(() => client.close());
  const { tools } = await client.listTools();
  t.ok(tools.some(({ name }) => name === tool));
  const before = await gateway.earned('chain-c');
  const answer = await client.callTool({ name: tool, arguments: { prompt: 'a lighthouse in fog', resolution: '1k' } });
  t.notOk(answer.isError, JSON.stringify(answer.content).slice(0, 500));
  t.equal((await gateway.earned('chain-c')) - before, 60_000n);
});

t.test('no page has a package run that the operator has not named, and a named one gets the same words', async (t) => {
  const { args } = await mcpServer();
  const page = await (await fetch(`${gateway.url}/endpoints/image/family-e-2`)).text();
  t.notMatch(page, /npx[^<]*turnpike|npm (i|install)[^<]* turnpike/);
  appendFileSync(join(catalogue, 'service.yaml'), 'clientPackage: "@acme/turnpike"\n');
  await gateway.reload();
  const named = await mcpServer();
  t.same([named.command, ...named.args.slice(0, 3)], ['npx', '--yes', '@acme/turnpike', 'mcp']);
  t.same(named.args.slice(3), args.slice(args.indexOf('--') + 1));
});
