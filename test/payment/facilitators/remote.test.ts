import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { encodeBase58 } from '../../../src/on-chain/base58.ts';
import { findEip3009Settlement } from '../../../src/payment/authorizations/eip3009.ts';
import { type Facilitator, FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { remoteFacilitator } from '../../../src/payment/facilitators/remote.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { facilitatorContract } from './contract.ts';
import { front, type Handle, json, serve } from './front.ts';
import { baseSepolia, networks } from './networks.ts';
import { signV2 } from './payments.ts';

t.test('a facilitator over HTTP', async (t) => {
  const chains = await startChains({ networks });
  const server = await serve(front(localFacilitator(chains.facilitatorOptions)));
  const facilitator = remoteFacilitator({ url: server.url });
  t.teardown(async () => {
    await facilitator.close();
    await server.stop();
    await chains.stop();
  });
  facilitatorContract(t, chains, facilitator, 'unknown');
  t.end();
});

const SIGNATURE = `0x${'ab'.repeat(65)}`;
const payload = { x402Version: 2, payload: { signature: SIGNATURE, authorization: { from: '0xpayer' } } };
const requirements = { scheme: 'exact', network: 'eip155:1', amount: '5' };

/** A facilitator that answers everything with the same. */
async function answering(t: Test, handle: Handle, options: object = {}): Promise<Facilitator> {
  const server = await serve(handle);
  const facilitator = remoteFacilitator({ url: server.url, ...options });
  t.teardown(server.stop);
  t.teardown(() => facilitator.close());
  return facilitator;
}

const always =
  (status: number, body: unknown): Handle =>
  (_request, response) =>
    json(response, status, body);

t.test('sends what the protocol says, to the path it was given, with the headers it was given', async (t) => {
  const seen: { method?: string; url?: string; key?: unknown; body?: unknown }[] = [];
  const facilitator = await answering(
    t,
    ({ method, url, headers }, response, body) => {
      seen.push({ method, url, key: headers['x-key'], body: body && JSON.parse(body) });
      json(response, 200, { kinds: [], isValid: true, payer: '0xpayer', success: true, transaction: '0x1' });
    },
    { createAuthHeaders: async () => ({ verify: { 'x-key': 'v' }, settle: { 'x-key': 's' } }) },
  );
  await facilitator.supported();
  await facilitator.verify(payload, requirements);
  await facilitator.settle(payload, requirements);
  const body = { x402Version: 2, paymentPayload: payload, paymentRequirements: requirements };
  t.match(seen, [
    { method: 'GET', url: '/platform/x402/supported', key: undefined },
    { method: 'POST', url: '/platform/x402/verify', key: 'v', body },
    { method: 'POST', url: '/platform/x402/settle', key: 's', body },
  ]);
});

t.test('a verdict counts whatever its status', async (t) => {
  for (const status of [200, 400, 402, 500]) {
    const body = {
      isValid: false,
      invalidReason: 'insufficient_funds',
      success: false,
      errorReason: 'insufficient_funds',
    };
    const facilitator = await answering(t, always(status, body));
    t.match(await facilitator.verify(payload, requirements), { valid: false, reason: /too few tokens/ });
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown', reason: /too few tokens/ });
  }
});

t.test('an error is no verdict, and never a settlement', async (t) => {
  const answers: [number, unknown][] = [
    [500, {}],
    [502, 'bad gateway'],
    [200, {}],
    [200, []],
    [302, {}],
    [500, { isValid: true, payer: '0xpayer', success: true, transaction: '0x1' }],
    [408, {}],
    [409, {}],
    [425, {}],
    [429, { message: 'slow down' }],
  ];
  for (const [status, body] of answers) {
    const facilitator = await answering(t, always(status, body));
    await t.rejects(facilitator.verify(payload, requirements), FacilitatorUnreachable, `verify, HTTP ${status}`);
    await t.rejects(facilitator.supported(), FacilitatorUnreachable, `supported, HTTP ${status}`);
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown' }, `settle, HTTP ${status}`);
  }
});

t.test('a request that the facilitator does not take is not known to have settled nothing', async (t) => {
  for (const status of [400, 401, 403, 404]) {
    const facilitator = await answering(t, always(status, { error: 'no' }));
    await t.rejects(facilitator.verify(payload, requirements), FacilitatorUnreachable);
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown', reason: new RegExp(String(status)) });
  }
});

t.test('a settlement that may be on its way is unknown', async (t) => {
  const codes: [string, string][] = [
    ['settlement_pending', '0x1'],
    ['settle_exact_evm_transaction_confirmation_timed_out', '0x1'],
    ['settle_exact_svm_transaction_confirmation_timed_out', ''],
    ['settle_exact_node_failure', ''],
    ['unexpected_settle_error', ''],
    ['invalid_exact_evm_transaction_failed', ''],
    ['transaction_failed', ''],
  ];
  for (const [errorReason, transaction] of codes) {
    const facilitator = await answering(t, always(200, { success: false, errorReason, transaction }));
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown' }, errorReason);
  }
});

const TRANSACTION = `0x${'12'.repeat(32)}`;
const settled = { success: true, transaction: TRANSACTION, network: 'eip155:1', payer: '0xPAYER', amount: '5' };

for (const [name, changes, reason] of [
  ['on another network', { network: 'eip155:8453' }, /another network/],
  ['on no network', { network: undefined }, /another network/],
  ['of another amount', { amount: '4' }, /another amount/],
  ['of no amount that can be read', { amount: {} }, /another amount/],
  ['of another payer', { payer: '0xother' }, /another payer/],
  ['without a transaction', { transaction: '' }, /no transaction/],
  ['of nothing', { transaction: '', amount: '0' }, /another amount/],
  ['with something else for a transaction', { transaction: 'done' }, /no transaction/],
  ['with a list for a transaction', { transaction: [TRANSACTION] }, /no transaction/],
  ['with a transaction that is no text', { transaction: { toString: 1 } }, /no transaction/],
] as const) {
  t.test(`a settlement ${name} is not believed, and the operator reads of it`, async (t) => {
    const errors: object[] = [];
    const quiet = () => undefined;
    const log = { debug: quiet, info: quiet, warn: quiet, error: (details: object) => errors.push(details) };
    const believed = await answering(t, always(200, settled), { log });
    t.match(await believed.settle(payload, requirements), { state: 'settled', amount: 5n, transaction: TRANSACTION });
    t.same(errors, []);
    const facilitator = await answering(t, always(200, { ...settled, ...changes }), { log });
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown', reason });
    t.match(errors, [{ problem: reason }]);
    t.notMatch(JSON.stringify(errors), SIGNATURE);
  });
}

t.test('nothing is settled without a transaction only where nothing was asked for', async (t) => {
  const nothing = { ...requirements, scheme: 'upto', amount: '0' };
  const facilitator = await answering(t, always(200, { ...settled, transaction: '', amount: '0' }));
  t.match(await facilitator.settle(payload, nothing), { state: 'settled', amount: 0n });
  t.match(await facilitator.settle(payload, { ...nothing, scheme: 'exact' }), { state: 'unknown' });
});

t.test('a facilitator that says no and settles later has not refused: the chain has the last word', async (t) => {
  const chains = await startChains({ networks: [baseSepolia] });
  t.teardown(chains.stop);
  const payment = await signV2(chains, baseSepolia, { amount: '77' });
  const facilitator = await answering(t, always(200, { success: false, errorReason: 'insufficient_funds' }));
  t.match(await facilitator.settle(payment.payload, payment.requirements), { state: 'unknown' });
  const { authorization } = payment.payload.payload as { authorization: { nonce: string; validBefore: string } };
  const query = {
    rpcUrl: chains.evm[baseSepolia.id]?.rpcUrl ?? '',
    asset: baseSepolia.sandbox.asset.address,
    payer: chains.wallets.evm.payer.address,
    payTo: chains.payTo[baseSepolia.id] ?? '',
    value: '77',
    nonce: authorization.nonce,
    validBefore: Number(authorization.validBefore),
  };
  t.match(await findEip3009Settlement(query), { state: 'unknown' });
  await localFacilitator(chains.facilitatorOptions).settle(payment.payload, payment.requirements);
  t.match(await findEip3009Settlement(query), { state: 'settled', amount: 77n });
});

t.test('a facilitator that is silent, gone, or endless is unreachable', async (t) => {
  const limits = { verifyTimeoutMs: 50, settleTimeoutMs: 50 };
  const silent = await answering(t, () => undefined, limits);
  const cut = await answering(t, (request) => request.socket.destroy());
  const endless = await answering(t, (_request, response) => {
    response.writeHead(200).write(Buffer.alloc(300 * 1024, ' '));
  });
  const gone = remoteFacilitator({ url: 'http://127.0.0.1:9/secret-path' });
  t.teardown(() => gone.close());
  for (const facilitator of [silent, cut, endless, gone]) {
    await t.rejects(facilitator.supported(), FacilitatorUnreachable);
    await t.rejects(facilitator.verify(payload, requirements), FacilitatorUnreachable);
    t.match(await facilitator.settle(payload, requirements), { state: 'unknown' });
  }
  await t.rejects(endless.supported(), { message: /\/supported: more than 262144 bytes came$/ });
  const error = await gone.verify(payload, requirements).catch((thrown: Error) => thrown);
  t.notMatch(JSON.stringify([error, String(error)]), /secret-path/);
});

t.test('what it says of extensions is logged once until it says something else, and holds no key', async (t) => {
  const lines: [string, object][] = [];
  const at = (level: string) => (details: object) => void lines.push([level, details]);
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const key = randomBytes(32).toString('hex');
  let header = '';
  const says = (said: unknown) => {
    header = Buffer.from(JSON.stringify(said)).toString('base64');
  };
  const facilitator = await answering(
    t,
    (_request, response) => {
      response.setHeader('EXTENSION-RESPONSES', header);
      json(response, 200, { isValid: true, ...settled });
    },
    { log },
  );
  const ask = async (network = 'eip155:1') => {
    await facilitator.verify(payload, { ...requirements, network });
    await facilitator.settle(payload, requirements);
  };
  says({ bazaar: { status: 'processing', key } });
  await ask();
  await ask();
  t.match(lines, [['info', { network: 'eip155:1', extensions: { bazaar: { status: 'processing' } } }]]);
  t.equal(lines.length, 1);
  says({ bazaar: { status: 'rejected', rejectedReason: `too long for ${key} ${'and more '.repeat(200)}` } });
  await ask();
  t.match(lines[1], ['warn', { extensions: { bazaar: { status: 'rejected', rejectedReason: /^too long for/ } } }]);
  await ask('eip155:8453');
  t.equal(lines.length, 3, 'each network by itself');
  for (const garbled of ['not base64!', 'A'.repeat(9_000), Buffer.from('[]').toString('base64')]) {
    header = garbled;
    await ask();
  }
  t.equal(lines.length, 3);
  const told = JSON.stringify(lines);
  t.notMatch(told, key.slice(0, 16));
  t.ok(told.length < 2_000);
});

t.test('what it supports and nobody can read costs that entry alone', async (t) => {
  const good = { x402Version: 2, scheme: 'exact', network: 'eip155:1' };
  const nothing = { toString: 1, valueOf: 1 };
  const solana = { ...good, network: 'solana:1' };
  const garbled = [
    null,
    7,
    [nothing],
    { ...good, x402Version: nothing },
    { ...good, x402Version: [nothing] },
    { ...good, scheme: nothing },
    { ...good, network: nothing },
    { ...good, network: [nothing] },
    { ...solana, extra: { feePayer: nothing } },
  ];
  for (const one of garbled) {
    const facilitator = await answering(t, always(200, { kinds: [one, good] }));
    t.same(await facilitator.supported(), [good], JSON.stringify(one));
  }
});

t.test('a caller can stop waiting', async (t) => {
  const facilitator = await answering(t, () => undefined);
  await t.rejects(facilitator.verify(payload, requirements, AbortSignal.timeout(20)), FacilitatorUnreachable);
  t.match(await facilitator.settle(payload, requirements, AbortSignal.timeout(20)), { state: 'unknown' });
});

/** Whether a text holds a piece of a proof: enough of it that no other text does by chance. */
const holdsPieceOf = (proof: string, text: string): boolean =>
  Array.from({ length: proof.length - 15 }, (_, at) => proof.slice(at, at + 16)).some((piece) => text.includes(piece));

const PROOFS = {
  'an EVM signature': `0x${randomBytes(65).toString('hex')}`,
  'a Solana transaction': randomBytes(320).toString('base64'),
  'a Solana signature': encodeBase58(randomBytes(64)),
};

for (const [name, proof] of Object.entries(PROOFS)) {
  t.test(`no reason holds a piece of ${name} that a facilitator repeats`, async (t) => {
    const signed = { x402Version: 2, payload: { signature: proof, authorization: { from: '0xpayer' } } };
    let reasonOf = (_request: string): string => '';
    const facilitator = await answering(t, (_request, response, body) => {
      const reason = reasonOf(body);
      const verdict = { isValid: false, invalidReason: reason, invalidMessage: reason };
      json(response, 200, { ...verdict, success: false, errorReason: reason });
    });
    for (const [form, reason] of Object.entries({
      'the whole request': (request: string) => request,
      'a short text': () => `invalid signature ${proof}`,
      'nothing else': () => proof,
      'an error without an end': () => `unexpected error: ${proof}`,
      'where the text is cut': () => `${'- '.repeat(70)}${proof}`,
    })) {
      reasonOf = reason;
      const verdict = await facilitator.verify(signed, requirements);
      const settlement = await facilitator.settle(signed, requirements);
      t.match([verdict, settlement], [{ valid: false, reason: /./ }, { reason: /./ }], form);
      t.notOk(holdsPieceOf(proof, JSON.stringify([verdict, settlement])), form);
    }
  });
}

t.test('no reason holds the address of a node that a facilitator asks, for it may carry a key', async (t) => {
  const key = 'kEy1_for-The.Node';
  for (const address of [
    `https://node.example/v2/${key}`,
    `wss://me:${key}@node.example`,
    `HTTP://node.example?${key}`,
  ]) {
    const reason = `HTTP request failed. URL: ${address}: too many requests`;
    const verdict = { isValid: false, invalidReason: reason, invalidMessage: reason };
    const facilitator = await answering(t, always(200, { ...verdict, success: false, errorReason: reason }));
    const told = [await facilitator.verify(payload, requirements), await facilitator.settle(payload, requirements)];
    t.match(told, Array(2).fill({ reason: /^HTTP request failed\. URL: ….*too many requests$/ }));
    t.notMatch(JSON.stringify(told), key, address);
  }
});

t.end();
