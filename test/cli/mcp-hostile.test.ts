import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { recoverTypedDataAddress } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { exactInput } from '../../src/cli/mcp/exact-input.ts';
import { pouring } from '../client/pouring.ts';
import { TRANSFER_TYPES } from '../transfer-types.ts';
import { startHostileGateway } from './hostile-gateway.ts';
import { commandOf, openMcp, startMcp } from './mcp-client.ts';

const key = generatePrivateKey();
const payer = privateKeyToAddress(key);
const payTo = privateKeyToAddress(generatePrivateKey());

/** Dollars on Base, as the catalogue that is shipped knows them. */
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const honest = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '50000',
  asset: USDC,
  payTo,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
};

const open = async (t: Test, words: readonly string[] = []) => {
  const gateway = await startHostileGateway(t);
  const environment = { TURNPIKE_WALLET_EVM: key };
  const mcp = await openMcp(t, { url: gateway.url, data: t.testdir({}), words, environment }, 'auto');
  return { gateway, ...mcp };
};

const refused: Readonly<Record<string, object>> = {
  'an asset of 18 decimals that nobody knows': {
    ...honest,
    asset: payTo,
    extra: { name: 'Dollar', version: '1', decimals: 18 },
  },
  'an asset of a chain that nobody knows': { ...honest, network: 'eip155:1' },
  'an asset of the sandbox': {
    ...honest,
    network: 'eip155:84532',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
  'more than the limit in smallest units': { ...honest, amount: '100001' },
  'an amount with other words for it': { ...honest, amount: '50000000', price: '0.05', maxAmountRequired: '50000' },
  'an amount in hexadecimal': { ...honest, amount: '0x10' },
  'an amount with an exponent': { ...honest, amount: '1e3' },
  'an amount below nothing': { ...honest, amount: '-1' },
  'an amount that is a number': { ...honest, amount: 50_000 },
  'nothing at all': { ...honest, amount: '0' },
  'a scheme that leaves the amount open': { ...honest, scheme: 'upto' },
  'a permit in place of a transfer': { ...honest, extra: { ...honest.extra, assetTransferMethod: 'permit2' } },
  'a recipient that is none': { ...honest, payTo: '0x1' },
  'an authorization without an end': { ...honest, maxTimeoutSeconds: null },
  'dollars on Solana, where there is no key': {
    ...honest,
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  },
};

t.test('whatever a gateway asks for beyond known dollars within the limits, nothing is signed', async (t) => {
  const gateway = await startHostileGateway(t);
  const data = t.testdir({});
  const { call, said } = await startMcp(
    t,
    { url: gateway.url, data, environment: { TURNPIKE_WALLET_EVM: key } },
    'auto',
  );
  for (const [what, offer] of Object.entries(refused)) {
    gateway.accepts = [offer];
    t.match(await call('x', {}), { isError: true, text: /not paid.*Nothing was (signed|paid)/ }, what);
  }
  gateway.accepts = [];
  t.match(await call('x', {}), { isError: true, text: /not paid/ }, 'no offer');
  t.same(gateway.payments, []);
  t.same(readdirSync(join(data, 'spending')), [], 'nothing was counted');
  t.notOk(said().includes(key) || said().includes(key.slice(2)), 'the key is not printed');
});

t.test('what is signed is the known token, for the amount and the time that were agreed', async (t) => {
  const { gateway, call } = await open(t);
  gateway.answer = { content: [{ type: 'text', text: 'here' }] };
  gateway.accepts = [
    { ...honest, maxTimeoutSeconds: 10 ** 9, extra: { name: 'Another Coin', version: '9', chainId: 1 } },
  ];
  t.match(await call('x', {}), { text: 'here' });
  const [payment] = gateway.payments;
  const { from, to, value, validAfter, validBefore, nonce } = payment?.payload.authorization ?? {};
  t.match({ from, to, value }, { from: payer, to: payTo, value: honest.amount });
  t.ok(Number(validBefore) <= Date.now() / 1000 + 900, 'it ends within 15 minutes');
  const signer = await recoverTypedDataAddress({
    domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: USDC },
    types: TRANSFER_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: payer,
      to: payTo,
      value: BigInt(value ?? ''),
      validAfter: BigInt(validAfter ?? ''),
      validBefore: BigInt(validBefore ?? ''),
      nonce: nonce as `0x${string}`,
    },
    signature: payment?.payload.signature ?? '0x',
  });
  t.equal(signer, payer);
});

t.test('a gateway that refuses what it keeps costs at most a second budget', async (t) => {
  const { gateway, call } = await open(t, ['--budget', '0.1']);
  gateway.accepts = [honest];
  const answers = [];
  for (let asked = 0; asked < 6; asked += 1) answers.push((await call('x', { asked })).text);
  t.equal(gateway.payments.length, 4);
  t.match(answers[0], /refused the payment of x: Payment required\. It says that nothing was charged/);
  t.match(answers[5], /costs 0\.05 USD, and 0 USD is left/);
});

t.test(
  'an error that does not say that nothing was charged leaves the payment counted, and is paid once',
  async (t) => {
    const { gateway, call } = await open(t, ['--budget', '0.05']);
    gateway.accepts = [honest];
    const error = { code: 'result_owed', message: 'Paid, but no result yet' };
    gateway.answer = { isError: true, structuredContent: { error }, content: [] };
    t.match(await call('x', {}), { isError: true, text: /may have been charged/ });
    t.match(await call('x', { other: true }), { isError: true, text: /0 USD is left/ });
    gateway.answer = { content: [{ type: 'text', text: 'here' }] };
    t.match(await call('x', {}), { text: 'here' });
    t.equal(gateway.payments.length, 2);
    t.same(gateway.payments[0], gateway.payments[1]);
  },
);

t.test('nothing is paid that would have to be given back and kept by the mebibyte', async (t) => {
  const { gateway, call } = await open(t);
  const long = { ...honest, extra: { ...honest.extra, more: 'x'.repeat(1024 * 1024) } };
  gateway.accepts = [long];
  const answer = await call('x', {});
  t.match(answer, { isError: true, text: /^x was not paid: .*longer than 128 KiB.* Nothing was signed/ });
  t.notMatch(JSON.stringify(answer), 'xxx');
  t.same(gateway.payments, []);
  gateway.accepts = [{ ...honest, extra: { ...honest.extra, more: 'x'.repeat(100 * 1024) } }];
  gateway.answer = { content: [{ type: 'text', text: 'here' }] };
  t.match(await call('x', {}), { text: 'here' });
});

t.test('an answer without an end is not read for ever', async (t) => {
  const { gateway, call } = await open(t);
  const most = 96 * 1024 * 1024;
  const whole = pouring('x', 200, 'application/json', '"');
  gateway.onRequest = whole.pour;
  t.match(await call('x', {}), { isError: true, text: /x was not called: .*longer than 64 MiB.* Nothing was paid/ });
  t.ok(whole.poured.bytes < most);
  const streamed = pouring('x', 200, 'text/event-stream', 'data: "');
  gateway.onRequest = streamed.pour;
  await t.rejects(call('x', {}), /broke off before the answer/);
  t.ok(streamed.poured.bytes < most);
});

t.test('who says without an end that it is a sandbox is not listened to for ever', async (t) => {
  const gateway = await startHostileGateway(t);
  const most = 96 * 1024 * 1024;
  const { poured, pour } = pouring('x', 200, 'application/json', '"');
  gateway.onSandbox = (response) => {
    // Who reads on has failed, and need not fill this machine.
    response.on('drain', () => poured.bytes > most && response.destroy());
    pour(response);
  };
  await t.rejects(openMcp(t, { url: gateway.url, data: t.testdir({}) }), /longer than 64 MiB/);
  t.ok(poured.bytes < most);
});

t.test('what is answered with nothing, or with an answer to something else, has its end', async (t) => {
  const { gateway, call } = await open(t);
  gateway.onRequest = (response) => response.writeHead(202).end();
  await t.rejects(call('x', {}), /it was taken, and not answered/);
  gateway.onRequest = (response) => response.writeHead(202, { 'content-type': 'text/event-stream' }).end();
  await t.rejects(call('x', {}), /it was taken, and not answered/, 'whatever it says that it is');
  const error = { code: -32_600, message: 'Too busy' };
  gateway.onRequest = (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 'another', error }));
  await t.rejects(call('x', {}), /it was taken, and not answered/);
});

t.test('a stream is waited for in whatever letters it is called one', async (t) => {
  const { gateway, call } = await open(t);
  gateway.onRequest = async (response, request) => {
    const { id } = JSON.parse(await text(request));
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'here' }] };
    response
      .writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' })
      .end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
  };
  t.match(await call('x', {}), { text: 'here' });
});

t.test('a stream that is to be taken up again and again ends its call', async (t) => {
  const { gateway, call } = await open(t);
  const most = 100;
  let asked = 0;
  gateway.onRequest = (response) => {
    asked += 1;
    if (asked > most) return void response.destroy();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`id: ${asked}\nretry: 0\ndata:\n\n`);
  };
  await t.rejects(call('x', {}), /broke off before the answer/);
  t.equal(asked, 1);
});

t.test('without a wallet the price is passed on, as are progress and the payment of a client that pays', async (t) => {
  const gateway = await startHostileGateway(t);
  const { client, call, told } = await openMcp(t, { url: gateway.url, data: t.testdir({}) });
  gateway.accepts = [honest];
  t.match(await call('x', {}), { isError: true, text: 'pay 0.01 USD', structuredContent: { accepts: [honest] } });
  t.match(told(), /no wallet[\s\S]*TURNPIKE_WALLET_EVM/);
  const progress: number[] = [];
  let end = () => {};
  gateway.slowEnds = new Promise((resolve) => {
    end = resolve;
  });
  const onprogress = (each: { progress: number }) => {
    progress.push(each.progress);
    if (progress.length === 2) end();
  };
  t.match(await call('slow', {}, { onprogress }), { text: 'done' });
  t.same(progress, [1, 2]);
  gateway.answer = { content: [{ type: 'text', text: 'here' }] };
  const own = { payload: { authorization: {}, signature: '0x1' }, accepted: honest };
  await client.callTool({ name: 'x', arguments: {}, _meta: { 'x402/payment': own } });
  t.same(gateway.payments, [own]);
});

t.test('of a payment that was passed on nobody says that nothing was paid', async (t) => {
  const gateway = await startHostileGateway(t);
  const { client, call } = await openMcp(t, { url: gateway.url, data: t.testdir({}) });
  gateway.isGone = true;
  t.match(await call('x', {}), { isError: true, text: /x was not called: .*cannot be reached.*Nothing was paid/ });
  for (const name of ['x402/payment', 'org.paymentauth/credential']) {
    const answer = await client.callTool({ name: 'x', arguments: {}, _meta: { [name]: { payload: {} } } });
    t.match(answer, { isError: true, content: [{ text: /may have been charged: send the same payment.*again/ }] });
    t.notMatch(JSON.stringify(answer), /Nothing was paid/);
  }
});

t.test('what a gateway says of a call is one line of text on standard error', async (t) => {
  const gateway = await startHostileGateway(t);
  const environment = { TURNPIKE_WALLET_EVM: key };
  const { call, saying } = await startMcp(t, { url: gateway.url, data: t.testdir({}), environment }, 'auto');
  gateway.accepts = [honest];
  const message = 'later\u2028\u202e\u001b[2Jx: 0.00 USD\n';
  const error = { code: 'settlement_pending', message, retryAfterSeconds: 0 };
  gateway.answer = { isError: true, structuredContent: { error }, content: [] };
  await call('x', {});
  const said = await saying(/the same payment is sent again\n/);
  t.match(said, /^x: later.*x: 0\.00 USD.*; the same payment is sent again$/m);
  t.notMatch(said.replaceAll('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
});

t.test('a key that is none is refused, and not repeated', async (t) => {
  const { url } = await startHostileGateway(t);
  const data = t.testdir({});
  const evm = { TURNPIKE_WALLET_EVM: `${key}00` };
  const { command, args, env } = commandOf({ url, data, environment: evm });
  const { err, out } = await new Promise<{ err: string; out: string }>((resolve) => {
    execFile(command, args, { env }, (_error, printed, problems) => resolve({ out: printed, err: problems }));
  });
  t.equal(out, '');
  t.match(err, /^TURNPIKE_WALLET_EVM is not a private key: give /);
  t.notOk(err.includes(evm.TURNPIKE_WALLET_EVM));
  const solana = { TURNPIKE_WALLET_SOLANA: 'notakeypair' };
  const refusal = await openMcp(t, { url, data, environment: solana }).then(() => '', String);
  t.match(refusal, /TURNPIKE_WALLET_SOLANA is not a key pair: give /);
  t.notOk(refusal.includes(solana.TURNPIKE_WALLET_SOLANA));
});

t.test('a call that cannot be passed on as it is written is refused, and nothing is paid for another', async (t) => {
  const gateway = await startHostileGateway(t);
  gateway.accepts = [honest];
  gateway.answer = { content: [{ type: 'text', text: 'here' }] };
  const { command, args, env } = commandOf({
    url: gateway.url,
    data: t.testdir({}),
    environment: { TURNPIKE_WALLET_EVM: key },
  });
  const bridge = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'] });
  t.teardown(() => bridge.kill());
  const answers = createInterface({ input: bridge.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number | string, method: string, params: string): Promise<object> => {
    bridge.stdin.write(`{"jsonrpc": "2.0", "id": ${id}, "method": "${method}", "params": ${params}}\n`);
    return JSON.parse((await answers.next()).value);
  };
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'plain', version: '1' } };
  t.match(await ask(0, 'initialize', JSON.stringify(client)), { id: 0, result: {} });
  const misread = {
    '{"id": 9007199254740993}': /^\/id has more digits.* would be read as 9007199254740992.*nothing was paid/,
    '{"list": [{"id": -1234567890123456789}]}': /^\/list\/0\/id has more digits/,
    '{"id": 1e999}': /^\/id is larger than numbers can be/,
  };
  for (const [given, message] of Object.entries(misread)) {
    const answer = await ask(1, 'tools/call', `{"name": "x", "arguments": ${given}}`);
    t.match(answer, { id: 1, error: { message, data: { code: 'invalid_request' } } }, given);
  }
  const call = '{"name": "x", "arguments": {}}';
  t.match(await ask('9007199254740993', 'tools/call', call), {
    id: null,
    error: { message: /^\/id has more digits.* would be read as 9007199254740992.*nothing was paid/ },
  });
  const deep = `{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  t.match(await ask(3, 'tools/call', `{"name": "x", "arguments": ${deep}}`), {
    id: 3,
    error: { message: /^The message is nested too deeply.*nothing was paid/ },
  });
  bridge.stdin.write(`{"jsonrpc": "2.0", "method": "notifications/message", "params": ${deep}}\n`);
  t.same(gateway.payments, []);
  const kept = '{"id": 9007199254740992, "text": "1234567890123456789 \u2028 ä"}';
  t.match(await ask(2, 'tools/call', `{"name": "x", "arguments": ${kept}}`), {
    id: 2,
    result: { content: [{ text: 'here' }] },
  });
  t.equal(gateway.payments.length, 1);
  const ended = once(bridge, 'close');
  bridge.stdin.end();
  t.same(await ended, [0, null], 'it ends with its client');
});

t.test('what a client leaves out may be written as null, but for what a tool is called with', async (t) => {
  const lines = [
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"roots":null},"clientInfo":{"title":null}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"a":[null]},"_meta":null}}',
    '{"jsonrpc":"2.0","id":3,"result":null}',
    '["null"]',
    'null, and no message',
  ];
  const read = await text(exactInput(Readable.from(lines.map((line) => Buffer.from(`${line}\n`))), t.fail));
  t.same(read.trim().split('\n'), [
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{},"clientInfo":{}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"a":[null]}}}',
    ...lines.slice(3),
  ]);
});
