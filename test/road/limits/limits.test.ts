/** Callers who ask for more than they may: who is stopped, when, and that nobody is charged for it. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { openApiKeys } from '../../../src/credits/api-keys.ts';
import { openStore } from '../../../src/store/open.ts';
import { payV2, request, sendProof, signProof } from '../../clients.ts';
import { copySelling } from '../../few-endpoints.ts';
import { freePort } from '../../free-port.ts';
import { type Gateway, type GatewayOptions, startGateway } from '../../gateway.ts';
import { callTool, HEADERS, receiptIn, rpc, signToolPayment } from '../../mcp/tool-client.ts';
import { stoppedClock } from '../../stopped-clock.ts';
import { endpoint, shopFiles } from '../sold/shop-catalogue.ts';

interface Provider {
  readonly url: string;
  /** How often it was asked. */
  asked(): number;
  /** From now on it answers nobody, until what is returned is called. */
  hold(): () => void;
}

/** Refuses what is called Atlantis. */
async function startProvider(t: Test): Promise<Provider> {
  let asked = 0;
  let held = Promise.resolve();
  const server = createServer(async (request, response) => {
    asked += 1;
    await held;
    const refused = request.url?.includes('Atlantis');
    response.writeHead(refused ? 422 : 200, { 'content-type': 'application/json' });
    const choices = [{ index: 0, message: { role: 'assistant', content: 'sunny' }, finish_reason: 'stop' }];
    response.end(JSON.stringify({ text: 'sunny', choices }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    hold() {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}

async function open(t: Test, service: string, options: Partial<GatewayOptions> = {}) {
  const provider = await startProvider(t);
  const lines: string[] = [];
  // The time stands still until the test lets some go by: nothing fills up again meanwhile.
  let time = Date.now();
  const catalogue = join(t.testdir({ catalogue: shopFiles(provider.url, service) }), 'catalogue');
  writeFileSync(join(catalogue, 'endpoints/weather/hint.yaml'), `free: true\n${endpoint('hint', '0')}`);
  const gateway = await startGateway({
    catalogue,
    networks: ['chain-c'],
    log: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
    now: () => time,
    ...options,
    environment: { WEATHER_API_KEY: 'weather-key', ...options.environment },
  });
  t.teardown(gateway.stop);
  return {
    provider,
    gateway,
    lines,
    call: (city: string) => request(gateway, '/weather/report', { city }),
    /** What is sold as a report, from the next reload on. */
    edit: (from: string, to: string) => {
      const file = join(catalogue, 'endpoints/weather/report.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
    },
    later: (ms: number) => {
      time += ms;
    },
  };
}

const problemOf = async (answer: Response) => ({
  status: answer.status,
  retryAfter: Number(answer.headers.get('retry-after')),
  ...((await answer.json()) as { error?: { code: string; message: string } }).error,
});

/** A payment that has every part of one, and a signature of nobody's. */
function forge(proof: Record<string, string>): Record<string, string> {
  const [[name, value] = ['', '']] = Object.entries(proof);
  const payment = JSON.parse(Buffer.from(value, 'base64').toString());
  payment.payload.signature = `0x${'11'.repeat(64)}1b`;
  payment.payload.authorization.nonce = `0x${randomBytes(32).toString('hex')}`;
  return { [name]: Buffer.from(JSON.stringify(payment)).toString('base64') };
}

const PROXIED = { environment: { TURNPIKE_TRUST_PROXY: '1' } };

t.test('an address that asks for prices without end is told to wait, and pays all the same', async (t) => {
  const { gateway, call, lines, later } = await open(t, 'limits: { address: { unpaidPerMinute: 3 } }', PROXIED);
  const ask = (address: string, path = '/weather/report', headers = {}) => {
    const { url, init } = request(gateway, path, { city: 'Lisbon' });
    const given = { ...(init.headers as Record<string, string>), 'x-forwarded-for': address, ...headers };
    return fetch(url, { ...init, headers: given });
  };
  const proof = await signProof(gateway, 'chain-c', call('Lisbon'));
  for (let times = 0; times < 3; times += 1) t.equal((await ask('198.51.100.7, 203.0.113.9')).status, 402);
  t.match(await problemOf(await ask('203.0.113.9')), {
    status: 429,
    retryAfter: 20,
    code: 'rate_limited',
    message: /nothing was charged: come back in 20 s/,
  });
  t.equal((await ask('198.51.100.7')).status, 402, 'what a caller writes there itself is not believed');
  t.equal((await ask('203.0.113.10')).status, 402);
  const overMpp = await ask('203.0.113.9', '/mpp/weather/report');
  t.equal(overMpp.status, 429);
  t.match(overMpp.headers.get('content-type'), /problem\+json/);

  for (const end of ['1', '2:3', 'ffff']) t.equal((await ask(`2001:db8:1:2::${end}`)).status, 402);
  t.equal((await ask('2001:0db8:0001:0002:9::1')).status, 429, 'who has an IPv6 address has 64 bits of them');
  t.equal((await ask('2001:db8:1:3::1')).status, 402);

  t.equal((await ask('203.0.113.9', '/weather/report', proof)).status, 200, 'who pays is welcome');
  const said = lines.filter((line) => line.includes('a caller is limited')).map((line) => JSON.parse(line));
  t.match(said, [
    { by: 'address', who: '203.0.113.0/24', what: 'unpaid', retryAfter: 20 },
    { by: 'address', who: '2001:db8:1::/48' },
  ]);
  t.equal(said.length, 2, 'not a line for each time');
  t.notMatch(lines.join('\n'), '203.0.113.9');
  later(20_000);
  t.equal((await ask('203.0.113.9')).status, 402);
  t.equal((await ask('203.0.113.9')).status, 429);
});

t.test('a tool call is told the same in the same words', async (t) => {
  const { gateway } = await open(t, 'limits: { address: { unpaidPerMinute: 2 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  for (let times = 0; times < 2; times += 1) await callTool(gateway, 'weather_report', { city: 'Lisbon' });
  const told = await callTool(gateway, 'weather_report', { city: 'Lisbon' });
  t.equal(told.isError, true);
  t.match(told.structuredContent, {
    error: { code: 'rate_limited', message: /^This address asks for too much without paying; nothing was charged/ },
  });
});

t.test('what costs nothing is counted like a price at every door, and what is paid for is not', async (t) => {
  const { gateway, later } = await open(
    t,
    'limits: { address: { unpaidPerMinute: 2 } }\nrefunds: { automatic: true, endpoint: true }',
    { environment: { TURNPIKE_TRUST_PROXY: '0' } },
  );
  const { url } = gateway;
  const tool = (name: string, input: object) => async () =>
    (await callTool(gateway, name, input)).structuredContent?.error;
  const problem = (ask: () => Promise<Response>) => async () => {
    const { status, error } = (await (await ask()).json()) as { status?: number; error?: object };
    return status === 402 ? undefined : error;
  };
  const refund = { x402Version: 2, paymentReference: { txHash: '1'.repeat(64), network: 'eip155:1' }, amount: '1' };
  const signed = JSON.stringify({ ...refund, idempotencyKey: '1', payerSignature: `0x${'11'.repeat(65)}` });
  const json = { 'content-type': 'application/json' };
  const doors = {
    'a list of tools': async () => (await rpc(gateway, 'tools/list')).error?.data,
    'a document over MCP': async () => (await rpc(gateway, 'resources/read', { uri: `${url}/llms.txt` })).error?.data,
    'a search': tool('search_endpoints', {}),
    'a description': tool('describe_endpoint', { name: 'weather_report' }),
    'a quote': tool('quote', { name: 'weather_report', arguments: { city: 'Lisbon' } }),
    'purchases by a tool': tool('purchases', {}),
    purchases: problem(() => fetch(`${url}/v1/purchases`)),
    'a purchase': problem(() => fetch(`${url}/v1/purchases/1`)),
    'a refund': problem(() => fetch(`${url}/v1/refunds`, { method: 'POST', headers: json, body: signed })),
  };
  const city = { city: 'Lisbon' };
  const proof = await signToolPayment(gateway, 'chain-c', await callTool(gateway, 'weather_report', city));
  t.match(await rpc(gateway, 'tools/list'), { status: 429, error: { data: { code: 'rate_limited' } } });
  t.match(receiptIn(await callTool(gateway, 'weather_report', city, proof)), { success: true }, 'who pays is welcome');
  for (const [door, ask] of Object.entries(doors)) {
    later(60_000);
    t.notMatch((await ask()) ?? {}, { code: 'rate_limited' }, door);
    await ask();
    t.match(await ask(), { code: 'rate_limited' }, door);
  }
});

t.test('a long or a dense request counts as the many small ones that it costs, at every door', async (t) => {
  const { gateway, call, later } = await open(t, 'limits: { address: { unpaidPerMinute: 20, refusedPerMinute: 2 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const long = (body: object) => `${JSON.stringify(body).slice(0, -1)}${' '.repeat(400_000)}}`;
  const post =
    (path: string, body: string, headers = {}) =>
    async () => {
      const answer = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body,
      });
      return /rate_limited/.test(await answer.text()) ? 429 : answer.status;
    };
  const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const toolCall = (params: object) => JSON.stringify(message('tools/call', params));
  const tooLong = { name: 'weather_report', arguments: { city: 'w'.repeat(1_050_000) } };
  const search = { query: 'weather', others: Array(4_000).fill('') };
  const forged = forge(await signProof(gateway, 'chain-c', call('Lisbon')));
  for (const [door, ask, told] of [
    ['a long body', post('/weather/report', long({ city: 'Lisbon' })), 402],
    ['a dense body', post('/weather/report', JSON.stringify({ city: Array(4_000).fill('') })), 402],
    ['a payment of nobody', post('/weather/report', long({ city: 'Lisbon' }), forged), 402],
    ['a message', post('/mcp', long(message('ping', {}))), 200],
    ['a call that is too long', post('/mcp', toolCall(tooLong)), 200],
    ['a search', post('/mcp', toolCall({ name: 'search_endpoints', arguments: search })), 200],
  ] as const) {
    t.equal(await ask(), told, door);
    t.equal(await ask(), 429, door);
    later(120_000);
    t.equal(await ask(), told, `${door}, when its time is over`);
    later(120_000);
  }
});

t.test('what comes with a payment that nobody looks at is counted like a price at every door', async (t) => {
  const { gateway, call, provider, later } = await open(t, 'limits: { address: { unpaidPerMinute: 2 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const bought = call('Lisbon');
  const paid = await signProof(gateway, 'chain-c', bought);
  t.equal((await sendProof(bought, paid)).status, 200);
  const forged = forge(paid);
  const [payment] = Object.values(forged).map((header) => JSON.parse(Buffer.from(header, 'base64').toString()));
  const meta = { 'x402/payment': payment };
  const post = (path: string, body: unknown) => async () =>
    (await sendProof(request(gateway, path, body), forged)).status;
  const tool =
    (name: string, input: object, said: object = meta) =>
    async () => {
      const { error } = (await callTool(gateway, name, input, said)).structuredContent ?? {};
      return (error as { code: string } | undefined)?.code;
    };
  const message = (body: string) => async () =>
    (await fetch(`${gateway.url}/mcp`, { method: 'POST', headers: HEADERS, body })).status;
  const city = { city: 'Faro' };
  const twice = { ...meta, 'org.paymentauth/credential': {} };
  const doors = {
    'what costs nothing': [post('/weather/hint', city), 200, 429],
    'a wrong request': [post('/weather/report', { town: 'Faro' }), 400, 429],
    'a wrong call': [tool('weather_report', { town: 'Faro' }), 'invalid_request', 'rate_limited'],
    'a wrong call by its name': [tool('call_endpoint', { tool: 'Faro' }), 'invalid_request', 'rate_limited'],
    'a call that is paid twice': [tool('weather_report', city, twice), 'several_credentials', 'rate_limited'],
    'an unknown tool': [tool('weather_rumour', city), 'unknown_path', 'rate_limited'],
    'a quote of an unknown tool': [tool('quote', { name: 'weather_rumour' }), 'unknown_path', 'rate_limited'],
    'a message that is none': [message('{'), 400, 429],
    'a call of no tool': [
      async () => (await rpc(gateway, 'tools/call', { arguments: city, _meta: meta })).error?.code,
      -32_602,
      -32_000,
    ],
  } as const;
  later(60_000);
  const asked = provider.asked();
  for (const [door, [ask, told, limited]] of Object.entries(doors)) {
    t.same([await ask(), await ask(), await ask()], [told, told, limited], door);
    t.equal(
      (await sendProof(bought, paid)).headers.get('idempotency-replayed'),
      'true',
      'what was bought is still had',
    );
    later(60_000);
  }
  t.equal(provider.asked(), asked + 2);
});

t.test('what was bought or quoted before a change is had, however much its address asked for since', async (t) => {
  const { gateway, call, edit } = await open(t, 'limits: { address: { unpaidPerMinute: 2 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const paid = await signProof(gateway, 'chain-c', call('Faro'));
  t.equal((await sendProof(call('Faro'), paid)).status, 200);
  const quoted = await signProof(gateway, 'chain-c', call('Porto'));
  edit('{ city: Lisbon }', '{ city: Lisboa }');
  edit('maxLength: 80', 'pattern: a$, maxLength: 80');
  await gateway.reload();
  t.equal((await sendProof(call('Braga'), {})).status, 429);
  t.equal((await sendProof(call('Faro'), paid)).headers.get('idempotency-replayed'), 'true');
  t.equal((await sendProof(call('Porto'), quoted)).status, 200);
  t.equal((await sendProof(call('Evora'), forge(paid))).status, 402);
  t.equal((await sendProof(call('Guimarães'), forge(paid))).status, 429);
});

t.test('what is asked or refused once counts once, however many catalogues are still honoured', async (t) => {
  const { gateway, call, edit } = await open(t, 'limits: { address: { unpaidPerMinute: 4, refusedPerMinute: 2 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const bad = forge(await signProof(gateway, 'chain-c', call('Faro')));
  const quoted = await signProof(gateway, 'chain-c', call('Porto'));
  const prices = ['"0.05"', '"0.04"', '"0.03"', '"0.02"'];
  for (const [place, price] of prices.slice(1).entries()) {
    edit(prices[place] ?? '', price);
    await gateway.reload();
  }
  t.equal((await sendProof(call('Faro'), bad)).status, 402);
  t.equal((await sendProof(call('Porto'), quoted)).status, 200, 'a good one is not told to wait for a bad one');
  const other = { authorization: 'Bearer of something else' };
  const asks = async () => (await sendProof(call('Evora'), other)).status;
  t.same([await asks(), await asks(), await asks()], [402, 402, 429]);
});

t.test(
  'X-Forwarded-For is not believed of who is no proxy, and an address inside is nobody unless that is said',
  async (t) => {
    const asks = async (environment: Readonly<Record<string, string>>) => {
      const { call } = await open(t, 'limits: { address: { unpaidPerMinute: 3 } }', { environment });
      const { url, init } = call('Lisbon');
      const statuses: number[] = [];
      for (let at = 0; at < 6; at += 1) {
        const headers = { ...(init.headers as Record<string, string>), 'x-forwarded-for': `203.0.113.${at}` };
        statuses.push((await fetch(url, { ...init, headers })).status);
      }
      return statuses;
    };
    const stopped = [402, 402, 402, 429, 429, 429];
    t.same(await asks({ TURNPIKE_TRUST_PROXY: '10.0.0.0/8' }), stopped);
    t.same(await asks({ TURNPIKE_TRUST_PROXY: '0' }), stopped);
    t.same(await asks({ TURNPIKE_TRUST_PROXY: 'loopback' }), Array(6).fill(402), 'six callers behind a proxy');
    t.same(await asks({}), Array(6).fill(402), 'most likely a proxy: nobody is shut out for it');
  },
);

t.test(
  'an address of bad proofs is stopped before they are looked at, and what was bought there is still had',
  async (t) => {
    const { gateway, call, provider } = await open(t, 'limits: { address: { refusedPerMinute: 3 } }', {
      environment: { TURNPIKE_TRUST_PROXY: '0' },
    });
    const bought = call('Lisbon');
    const paid = await signProof(gateway, 'chain-c', bought);
    t.equal((await sendProof(bought, paid)).status, 200);
    const good = await signProof(gateway, 'chain-c', call('Porto'));
    const bad = async () => forge(await signProof(gateway, 'chain-c', call('Faro')));
    for (let times = 0; times < 3; times += 1) t.equal((await sendProof(call('Faro'), await bad())).status, 402);
    t.match(await problemOf(await sendProof(call('Faro'), await bad())), { status: 429, retryAfter: 20 });
    t.equal((await sendProof(call('Porto'), good)).status, 429, 'a good one waits, and is not charged');
    const again = await sendProof(bought, paid);
    t.equal(again.status, 200);
    t.equal(again.headers.get('idempotency-replayed'), 'true');
    t.equal(provider.asked(), 1);
  },
);

t.test('a proof of a wallet that is not good counts as a payment that is not, at every door', async (t) => {
  const { gateway, later } = await open(t, 'limits: { address: { refusedPerMinute: 2 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const bad = Buffer.from('{}').toString('base64');
  const get = (path: string) => async () =>
    (await fetch(`${gateway.url}${path}`, { headers: { 'sign-in-with-x': bad } })).status;
  const tool = async () => {
    const { error } = (await callTool(gateway, 'purchases', { proof: bad })).structuredContent ?? {};
    return (error as { code: string }).code;
  };
  for (const [ask, told, limited] of [
    [get('/v1/purchases'), 400, 429],
    [get('/v1/purchases/1'), 400, 429],
    [tool, 'invalid_request', 'rate_limited'],
  ] as const) {
    t.same([await ask(), await ask(), await ask()], [told, told, limited]);
    t.equal((await fetch(`${gateway.url}/v1/purchases`)).status, 402, 'what has to be signed is still told');
    later(60_000);
  }
});

t.test('a payment that bought nothing and is not good any more counts as any bad one, each time', async (t) => {
  const { gateway, call, later } = await open(t, 'limits: { address: { refusedPerMinute: 3 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const atlantis = call('Atlantis');
  const proof = await signProof(gateway, 'chain-c', atlantis);
  t.equal((await sendProof(atlantis, proof)).status, 400);
  later(3_600_000);
  for (let times = 0; times < 3; times += 1) t.equal((await sendProof(atlantis, proof)).status, 402);
  t.match(await problemOf(await sendProof(atlantis, proof)), { status: 429, retryAfter: 20 });
});

t.test('copies of a payment that the chain shows count as any bad ones, each time', async (t) => {
  const { gateway, call } = await open(t, 'limits: { address: { refusedPerMinute: 3 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const bought = call('Lisbon');
  const paid = await signProof(gateway, 'chain-c', bought);
  t.equal((await sendProof(bought, paid)).status, 200);
  const [[name, value] = ['', '']] = Object.entries(paid);
  const payment = JSON.parse(Buffer.from(value, 'base64').toString());
  payment.payload.signature = `0x${'11'.repeat(64)}1b`;
  const copy = { [name]: Buffer.from(JSON.stringify(payment)).toString('base64') };
  for (let times = 0; times < 3; times += 1) t.equal((await sendProof(bought, copy)).status, 402);
  t.match(await problemOf(await sendProof(bought, copy)), { status: 429, retryAfter: 20 });
  t.equal((await sendProof(call('Porto'), paid)).status, 429, 'nor is it asked with for something else without end');
  const again = await sendProof(bought, paid);
  t.equal(again.headers.get('idempotency-replayed'), 'true', 'what it bought is still had');
});

t.test(
  'a payer whose payments never settle is worked for twice and tried a few times, however often it comes',
  async (t) => {
    const port = await freePort();
    const { gateway, call, provider } = await open(t, 'limits: { payer: { wastedPerHour: 6 } }', {
      environment: { TURNPIKE_ADMIN_PORT: String(port) },
    });
    await gateway.fault({ settlement: 'chain-c', fault: 'refuse', count: 1_000 });
    const before = await gateway.spendable('chain-c');
    let tried = 0;
    const pay = async (city = `city ${tried}`) => {
      tried += 1;
      return problemOf(await payV2(gateway, 'chain-c', call(city)));
    };
    for (let times = 0; times < 6; times += 1) t.equal((await pay()).status, 402);
    t.equal(provider.asked(), 2, 'after two losses its payments settle first');
    for (let times = 0; times < 94; times += 1) t.match(await pay(), { status: 429, code: 'rate_limited' });
    t.match(await pay(), {
      status: 429,
      message:
        /^Too many calls or settlements of this payer came to nothing, or to less than they cost; nothing was charged: come back in 600 s/,
    });
    t.equal(provider.asked(), 2);
    t.equal(await gateway.spendable('chain-c'), before);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    t.match(metrics, /turnpike_limited_total\{by="payer",what="wasted"\} 9\d/);
    t.notMatch(metrics, /0x[0-9a-f]{40}/i);
  },
);

t.test('refusable content cannot be paid and given back without end, nor be asked for without end', async (t) => {
  const terms = 'limits: { payer: { wastedPerHour: 2, failedPerMinute: 2 } }';
  for (const [settles, service] of [
    ['first', `refunds: automatic\nexposure: { settleUpfront: { above: "0" } }\n${terms}`],
    ['after the work', terms],
  ] as const) {
    const { gateway, call, provider } = await open(t, service);
    for (const at of [1, 2]) t.not((await payV2(gateway, 'chain-c', call(`Atlantis ${at}`))).status, 200);
    const before = await gateway.calls();
    t.match(await problemOf(await payV2(gateway, 'chain-c', call('Atlantis 3'))), { status: 429 }, settles);
    t.equal(provider.asked(), 2);
    t.equal((await gateway.calls()).settlementCount, before.settlementCount);
  }
});

t.test('a payer has no more calls under way than it may, and others have theirs', async (t) => {
  const { gateway, call, provider } = await open(t, 'limits: { payer: { underWay: 2 } }');
  const release = provider.hold();
  const calls = ['Lisbon', 'Porto', 'Faro'].map(call);
  const proofs = await Promise.all(calls.map((each) => signProof(gateway, 'chain-c', each)));
  const send = (at: number) => sendProof(calls[at] ?? call(''), proofs[at] ?? {});
  const under = [send(0), send(1)];
  while (provider.asked() < 2) await new Promise(setImmediate);
  t.match(await problemOf(await send(2)), { status: 429, retryAfter: 1, message: /2 calls under way/ });
  release();
  for (const answer of await Promise.all(under)) t.equal(answer.status, 200);
  t.equal((await send(2)).status, 200, 'the same payment, for it was not touched');
});

t.test('copies of a call that is worked on wait for it within what their address may have under way', async (t) => {
  const { gateway, call, provider } = await open(t, 'limits: { address: { underWay: 3 } }', PROXIED);
  const release = provider.hold();
  const lisbon = call('Lisbon');
  const proof = await signProof(gateway, 'chain-c', lisbon);
  const ended: number[] = [];
  const from = async (address: string) => {
    const answer = await sendProof(lisbon, { ...proof, 'x-forwarded-for': address });
    ended.push(answer.status);
    return answer;
  };
  const first = from('203.0.113.1');
  while (provider.asked() < 1) await new Promise(setImmediate);
  const copies = Array.from({ length: 20 }, () => from('203.0.113.1'));
  // The clock of the gateway stands still: whoever waits does so until the work is done.
  while (ended.length < 18) await new Promise(setImmediate);
  t.same(new Set(ended), new Set([409]));
  release();
  const statuses = (await Promise.all([first, ...copies])).map(({ status }) => status);
  t.equal(statuses.filter((status) => status === 200).length, 3, 'the call, and two that waited for it');
  t.equal((await from('203.0.113.1')).status, 200, 'what was bought is had again');
  t.equal(provider.asked(), 1);
});

t.test('an API key has no more calls under way than it may, and who tries keys is stopped', async (t) => {
  const provider = await startProvider(t);
  const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
  copySelling(['credits/credits', 'llm/vendor3-5.6-luna'], catalogue);
  appendFileSync(
    join(catalogue, 'service.yaml'),
    '\nlimits: { payer: { underWay: 1 }, address: { refusedPerMinute: 3 } }\n',
  );
  const gateway: Gateway = await startGateway({
    catalogue,
    networks: ['chain-c'],
    now: stoppedClock(),
    upstreams: { chat: provider.url },
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  t.teardown(gateway.stop);
  const { apiKey = '' } = gateway.state as { apiKey?: string };
  const chat = (key: string) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }),
    });
  const release = provider.hold();
  const first = chat(apiKey);
  while (provider.asked() < 1) await new Promise(setImmediate);
  const refused = await chat(apiKey);
  t.equal(refused.headers.get('retry-after'), '1');
  t.match(await refused.json(), { error: { code: 'rate_limited', type: 'rate_limit_error' } });
  release();
  await first;
  t.not((await chat(apiKey)).status, 429);
  for (let times = 0; times < 3; times += 1) t.equal((await chat(`tp_${times}`)).status, 401);
  t.equal((await chat('tp_4')).status, 429);
});

/** A model and the credits for it, and keys by which it is called. */
async function sellChat(t: Test, unpaidPerMinute: number, upstreams: Readonly<Record<string, string>> = {}) {
  const catalogue = join(t.testdir({ catalogue: {} }), 'catalogue');
  copySelling(['credits/credits', 'llm/vendor3-5.6-luna'], catalogue);
  appendFileSync(join(catalogue, 'service.yaml'), `\nlimits: { address: { unpaidPerMinute: ${unpaidPerMinute} } }\n`);
  const gateway = await startGateway({
    catalogue,
    networks: ['chain-c'],
    now: stoppedClock(),
    upstreams,
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  t.teardown(gateway.stop);
  const store = await openStore({ file: join(gateway.directory, 'turnpike.sqlite') });
  t.teardown(() => store.close());
  return { gateway, keys: openApiKeys({ store: store.credits, mode: 'sandbox', now: Date.now }) };
}

t.test('what costs a key nothing is counted as a request without a payment, and a call is not', async (t) => {
  const provider = await startProvider(t);
  const { gateway, keys } = await sellChat(t, 3, { chat: provider.url });
  const { apiKey } = await keys.create({ label: 'good', credit: 1_000_000n });
  const { apiKey: bounded } = await keys.create({ label: 'bounded', credit: 1_000_000n, limits: { perDay: 1n } });
  const headers = (key: string) => ({ authorization: `Bearer ${key}` });
  const credits = async () => (await fetch(`${gateway.url}/v1/credits`, { headers: headers(apiKey) })).status;
  const chat = async (key: string, max_tokens: number) => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const body = JSON.stringify({ model: 'vendor3-5.6-luna', messages, max_tokens });
    const init = { method: 'POST', headers: headers(key), body };
    return problemOf(await fetch(`${gateway.url}/v1/chat/completions`, init));
  };
  t.equal(await credits(), 200);
  t.match(await chat(apiKey, 0), { status: 400 });
  t.match(await chat(bounded, 50), { status: 429, code: 'daily_limit_exceeded' });
  t.match(await chat(apiKey, 0), { status: 429, code: 'rate_limited' });
  t.match(await chat(bounded, 50), { status: 429, code: 'rate_limited' });
  t.equal(await credits(), 429);
  t.match(await chat(apiKey, 50), { status: 200 });
  t.equal(provider.asked(), 1);
});

t.test('calls that a key cannot pay ask for a price, and are counted like any other', async (t) => {
  const { gateway, keys } = await sellChat(t, 2);
  const { apiKey } = await keys.create({ label: 'poor' });
  const chat = async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }),
    });
    return { offers: answer.headers.has('payment-required'), ...(await problemOf(answer)) };
  };
  for (let times = 0; times < 2; times += 1) t.match(await chat(), { status: 402, offers: true });
  t.match(await chat(), { status: 429, code: 'rate_limited', retryAfter: 30 });
});

t.test('a clock that was ahead and is set right keeps nobody out who called meanwhile', async (t) => {
  const { call, later } = await open(t, 'limits: { address: { unpaidPerMinute: 10 } }', {
    environment: { TURNPIKE_TRUST_PROXY: '0' },
  });
  const ask = async () => {
    const { url, init } = call('Lisbon');
    return (await fetch(url, init)).status;
  };
  t.equal(await ask(), 402);
  later(-2 * 3_600_000);
  await ask();
  later(120_000);
  for (let times = 0; times < 10; times += 1) t.equal(await ask(), 402, 'all of it is there after two minutes');
  t.equal(await ask(), 429);
});
