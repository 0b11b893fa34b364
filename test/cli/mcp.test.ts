import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { catalogueOf } from '../few-endpoints.ts';
import { freePort } from '../free-port.ts';
import { startGateway } from '../gateway.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { commandOf, openFirstMcp, openMcp, speakToMcp, startFirstMcp, startMcp } from './mcp-client.ts';

const IMAGE = 'image_family-e-2';
const PICTURE = { prompt: 'a lighthouse in fog', resolution: '2k' };
const PRICE = 100_000n;
const ON_C = ['--network', 'chain-c'];

// Clients of the protocol compile what every tool answers.
const gateway = await startGateway({ catalogue: catalogueOf(t, ['audio', 'image', 'stock']) });
t.teardown(gateway.stop);
const { url, state } = gateway;
const keys = [...Object.values(state.evm).map(({ privateKey }) => privateKey), state.solana?.secretKey ?? ''];

/** What moved to the gateway meanwhile, in atomic units. */
async function moved(network: string, work: () => Promise<unknown>): Promise<bigint> {
  const before = await gateway.earned(network);
  await work();
  return (await gateway.earned(network)) - before;
}

for (const mode of ['auto', 'legacy'] as const) {
  t.test(`a client that knows of no payments buys a picture (${mode})`, async (t) => {
    const { client, call, said, saying } = await startMcp(t, { url, data: t.testdir({}), words: ON_C }, mode);
    const { tools } = await client.listTools();
    t.ok(tools.some(({ name }) => name === IMAGE));
    t.match(client.getInstructions(), /Calls of paid tools are paid for you, up to 0\.1 USD a call and 1 USD a day/);
    const paid = await moved('chain-c', async () => {
      const { structuredContent, _meta } = await call(IMAGE, PICTURE);
      t.match(structuredContent, { image_url: /^http/, image_description: PICTURE.prompt });
      t.match(_meta, { 'x402/payment-response': { success: true, network: state.evm['chain-c']?.caip2 } });
    });
    t.equal(paid, PRICE);
    await saying(/^image_family-e-2: 0\.1 USD on chain-c, transaction 0x[0-9a-f]{64}, 0\.9 USD left today$/m);
    t.match(said(), /play money/);
    for (const key of keys) t.notOk(said().includes(key), 'the key is not printed');

    const { resources } = await client.listResources();
    const [document] = (await client.readResource({ uri: resources[0]?.uri ?? '' })).contents;
    t.match(document, { uri: resources[0]?.uri, text: /./ });
    t.match(await client.getPrompt({ name: 'buy', arguments: { task: 'a picture' } }), {
      messages: [{ role: 'user' }],
    });
    await t.rejects(client.getPrompt({ name: 'sell' }), { code: -32_602, message: /no prompt sell/ });
  });
}

t.test('a client of an earlier revision is answered in the kinds of content that it knows', async (t) => {
  for (const [mode, revision, blocks] of [
    ['auto', '2026-07-28', ['text', 'resource_link']],
    ['2025-06-18', '2025-06-18', ['text', 'resource_link']],
    ['2024-11-05', '2024-11-05', ['text']],
  ] as const) {
    const { client, call } = await openMcp(t, { url, data: t.testdir({}), words: ON_C }, mode);
    t.equal(client.getNegotiatedProtocolVersion(), revision);
    const { content } = await call('audio_x-text-to-speech', { text: 'Fog', voice_id: 'Eve' });
    t.same(
      content.map(({ type }) => type),
      blocks,
    );
  }
});

t.test('a client of the first generation buys on Solana, through the tool that calls any other', async (t) => {
  const { client, call } = await startFirstMcp(t, {
    url,
    data: t.testdir({}),
    words: ['--network', 'chain-a', '--tools', 'search,image'],
  });
  const { tools } = await client.listTools();
  t.same(
    tools
      .map(({ name }) => name.split('_')[0])
      .filter((group) => !['search', 'describe', 'call', 'quote', 'purchases'].includes(group ?? '')),
    tools.filter(({ name }) => name.startsWith('image_')).map(() => 'image'),
  );
  const paid = await moved('chain-a', async () => {
    const { structuredContent } = await call('call_endpoint', { name: IMAGE, arguments: PICTURE });
    t.match(structuredContent, { image_url: /^http/ });
  });
  t.equal(paid, PRICE);
});

t.test('a client whose model reads text alone is answered in text', async (t) => {
  const { call } = await openMcp(t, { url, data: t.testdir({}), words: [...ON_C, '--content', 'text'] });
  const { content, structuredContent } = await call(IMAGE, { ...PICTURE, prompt: 'fog in words' });
  t.same(content, [{ type: 'text', text: JSON.stringify(structuredContent) }]);
});

t.test('what costs more than the limit, or is wrong, is not paid, and the answer says so', async (t) => {
  const { call } = await openFirstMcp(t, { url, data: t.testdir({}), words: [...ON_C, '--max', '0.09'] });
  const paid = await moved('chain-c', async () => {
    t.match(await call(IMAGE, PICTURE), {
      isError: true,
      text: /costs 0\.1 USD, and the limit for one call is 0\.09 USD.*Nothing was paid/,
      structuredContent: { x402Version: 2 },
    });
    t.match(await call(IMAGE, { prompt: 'fog', size: 'big' }), {
      isError: true,
      structuredContent: { invalidParams: [{ path: '/size' }] },
    });
  });
  t.equal(paid, 0n);
});

t.test('two processes at once spend no more than one budget, and a third still knows', async (t) => {
  const started = { url, data: t.testdir({}), words: [...ON_C, '--budget', '0.25'] };
  const paid = await moved('chain-c', async () => {
    const both = [await startMcp(t, started), await startMcp(t, started)];
    const calls = both.flatMap(({ call }) => [call(IMAGE, PICTURE), call(IMAGE, { ...PICTURE, prompt: 'fog' })]);
    const refused = (await Promise.all(calls)).filter(({ isError }) => isError);
    t.equal(refused.length, 2);
    for (const { text } of refused)
      t.match(text, /costs 0\.1 USD, and 0\.05 USD is left of the day's budget of 0\.25 USD.*Nothing was paid/);
    const { call, told } = await openMcp(t, started);
    t.match(told(), /0\.05 USD left today/);
    t.match(await call(IMAGE, PICTURE), { isError: true, text: /0\.05 USD is left/ });
  });
  t.equal(paid, 2n * PRICE);
});

t.test('an answer that was lost is had with the same payment: one charge', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const { call, told } = await openMcp(t, { url: proxy.url, data: t.testdir({}), words: ON_C });
  for (const cut of ['at once', 'in the stream'] as const) {
    proxy.cuts.push(cut);
    proxy.payments.length = 0;
    const paid = await moved('chain-c', async () => {
      const { structuredContent, _meta } = await call(IMAGE, PICTURE);
      t.match(structuredContent, { image_url: /^http/ });
      t.match(_meta, { 'turnpike/replayed': true });
    });
    t.equal(paid, PRICE, cut);
    t.equal(proxy.payments.length, 2);
    t.equal(new Set(proxy.payments).size, 1, 'the same payment');
  }
  t.match(told(), /the same payment is sent again/);
});

t.test('an answer that is lost again and again is had by asking for the same once more', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const { call } = await openMcp(t, { url: proxy.url, data: t.testdir({}), words: ON_C });
  proxy.cuts.push('at once', 'at once', 'at once', 'at once');
  const paid = await moved('chain-c', async () => {
    t.match(await call(IMAGE, PICTURE), { isError: true, text: /may have been charged.*same arguments again/ });
    t.match(await call(IMAGE, { resolution: PICTURE.resolution, prompt: PICTURE.prompt }), {
      structuredContent: { image_url: /^http/ },
    });
  });
  t.equal(paid, PRICE);
  t.equal(new Set(proxy.payments).size, 1);
  t.equal(proxy.payments.length, 5);
});

t.test('of the page that a proxy answers a model is told the status, and nothing of it', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const { call, client, told } = await openMcp(t, { url: proxy.url, data: t.testdir({}), words: ON_C });
  proxy.cuts.push('by a page');
  t.match(await call(IMAGE, PICTURE), { structuredContent: { image_url: /^http/ } });
  t.match(told(), /^image_family-e-2: it answered 502 Bad Gateway; the same payment is sent again$/m);
  proxy.cuts.push('by a page', 'by a page', 'by a page', 'by a page');
  const open = await call(IMAGE, { prompt: 'a lighthouse at noon' });
  t.match(open.text, /^image_family-e-2 has no answer yet: it answered 502 Bad Gateway\. 0\.06 USD was signed/);
  proxy.isDown = true;
  t.equal(
    (await call(IMAGE, PICTURE)).text,
    `image_family-e-2 was not called: ${proxy.url} cannot be reached (it answered 502 Bad Gateway). Nothing was paid.`,
  );
  await t.rejects(client.listTools(), {
    message: `${proxy.url} cannot be reached (it answered 502 Bad Gateway)`,
    data: undefined,
  });
});

t.test('a client that gave up finds its answer by asking for the same once more', async (t) => {
  const proxy = await startCuttingProxy(t, url);
  const { call } = await openMcp(t, { url: proxy.url, data: t.testdir({}), words: ON_C });
  const hold = proxy.gate.holdNext();
  const leaving = new AbortController();
  const paid = await moved('chain-c', async () => {
    const left = t.rejects(call(IMAGE, PICTURE, { signal: leaving.signal }));
    await hold.reached;
    leaving.abort();
    await left;
    t.match(await call(IMAGE, PICTURE), { structuredContent: { image_url: /^http/ } });
    hold.release();
  });
  t.equal(paid, PRICE);
  t.equal(new Set(proxy.payments).size, 1);
});

t.test('a client whose word that it gave up crosses its answer has it by asking for the same once more', async (t) => {
  const data = t.testdir({});
  const first = await speakToMcp(t, { url, data, words: ON_C });
  const paid = await moved('chain-c', async () => {
    const answer = await first.call(1, IMAGE, PICTURE);
    await first.tell('notifications/cancelled', { requestId: 1, reason: 'it took too long' });
    const again = await first.call(2, IMAGE, PICTURE);
    t.match(again, { structuredContent: answer.structuredContent, _meta: { 'turnpike/replayed': true } });
    await first.tell('notifications/cancelled', { requestId: 2 });
    await first.close();
    const next = await openMcp(t, { url, data, words: ON_C });
    t.match(await next.call(IMAGE, PICTURE), { structuredContent: answer.structuredContent }, 'also of a next process');
    await next.close();
  });
  t.equal(paid, PRICE);
});

t.test('a client that has gone on since has had its answer, whatever it says of leaving', async (t) => {
  const { call, tell, close } = await speakToMcp(t, { url, data: t.testdir({}), words: ON_C });
  await call(1, IMAGE, PICTURE);
  await call(2, IMAGE, { ...PICTURE, prompt: 'a lighthouse at noon' });
  await tell('notifications/cancelled', { requestId: 1, reason: 'all is over' });
  const another = await call(3, IMAGE, PICTURE);
  t.match(another, { structuredContent: { image_url: /^http/ }, _meta: { 'turnpike/replayed': undefined } });
  await close();
});

t.test('a call that failed uncharged gives its room in the budget back', async (t) => {
  const { call } = await openMcp(t, { url, data: t.testdir({}), words: [...ON_C, '--budget', '0.1'] });
  await gateway.fault({ upstream: 'predictions', fault: '500', count: 10 });
  const paid = await moved('chain-c', async () => {
    t.match(await call(IMAGE, PICTURE), { isError: true, structuredContent: { error: { code: 'upstream_failed' } } });
  });
  t.equal(paid, 0n);
  await gateway.fault({ upstream: 'predictions', fault: '500', count: 0 });
  t.equal(await moved('chain-c', () => call(IMAGE, PICTURE)), PRICE);
});

t.test('nothing but the protocol goes to standard output, and no key to either', async (t) => {
  const { command, args, env } = commandOf({ url, data: t.testdir({}), words: ON_C });
  const child = spawn(command, args, { env });
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk));
  child.stderr.on('data', (chunk: Buffer) => (output.err += chunk));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'plain', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: IMAGE, arguments: PICTURE } });
  while (!/"id":2/.test(output.out)) await once(child.stdout, 'data');
  const ended = once(child, 'close');
  child.stdin.end();
  t.same(await ended, [0, null], 'it ends with its client');
  const messages = output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.ok(messages.every(({ jsonrpc }) => jsonrpc === '2.0'));
  for (const key of keys) t.notOk((output.out + output.err).includes(key));
});

t.test('where nothing answers, or a network is not known, it says what to do', async (t) => {
  const { command, args, env } = commandOf({ url: `http://127.0.0.1:${await freePort()}`, data: t.testdir({}) });
  const ran = await new Promise<{ out: string; err: string }>((resolve) => {
    execFile(command, args, { env }, (_error, out, err) => resolve({ out, err }));
  });
  t.match(ran, {
    out: '',
    err: /^no MCP server answers at http:\/\/127\.0\.0\.1:\d+\/mcp \(.*ECONNREFUSED.*start the gateway/,
  });
  const data = t.testdir({});
  await t.rejects(openMcp(t, { url, data, words: ['--network', 'chain-x'] }), {
    message: /^--network chain-x is not known: take chain-a \(solana:\w+\), chain-c \(eip155:84532\)$/,
  });
  await t.rejects(openMcp(t, { url, data, words: ['--tools', 'nonsense'] }), {
    message: /tools=nonsense is not known here: take search, /,
  });
});
