/** Tools of MCP servers as endpoints. */
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { checkCatalogue } from '../../../src/catalogue/load.ts';
import type { EndpointFile } from '../../../src/catalogue/types.ts';
import { UsageProblem } from '../../../src/cli/command-line.ts';
import { importFrom } from '../../../src/cli/import/importer.ts';
import { readToolsOf, type ToolsOptions } from '../../../src/cli/import/tools.ts';
import { shipped } from '../../../src/gateway/shipped.ts';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { KEY, startToolServer } from '../../road/sold/tool-server.ts';
import { json, serve } from '../../upstream/http/weather.ts';
import { checked, emptyCatalogue } from './imported.ts';

const bearer = { variable: 'TOOLS_KEY', key: KEY };

async function imported(t: Test, source: string, more: Partial<ToolsOptions> = {}) {
  const catalogue = emptyCatalogue(t);
  for (const file of ['networks.yaml', 'service.yaml']) copyFileSync(join('catalogue', file), join(catalogue, file));
  const wanted = { source, catalogue, price: '0.01', operations: [], upstream: 'tools', ...more };
  const report = await importFrom(readToolsOf(wanted), wanted, shipped, checked);
  t.same(checkCatalogue(catalogue, shipped, checked).diagnostics, [], 'the catalogue is right');
  const endpoint = (name: string): EndpointFile =>
    parse(readFileSync(join(catalogue, 'endpoints', 'tools', `${name}.yaml`), 'utf8'));
  return { catalogue, report, endpoint };
}

for (const place of ['today', 'sessions']) {
  t.test(`the tools of a server are endpoints that can be bought: /${place}`, async (t) => {
    const server = await startToolServer(t);
    const { catalogue, report, endpoint } = await imported(t, `${server.url}/${place}`, { bearer });
    t.match(
      report.outcomes.map(({ name, kind }) => [name, kind]),
      [
        ['search-docs', 'written'],
        ['count-docs', 'written'],
        ['draw', 'written'],
      ],
    );
    t.same(report.upstream.file, {
      adapter: 'mcp',
      baseUrl: `${server.url}/${place}`,
      keys: { key: 'TOOLS_KEY' },
      settings: { authorize: { bearer: 'key' } },
    });
    t.match(endpoint('search-docs'), {
      path: '/tools/search-docs',
      request: {
        required: ['query'],
        properties: { query: { type: 'string' }, limit: { type: 'integer', maximum: 50 } },
      },
      result: { type: 'object', properties: { text: { type: 'string' } } },
      upstream: { via: 'tools', tool: 'search_docs', arguments: 'input' },
    });
    t.match(endpoint('count-docs').result, { properties: { found: { type: 'integer' } } });
    t.equal(server.sessions.size, 0, 'no session is left open');

    rmSync(join(catalogue, 'endpoints', 'image'), { recursive: true, force: true });
    const gateway = await startGateway({ catalogue, environment: { TOOLS_KEY: KEY }, networks: ['chain-a'] });
    t.teardown(gateway.stop);
    const bought = await payV2(gateway, 'chain-a', request(gateway, '/tools/count-docs', { query: 'fog' }));
    t.equal(bought.status, 200);
    t.same(await bought.json(), { found: 7 });
    t.same(server.given.at(-1), { tool: 'count_docs', arguments: { query: 'fog' } });
  });
}

t.test('of a list of tools what cannot be sold is left out, and what is dangerous is said', async (t) => {
  const anything = fromJsonSchema({ type: 'object' });
  const handler = toNodeHandler(
    createMcpHandler(() => {
      const server = new McpServer({ name: 'Odd Tools', version: '1.0.0' });
      const done = () => ({ content: [{ type: 'text' as const, text: 'done' }] });
      const open = fromJsonSchema({ type: 'object', additionalProperties: { type: 'string' }, properties: { a: {} } });
      const nested = fromJsonSchema({
        type: 'object',
        $defs: { place: { type: 'object', properties: { city: { type: 'string' } } } },
        properties: { at: { $ref: '#/$defs/place' }, anything: {} },
      });
      server.registerTool('open', { inputSchema: open }, done);
      server.registerTool(
        'delete_all',
        { inputSchema: anything, title: 'Deletes all', annotations: { destructiveHint: true } },
        done,
      );
      server.registerTool('look', { inputSchema: nested, description: 'Looks around. Slowly.' }, done);
      return server;
    }),
  );
  const http = createServer((asked, response) => void handler(asked, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.teardown(() => http.close().closeAllConnections());
  const { port } = http.address() as AddressInfo;
  const { report, endpoint } = await imported(t, `http://127.0.0.1:${port}/mcp/`);
  t.match(report.outcomes, [
    { name: 'open', kind: 'left out', notes: ['takes arguments without names of their own'] },
    { name: 'delete-all', kind: 'written', notes: ['it says that it destroys things, in your name'] },
    { name: 'look', kind: 'written', notes: [] },
  ]);
  t.same(report.upstream.file, { adapter: 'mcp', baseUrl: `http://127.0.0.1:${port}/mcp` });
  t.match(endpoint('delete-all'), { summary: 'Deletes all', request: { properties: {} } });
  t.match(endpoint('look'), {
    summary: 'Looks around',
    description: 'Looks around. Slowly.',
    request: { properties: { at: { properties: { city: { type: 'string' } } } } },
  });
  const one = await imported(t, `http://127.0.0.1:${port}/mcp`, { operations: ['delete_all'] });
  t.match(one.report.outcomes, [{ name: 'delete-all', kind: 'written' }]);
});

t.test('a server that does not list its tools says why, and its key is in no message', async (t) => {
  const server = await startToolServer(t);
  const refused = async (source: string, more: Partial<ToolsOptions> = {}): Promise<string> => {
    const error: unknown = await imported(t, source, more).catch((reason: unknown) => reason);
    t.ok(error instanceof UsageProblem, String(error));
    t.notMatch(String(error), KEY);
    return String(error);
  };
  t.match(await refused(`${server.url}/today`), /cannot be asked for its tools: .*--bearer names/s);
  const other = await refused(`${server.url}/today`, { bearer: { variable: 'TOOLS_KEY', key: 'another' } });
  t.match(other, /cannot be asked for its tools: /);
  t.notMatch(other, /--bearer|another/);
  t.match(await refused('http://127.0.0.1:1/mcp'), /cannot be asked for its tools: .*(?:bad port|ECONNREFUSED)/);
  t.match(await refused('http://tools.example/mcp'), /give the https address of an MCP server/);
  t.match(await refused('tools.yaml'), /give the https address of an MCP server/);
});

t.test('a tool that answers with a task alone is left out: no call waits for one', async (t) => {
  const tools = ['never', 'required'].map((taskSupport) => ({
    name: `research_${taskSupport}`,
    inputSchema: { type: 'object' },
    execution: { taskSupport: taskSupport === 'never' ? 'forbidden' : taskSupport },
  }));
  const answers: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'research', version: '1' },
    },
    'tools/list': { tools },
  };
  const { origin } = await serve(t, async (asked, response) => {
    const { id, method = '' } = JSON.parse((await text(asked)) || '{}');
    if (id === undefined) return response.writeHead(202).end();
    const result = answers[method];
    const answer = result ? { result } : { error: { code: -32601, message: 'no such method' } };
    response.setHeader('content-type', 'application/json');
    json(response, 200, { jsonrpc: '2.0', id, ...answer });
  });
  const { report } = await imported(t, `${origin}/mcp`);
  t.match(report.outcomes, [
    { name: 'research-never', kind: 'written' },
    { name: 'research-required', kind: 'left out', notes: [/^answers with a task alone/] },
  ]);
});
