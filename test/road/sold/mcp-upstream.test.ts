import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { payV2, request } from '../../clients.ts';
import { startGateway } from '../../gateway.ts';
import { KEY, startToolServer } from './tool-server.ts';

const endpoint = (path: string, result: string, upstream: string) => `summary: ${path}
path: ${path}
networks: [chain-c]
price: { rule: fixed, amount: "0.01" }
request: { required: [question], properties: { question: { type: string, maxLength: 80 }, limit: { type: integer } } }
result: ${result}
example: { question: start }
upstream: { ${upstream}, arguments: { query: question, limit: limit } }
`;

const answer = '{ required: [answer], properties: { answer: { type: string } }, examples: [{ answer: a }] }';
const count = '{ required: [found], properties: { found: { type: integer } }, examples: [{ found: 1 }] }';
const map = `
  required: [image_url, type, bytes]
  properties: { image_url: { type: string }, type: { type: string }, bytes: { type: integer } }
  examples: [{ image_url: "https://shop.example/1.png", type: image/png, bytes: 10 }]`;

const servers = ['today', 'sessions'];

const upstreamOf = (name: string, url: string) => `${name}:
  adapter: mcp
  baseUrl: ${url}/${name}
  keys: { key: TOOLS_API_KEY }
  settings: { authorize: { bearer: key } }
`;

const endpointsOf = (via: string) => ({
  'answer.yaml': endpoint(`/${via}/answer`, answer, `via: ${via}, tool: search_docs, result: "{answer: text}"`),
  'count.yaml': endpoint(`/${via}/count`, count, `via: ${via}, tool: count_docs`),
  'map.yaml': endpoint(`/${via}/map`, map, `via: ${via}, tool: draw, result: { file: image }`),
  'missing.yaml': endpoint(`/${via}/missing`, count, `via: ${via}, tool: delete_docs`),
});

const filesOf = (url: string) => ({
  'service.yaml': readFileSync('catalogue/service.yaml', 'utf8'),
  'networks.yaml': readFileSync('catalogue/networks.yaml', 'utf8'),
  'upstreams.yaml': servers.map((name) => upstreamOf(name, url)).join(''),
  endpoints: Object.fromEntries(servers.map((name) => [name, endpointsOf(name)])),
});

const open = async (t: Test) => {
  const tools = await startToolServer(t);
  const catalogue = join(t.testdir({ catalogue: filesOf(tools.url) }), 'catalogue');
  const gateway = await startGateway({ catalogue, environment: { TOOLS_API_KEY: KEY }, networks: ['chain-c'] });
  t.teardown(gateway.stop);
  const buy = async (path: string, body: object) => {
    const paid = await payV2(gateway, 'chain-c', request(gateway, path, body));
    const text = await paid.text();
    t.notMatch(`${text} ${JSON.stringify([...paid.headers])}`, KEY, 'the key is in no answer');
    return { status: paid.status, body: JSON.parse(text) as Record<string, unknown> };
  };
  return { tools, gateway, buy };
};

t.test('tools of another server are sold from YAML alone, whichever revision of the protocol it speaks', async (t) => {
  const { tools, gateway, buy } = await open(t);
  for (const via of servers) {
    const before = await gateway.earned('chain-c');
    const found = await buy(`/${via}/answer`, { question: 'start', limit: 3 });
    t.match(found, { status: 200, body: { answer: 'about start\nasked with [secret]' } });
    t.same(tools.given.at(-1), { tool: 'search_docs', arguments: { query: 'start', limit: 3 } });

    t.match(await buy(`/${via}/count`, { question: 'start' }), { status: 200, body: { found: 7 } });
    t.same(tools.given.at(-1), { tool: 'count_docs', arguments: { query: 'start' } }, 'what is left out is not sent');

    const drawn = await buy(`/${via}/map`, { question: 'town' });
    t.match(drawn, { status: 200, body: { type: 'image/png' } });
    t.equal((await fetch(String(drawn.body.image_url))).headers.get('content-type'), 'image/png');
    t.equal(await gateway.earned('chain-c'), before + 30_000n);
  }
  // Without end, were one left open.
  while (tools.sessions.size > 0) await nextTurn();
});

t.test('a tool that fails is not charged, and what it says does not reach the caller', async (t) => {
  const { tools, gateway, buy } = await open(t);
  const before = await gateway.earned('chain-c');
  for (const via of servers) {
    const refused = await buy(`/${via}/answer`, { question: 'forbidden' });
    t.match(refused, { status: 500, body: { error: { code: 'upstream_failed' } } });
    t.notMatch(JSON.stringify(refused.body), 'nothing of this');
    t.match(tools.given.at(-1), { arguments: { query: 'forbidden' } });

    const missing = await buy(`/${via}/missing`, { question: 'start' });
    t.match(missing, { status: 500, body: { error: { code: 'upstream_failed' } } }, 'no caller chose the tool');

    const heard = tools.given.length;
    const beyond = await buy(`/${via}/answer`, { question: 'start', limit: 99 });
    t.match(beyond, { status: 400, body: { error: { code: 'invalid_request' } } }, 'the tool takes no such value');
    t.equal(tools.given.length, heard);
  }
  t.equal(await gateway.earned('chain-c'), before);
});
