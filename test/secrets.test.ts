/** Whatever providers quote, and whatever goes wrong: no key, proof or signature reaches a log line or an answer. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { pino } from 'pino';
import t from 'tap';
import { isJsonObject } from '../src/json.ts';
import { openPayer as openMppPayer } from '../src/rails/mpp/payer.ts';
import { sandboxSecret } from '../src/sandbox/doubles/index.ts';
import { type PaidCall, request, sendProof, signProof, signProofV1 } from './clients.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { openCatalogue } from './upstream/served-routes.ts';
import { plainRequest, type Row } from './walk/row.ts';
import { allRows } from './walk/rows/index.ts';
import { operations } from './walk/rows/mpp.ts';
import { callOf } from './walk/wire.ts';

const keysOf = (upstream: string): string[] =>
  Object.values(openCatalogue().upstreams.get(upstream)?.keys ?? {}).map(sandboxSecret);
const KEYS = [...new Set([...openCatalogue().upstreams.keys()].flatMap(keysOf))];

const ROUNDS = 2;
const AT_ONCE = 8;

/** What a provider makes of its double's answer. */
type Quoting = (answer: Answered, keys: string) => Answered;
interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}
const json = (status: number, value: unknown): Answered => ({
  status,
  type: 'application/json',
  body: Buffer.from(JSON.stringify(value)),
});

/** An answer as it is, with keys wherever a text stands that no program reads, and beside what is known. */
function quotedIn(value: unknown, keys: string): unknown {
  if (Array.isArray(value)) return value.map((part) => quotedIn(part, keys));
  if (!isJsonObject(value)) return value;
  const parts = Object.entries(value).map(([name, part]) => [
    name,
    /^(description|summary|title|snippet|bio)$/.test(name) && typeof part === 'string'
      ? `${part} ${keys}`
      : quotedIn(part, keys),
  ]);
  return { ...Object.fromEntries(parts), debug: keys };
}

const QUOTING: readonly Quoting[] = [
  (answer, keys) =>
    answer.status === 200 && answer.type.includes('json')
      ? json(200, quotedIn(JSON.parse(answer.body.toString()), keys))
      : answer,
  (_, keys) => json(401, { error: { message: `Incorrect API key provided: ${keys}` } }),
  (_, keys) => json(422, { detail: `not for ${encodeURIComponent(keys)}`, error: keys, title: keys }),
  (_, keys) => json(500, { message: Buffer.from(keys).toString('base64'), stack: keys }),
  (_, keys) => ({ status: 200, type: 'application/json', body: Buffer.from(`{"error": "${keys}`) }),
];

/** Stands before all doubles, and answers by turns. */
async function openQuoting(doubleOf: (name: string) => string | undefined) {
  let turn = 0;
  const state = { isPlain: true };
  async function serve(incoming: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const [, name = '', ...path] = (incoming.url ?? '/').split('/');
    const double = doubleOf(name) ?? '';
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers;
    const answer = await fetch(`${double}/${path.join('/')}`, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      body: incoming.method === 'GET' ? null : Buffer.concat(chunks),
    });
    const type = answer.headers.get('content-type') ?? '';
    const plain = { status: answer.status, type, body: Buffer.from(await answer.arrayBuffer()) };
    const own = type.includes('json')
      ? { ...plain, body: Buffer.from(plain.body.toString().replaceAll(double, `${origin()}/${name}`)) }
      : plain;
    turn += 1;
    const keys = keysOf(name).join(' ');
    const given = state.isPlain ? own : (QUOTING[turn % QUOTING.length]?.(own, keys) ?? own);
    response.writeHead(given.status, { 'content-type': given.type, 'x-your-key': state.isPlain ? '' : keys });
    response.end(given.body);
  }
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => server.close().closeAllConnections());
  return { state, origin };
}

const lines: string[] = [];
const log = pino({ level: 'debug', base: null }, { write: (line: string) => void lines.push(line) });
let quoting: Awaited<ReturnType<typeof openQuoting>> | undefined;
const gateway = await startGateway({
  networks: ['chain-a', 'chain-c'],
  tempo: true,
  log,
  async between(sandbox) {
    const opened = await openQuoting((name) => {
      const upstream = openCatalogue().upstreams.get(name);
      return upstream && sandbox.baseUrlOf?.(upstream)?.replace(/\/$/, '');
    });
    quoting = opened;
    return {
      baseUrlOf: ({ name }) => `${opened.origin()}/${name}`,
      trustedOrigins: [...sandbox.trustedOrigins, opened.origin()],
    };
  },
});
t.teardown(gateway.stop);

/** What the callers sent that nobody else may read. */
const proofs: string[] = [];
const answers: string[] = [];

async function send(call: PaidCall, proof: Record<string, string>): Promise<Response> {
  for (const value of Object.values(proof)) {
    proofs.push(value);
    const decoded = Buffer.from(value.replace(/^Payment /, ''), 'base64').toString();
    proofs.push(...[...decoded.matchAll(/"(?:signature|transaction)":"([^"]{40,})"/g)].map(([, found = '']) => found));
  }
  const answer = await sendProof(call, proof);
  const body = await answer.clone().text();
  answers.push(inspect([...answer.headers]), body);
  return answer;
}

const networkOf = ({ path, on }: Row & { on?: string }): string =>
  on ?? (path.startsWith('/tokens-api') ? 'chain-a' : 'chain-c');

async function buy(of: Gateway, row: Row): Promise<void> {
  const call = callOf(of, row.method ?? 'POST', row.path, plainRequest(row.fields));
  const network = networkOf(row);
  await send(call, await signProof(of, network, call).catch(() => signProof(of, 'chain-a', call)));
}

t.test('every endpoint by every protocol, while every provider quotes its keys', async (t) => {
  const purchase = request(gateway, '/v1/credits', { amount_usd: '5' });
  const bought = await sendProof(purchase, await signProof(gateway, 'chain-c', purchase));
  const { api_key: apiKey } = (await bought.json()) as { api_key: string };
  if (quoting) quoting.state.isPlain = false;
  const visits = Array.from({ length: ROUNDS }, () => allRows).flat();
  while (visits.length > 0) await Promise.all(visits.splice(0, AT_ONCE).map((row) => buy(gateway, row)));
  for (const { path, method, fields } of operations) {
    const call = callOf(gateway, method ?? 'POST', path, plainRequest(fields));
    for (const network of ['chain-c', 'tempo']) {
      await send(call, await openMppPayer(gateway.state, network).sign(await fetch(call.url, call.init)));
    }
  }
  const picture = request(gateway, '/image/family-e-2', { prompt: 'a lighthouse' });
  await send(picture, await signProofV1(gateway, 'chain-c', picture));
  await send(picture, {
    'payment-signature': Buffer.from(`{"x402Version":2,"payload":{"signature":"0x${'5e'.repeat(65)}"}}`).toString(
      'base64',
    ),
  });
  for (let turn = 0; turn < 2 * QUOTING.length; turn += 1) {
    const chat = request(gateway, '/v1/chat/completions', {
      model: 'vendor5-k3',
      stream: turn % 2 === 0,
      messages: [{ role: 'user', content: 'Why does fog scatter light?' }],
    });
    await send(chat, { authorization: `Bearer ${apiKey}` });
    await send(chat, { authorization: `Bearer ${apiKey.slice(0, -1)}` });
  }
  await gateway.fault({ settlement: 'chain-c', fault: 'refuse', count: 2 });
  for (const row of allRows.slice(0, 2)) await buy(gateway, row);

  const wallets = [
    ...Object.values(gateway.state.evm).map(({ privateKey }) => privateKey),
    gateway.state.solana?.secretKey,
  ];
  const secrets = [...KEYS, ...wallets, apiKey].filter((secret) => secret !== undefined).map(String);
  const told = { log: lines.join(''), answers: answers.join('\n') };
  t.ok(
    answers.some((answer) => answer.includes('[secret]')),
    'a provider’s quotes were passed on, without what they quoted',
  );
  t.match(told.log, /"level":20/, 'debug lines');
  for (const secret of secrets) {
    const name = secret.slice(0, 12);
    t.notOk(told.log.includes(secret), `${name}... in the log`);
    t.notOk(told.answers.includes(secret), `${name}... in an answer`);
    t.notOk(told.log.includes(Buffer.from(secret).toString('base64')), `${name}... in the log, encoded`);
  }
  t.not(proofs.length, 0);
  for (const proof of proofs)
    t.notOk(told.log.includes(proof) || told.answers.includes(proof), `proof ${proof.slice(0, 12)}...`);
  const kept = ['turnpike.sqlite', 'turnpike.sqlite-wal'].map((file) => readFileSync(join(gateway.directory, file)));
  for (const secret of KEYS)
    t.notOk(
      kept.some((bytes) => bytes.includes(secret)),
      `${secret.slice(0, 12)}... in the store`,
    );
});
