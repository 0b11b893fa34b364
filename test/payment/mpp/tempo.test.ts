// What checks a transaction is loaded before one is signed: it ends 25 seconds later.
import '../../../src/rails/mpp/tempo-chain.ts';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Receipt } from 'mppx';
import { validate } from 'mppx/validation';
import t from 'tap';
import { privateKeyToAddress } from 'viem/accounts';
import { Refusal } from '../../../src/payment/refusal.ts';
import { type MppOptions, openMppRail } from '../../../src/rails/mpp/rail.ts';
import { stoppedClock } from '../../stopped-clock.ts';
import { noExposure } from '../exposure/none.ts';
import { json, serve } from '../facilitators/front.ts';
import { decode, encode, parametersOf, quoteOf, requestOf, secret } from './credentials.ts';
import { startGateway } from './gateway.ts';
import { mppRoute } from './route.ts';
import { feeToken, startTempo } from './tempo-wallets.ts';

const PRICE = 50_000n;
const chain = await startTempo(t);
const { chainId, currency } = chain;
/** Charged in the token of the fees: anvil's trial runs take these from the payer, whoever is to pay them. */
const sponsored = { feePayerKey: chain.sponsorKey, currency: feeToken };
const path = '/mpp/a';
const headers = { 'content-type': 'application/json' };
const post = { method: 'POST', headers, body: '{"prompt":"fog"}' };

/** A gateway that is paid into an account of its own. */
async function gateway(
  t: Tap,
  changes: {
    deadlineMs?: number;
    challengeLifetimeMs?: number;
    rpcUrl?: string;
    currency?: string;
    feePayerKey?: string;
  } = {},
  now?: () => number,
  log?: MppOptions['log'],
) {
  const recipient = `0x${randomBytes(20).toString('hex')}`;
  const { deadlineMs = 1_000, challengeLifetimeMs, ...tempo } = { rpcUrl: chain.rpcUrl, currency, ...changes };
  const options: MppOptions = {
    exposure: noExposure,
    secrets: [secret],
    realm: '127.0.0.1',
    tempo: { chainId, recipient, ...tempo },
    ...(challengeLifetimeMs !== undefined && { challengeLifetimeMs }),
    ...(now && { now }),
    ...(log && { log }),
  };
  const rail = openMppRail(options);
  const started = await startGateway(t, rail, [
    mppRoute(path, '0.05', deadlineMs),
    mppRoute('/mpp/b', '0.05', deadlineMs),
  ]);
  return {
    ...started,
    rail,
    recipient,
    url: `${started.url}${path}`,
    earned: () => chain.balance(recipient, tempo.currency),
  };
}
type Tap = Parameters<typeof startGateway>[0];

/** Asks, pays and answers with the credential instead of sending it. */
async function credentialFor(url: string, wallet = chain.wallet(chain.rich)): Promise<string> {
  return wallet.createCredential(await fetch(url, post));
}
const send = (url: string, authorization: string) => fetch(url, { ...post, headers: { ...headers, authorization } });
const problemOf = async (response: Response): Promise<string> =>
  String(JSON.parse(await response.text()).type).replace(/^.*\//, '');

t.test('pull: a signed transaction is sent once, after the work', async (t) => {
  // What is signed ends soon: by this clock no time passes until it is seen.
  const { url, seen, recipient, earned } = await gateway(t, {}, stoppedClock());
  const response = await chain.wallet(chain.rich).fetch(url, post);
  t.equal(response.status, 200);
  t.same(await response.json(), { text: 'paid' });
  t.match(response.headers.get('cache-control'), 'private');
  const receipt = Receipt.fromResponse(response);
  t.match(receipt, { method: 'tempo', status: 'success', reference: /^0x[0-9a-f]{64}$/ });
  const mined = await chain.rpc('eth_getTransactionReceipt', [receipt.reference]);
  t.match(mined, { status: '0x1' });
  t.equal(await earned(), PRICE, recipient);
  t.same(seen.settleUpfront, [false]);
});

/** A node before the chain's own that tells what `change` makes of its answers: undefined, it tells nothing. */
async function changing(t: Tap, change: (method: string, result: unknown) => unknown): Promise<string> {
  const node = await serve(async (_request, response, body) => {
    const { id, method, params }: { id: number; method: string; params: unknown[] } = JSON.parse(body);
    const result = change(method, await chain.rpc(method, params));
    if (result === undefined) return response.destroy();
    json(response, 200, { jsonrpc: '2.0', id, result });
  });
  t.teardown(node.stop);
  return node.url;
}

t.test('a node of another chain, where tokens may be worth nothing, is not believed', async (t) => {
  let now = Date.now();
  let told: unknown = '0x1';
  const asked: unknown[] = [];
  const rpcUrl = await changing(t, (method, result) => {
    if (method !== 'eth_chainId') return result;
    asked.push(told);
    return told;
  });
  const lines: object[] = [];
  const log = { error: (details: object, message: string) => void lines.push([details, message]) };
  const { url, rail, recipient, seen, earned } = await gateway(t, { rpcUrl }, () => now, log);
  // Nobody has asked the node yet.
  const authorization = await credentialFor(url);
  t.equal((await send(url, authorization)).status, 402);
  t.equal((await fetch(url, post)).headers.get('www-authenticate'), null, 'it is not offered any more');
  const reason = `TURNPIKE_TEMPO_RPC_URL leads to a node of eip155:1, not of eip155:${chainId}: correct it, or TURNPIKE_TEMPO_CHAIN_ID`;
  t.same(lines, [[{ reason }, 'nothing is sold on Tempo']], 'it is said once');
  t.equal(seen.upstreamCalls, 0);
  const common = { currency, payer: recipient, recipient, amount: '1', fromBlock: 0 };
  const transfer = { ...common, memo: `0x${'00'.repeat(32)}`, validBefore: 1 };
  const earlier = JSON.stringify({ method: 'tempo', mode: 'pull', transfer });
  t.match(await rail.recover(earlier), { state: 'unknown' }, 'nor does it say what became of anything');

  told = `0x${chainId.toString(16)}`;
  now += 10_000;
  t.equal((await send(url, authorization)).status, 200);
  t.equal(await earned(), PRICE);
  t.match((await fetch(url, post)).headers.get('www-authenticate'), /method="tempo"/);
  t.same(asked, ['0x1', told], 'what is right is not asked again');
});

t.test('pull: settles first where the work may outlast the transaction', async (t) => {
  const { url, seen, earned } = await gateway(t, { deadlineMs: 60_000 });
  t.equal((await chain.wallet(chain.rich).fetch(url, post)).status, 200);
  t.same(seen.settleUpfront, [true]);
  t.equal(await earned(), PRICE);
});

t.test(
  'pull: settles first where the work may outlast the challenge, with which nothing can be sent any more',
  async (t) => {
    // By this clock the transaction is good for longer than work and settling take, and the challenge for less.
    const lives = { deadlineMs: 18_000, challengeLifetimeMs: 22_000 };
    const { url, seen, earned } = await gateway(t, lives, stoppedClock());
    const unpaid = await fetch(url, post);
    const header = unpaid.headers.get('www-authenticate') ?? '';
    const challenge = parametersOf(header);
    const later = new Date(Date.now() + 60_000).toISOString();
    const lasting = header.replace(challenge.expires ?? '', later);
    // Signed as if the challenge ended later, so that the transaction outlives it.
    const signed = await chain
      .wallet(chain.rich)
      .createCredential(new Response(null, { status: 402, headers: { 'www-authenticate': lasting } }));
    const { payload, source } = decode(signed.slice(8));
    const response = await send(url, `Payment ${encode({ challenge, payload, source })}`);
    t.equal(response.status, 200);
    t.same(seen.settleUpfront, [true]);
    t.equal(await earned(), PRICE);
  },
);

t.test('push: a payment that was made already is accepted as it is', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const response = await chain.wallet(chain.rich, 'push').fetch(url, post);
  t.equal(response.status, 200);
  t.match(Receipt.fromResponse(response), { method: 'tempo', status: 'success' });
  t.same(seen.settleUpfront, [true]);
  t.equal(await earned(), PRICE);
});

t.test('push: an Idempotency-Key keeps nothing that was sent already from buying what it paid for', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const wallet = chain.wallet(chain.rich, 'push');
  const under = async () => {
    const authorization = await credentialFor(url, wallet);
    return fetch(url, { ...post, headers: { ...headers, authorization, 'idempotency-key': 'the fog' } });
  };
  const answers = [await under(), await under()];
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  );
  t.equal(await earned(), 2n * PRICE);
  const references = answers.map((answer) => Receipt.fromResponse(answer).reference);
  t.equal(new Set(references).size, 2, 'each has a receipt of its own money');
  t.equal(seen.upstreamCalls, 2);
});

t.test('push: no money is sent for a request that would be refused for what is wrong with it', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const wrong = { ...post, body: '{"prompt":' };
  const unpaid = await fetch(url, wrong);
  t.match(await unpaid.clone().json(), { status: 402, invalidParams: [{ path: '/' }] });
  const paying = chain.wallet(chain.rich, 'push').createCredential(unpaid);
  await t.rejects(paying, { message: 'Challenge does not support push mode.' });
  t.equal(await earned(), 0n);
  const authorization = await chain.wallet(chain.rich).createCredential(unpaid);
  const refused = await fetch(url, { ...wrong, headers: { ...headers, authorization } });
  t.equal(refused.status, 400);
  t.equal(seen.upstreamCalls, 0);
  t.equal(await earned(), 0n);
});

for (const [what, told] of [
  ['does not know what was sent yet', null],
  ['gives no answer', undefined],
] as const) {
  t.test(`push: while the gateway's node ${what}, mppx sends no money once more`, async (t) => {
    let isBehind = true;
    const rpcUrl = await changing(t, (method, result) =>
      isBehind && method === 'eth_getTransactionReceipt' ? told : result,
    );
    let waited = 0;
    const { url, seen, earned } = await gateway(t, { rpcUrl }, () => {
      waited += 6_000;
      return Date.now() + waited;
    });
    const wallet = chain.wallet(chain.rich, 'push');
    const sent: string[] = [];
    wallet.onCredentialCreated(({ credential }) => void sent.push(credential));
    const answer = await wallet.fetch(url, post);
    t.equal(answer.status, 409);
    t.match(answer.headers.get('retry-after'), /^\d+$/);
    t.match(await answer.json(), {
      detail: /send the same credential again/,
      error: { code: 'settlement_pending' },
    });
    t.equal(await earned(), PRICE, 'it was sent once');
    isBehind = false;
    t.equal((await send(url, sent[0] ?? '')).status, 200);
    t.equal(sent.length, 1);
    t.equal(await earned(), PRICE);
    t.equal(seen.upstreamCalls, 1);
  });
}

t.test('push: what was sent in time is taken after the challenge has expired, for a day', async (t) => {
  let late = 0;
  let isMinedLate = false;
  const node = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const answer = await fetch(chain.rpcUrl, { method: 'POST', headers, body });
    const said = JSON.parse(await answer.text());
    if (isMinedLate && body.includes('eth_getBlockByNumber')) said.result.timestamp = `0x${(2 ** 32).toString(16)}`;
    response.end(JSON.stringify(said));
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  t.teardown(() => node.close());
  const rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const { url, earned } = await gateway(t, { rpcUrl }, () => Date.now() + late);
  const authorization = await credentialFor(url, chain.wallet(chain.rich, 'push'));
  for (const [after, mined] of [
    [86_700_000, false],
    [301_000, true],
  ] as const) {
    [late, isMinedLate] = [after, mined];
    t.equal(await problemOf(await send(url, authorization)), 'payment-expired');
  }
  isMinedLate = false;
  t.equal((await send(url, authorization)).status, 200);
  t.equal(await earned(), PRICE);
});

t.test('push: what was sent for the price of its challenge is taken, whatever it costs by now', async (t) => {
  const { url, rail, earned } = await gateway(t);
  const [sent, signed] = [await credentialFor(url, chain.wallet(chain.rich, 'push')), await credentialFor(url)];
  t.equal(await earned(), PRICE);
  const read = (authorization: string) => {
    const credential = rail.http.read(requestOf(post.body, { headers: { authorization } }));
    if (!credential) throw new Error('the credential was not read');
    return credential;
  };
  for (const price of ['0.04', '0.06']) {
    const quote = quoteOf(requestOf(post.body), price);
    const payment = await rail.verify(read(sent), quote);
    t.match(await payment.settle(quote.amount), { state: 'settled', amount: PRICE }, price);
    await t.rejects(rail.verify(read(signed), quote), { name: 'Refusal' }, 'what was only signed is signed anew');
  }
});

t.test('sponsored: a payer without anything but the price can pay it', async (t) => {
  const { url, earned } = await gateway(t, sponsored);
  const payer = await chain.funded(PRICE, feeToken);
  const response = await chain.wallet(payer).fetch(url, post);
  t.equal(response.status, 200);
  t.equal(await earned(), PRICE);
  t.equal(await chain.balance(payer.address, feeToken), 0n);
});

t.test('sponsored: nobody pays for a payer who has too little, not even the fee', async (t) => {
  const { url, seen, earned } = await gateway(t, sponsored);
  const poor = await chain.funded(PRICE - 1n, feeToken);
  const sponsor = privateKeyToAddress(chain.sponsorKey);
  const before = await chain.balance(sponsor, feeToken);
  const response = await chain.wallet(poor).fetch(url, post);
  t.equal(response.status, 402);
  t.match(await response.text(), /too few tokens/);
  t.equal(seen.upstreamCalls, 0);
  t.equal(await earned(), 0n);
  t.equal(await chain.balance(sponsor, feeToken), before);
});

t.test('ten requests with one credential buy one call and get one answer', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const credential = await credentialFor(url);
  const responses = await Promise.all(Array.from({ length: 10 }, () => send(url, credential)));
  t.same(
    responses.map(({ status }) => status),
    Array(10).fill(200),
  );
  t.equal(new Set(responses.map(({ headers }) => headers.get('payment-receipt'))).size, 1);
  t.equal(seen.upstreamCalls, 1);
  t.equal(await earned(), PRICE);
});

t.test('charges nothing when the upstream fails, and takes the same credential again', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const credential = await credentialFor(url);
  seen.upstreamFails = true;
  const failed = await send(url, credential);
  t.equal(failed.status, 500);
  t.notOk(failed.headers.has('payment-receipt'));
  t.equal(await earned(), 0n);
  seen.upstreamFails = false;
  t.equal((await send(url, credential)).status, 200);
  t.equal(await earned(), PRICE);
});

t.test(
  'a pushed payment whose upstream failed is owed: the same credential gets the answer without a new charge',
  async (t) => {
    const { url, seen, earned } = await gateway(t);
    const credential = await credentialFor(url, chain.wallet(chain.rich, 'push'));
    seen.upstreamFails = true;
    t.equal((await send(url, credential)).status, 500);
    seen.upstreamFails = false;
    t.equal((await send(url, credential)).status, 200);
    t.equal(await earned(), PRICE);
  },
);

t.test('one transaction does not pay a second challenge', async (t) => {
  const { url, seen, earned } = await gateway(t);
  for (const mode of ['pull', 'push'] as const) {
    const { payload, source } = decode((await credentialFor(url, chain.wallet(chain.rich, mode))).slice(8));
    const before = await earned();
    const second = parametersOf((await fetch(url, post)).headers.get('www-authenticate') ?? '');
    const response = await send(url, `Payment ${encode({ challenge: second, payload, source })}`);
    t.equal(response.status, 402, mode);
    t.equal(await problemOf(response), 'verification-failed');
    t.equal(await earned(), before);
  }
  t.equal(seen.upstreamCalls, 0);
});

t.test('one challenge is not paid by a second transaction', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const challenge = await fetch(url, post);
  const [first, second] = await Promise.all(
    [challenge.clone(), challenge].map((response) => chain.wallet(chain.rich).createCredential(response)),
  );
  t.not(first, second);
  t.equal((await send(url, first ?? '')).status, 200);
  const response = await send(url, second ?? '');
  t.equal(response.status, 402);
  t.equal(await problemOf(response), 'invalid-challenge');
  t.equal(seen.upstreamCalls, 1);
  t.equal(await earned(), PRICE);
});

t.test('a payment does not move to another route or body, nor by claiming another amount', async (t) => {
  const { url, seen, earned } = await gateway(t);
  const credential = await credentialFor(url);
  const other = await send(url.replace(path, '/mpp/b'), credential);
  t.equal(await problemOf(other), 'invalid-challenge');
  const swapped = await fetch(url, {
    ...post,
    body: '{"prompt":"rain"}',
    headers: { ...headers, authorization: credential },
  });
  t.equal(await problemOf(swapped), 'verification-failed');
  t.equal(swapped.headers.get('cache-control'), 'no-store');
  t.equal(seen.upstreamCalls, 0);
  t.equal(await earned(), 0n);
});

t.test('a payer who has spent the money meanwhile is refused before any work', async (t) => {
  const [here, elsewhere] = [await gateway(t, sponsored), await gateway(t, sponsored)];
  const payer = await chain.funded(PRICE, feeToken);
  const credential = await credentialFor(here.url, chain.wallet(payer));
  t.equal((await chain.wallet(payer).fetch(elsewhere.url, post)).status, 200);
  const response = await send(here.url, credential);
  t.equal(response.status, 402);
  t.equal(await problemOf(response), 'verification-failed');
  t.equal(here.seen.upstreamCalls, 0);
  t.equal(await here.earned(), 0n);
});

t.test('what is not a transaction, or is not for this chain, is refused', async (t) => {
  const { url, seen } = await gateway(t);
  const { challenge, payload } = decode((await credentialFor(url)).slice(8));
  const bytes = String(payload.signature);
  const broken: Record<string, string> = {
    'no transaction': '0x76c0',
    'another type': `0x02${bytes.slice(4)}`,
    'cut off': bytes.slice(0, -20),
    'a changed byte': `${bytes.slice(0, -6)}${bytes.at(-6) === '0' ? '1' : '0'}${bytes.slice(-5)}`,
  };
  for (const [name, signature] of Object.entries(broken)) {
    const response = await send(url, `Payment ${encode({ challenge, payload: { type: 'transaction', signature } })}`);
    t.equal(response.status, 402, name);
    t.equal(await problemOf(response), 'verification-failed', name);
  }
  const unknown = { type: 'hash', hash: `0x${'7'.repeat(64)}` };
  t.equal(
    (await send(url, `Payment ${encode({ challenge, payload: unknown })}`)).status,
    409,
    'no such transaction yet',
  );
  t.equal(seen.upstreamCalls, 0);
});

t.test('the chain tells what became of a payment whose settlement had no answer', async (t) => {
  /** Forwards to the chain, but loses the answer to what is sent. */
  let losing = true;
  const proxy = createServer(async (message, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of message) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const text = await answer.text();
    if (losing && body.includes('eth_sendRawTransaction')) return response.destroy();
    response.end(text);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  const rpcUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { url, rail, earned } = await gateway(t, { rpcUrl });
  const authorization = await credentialFor(url);
  const quote = quoteOf(requestOf(post.body, { headers: { authorization } }));
  const proof = rail.http.read(quote.request);
  if (!proof) throw new Error('the credential was not read');
  const payment = await rail.verify(proof, quote);
  t.notMatch(payment.recoveryQuery, decode(authorization.slice(8)).payload.signature, 'no signature is kept');
  t.match(await rail.recover(payment.recoveryQuery), { state: 'unknown' });
  t.match(await payment.settle(quote.amount), { state: 'unknown' });
  t.equal(await earned(), PRICE);
  const outcome = await rail.recover(payment.recoveryQuery);
  t.match(outcome, { state: 'settled', amount: 50_000n, transaction: /^0x[0-9a-f]{64}$/ });
  losing = false;
  await payment.settle(quote.amount);
  t.equal(await earned(), PRICE, 'settling again moves nothing');
});

t.test('a receipt that does not say how the transaction ended is no refusal: it was sent', async (t) => {
  let isBehind = true;
  const rpcUrl = await changing(t, (method, result) => {
    if (!isBehind) return result;
    if (method === 'eth_getLogs') return [];
    return method === 'eth_sendRawTransactionSync' ? { ...Object(result), status: null } : result;
  });
  const { url, seen, earned } = await gateway(t, { rpcUrl });
  const authorization = await credentialFor(url);
  t.equal((await send(url, authorization)).status, 409);
  t.equal(await earned(), PRICE, 'it has settled, and nobody said so');
  isBehind = false;
  t.equal((await send(url, authorization)).status, 200);
  t.equal(await earned(), PRICE);
  t.equal(seen.upstreamCalls, 1);
});

t.test('a payment that is sent again is found in the block that has it since the first time', async (t) => {
  const { url, rail } = await gateway(t);
  const authorization = await credentialFor(url);
  const quote = quoteOf(requestOf(post.body, { headers: { authorization } }));
  const proof = rail.http.read(quote.request);
  if (!proof) throw new Error('the credential was not read');
  const settled = await (await rail.verify(proof, quote)).settle(quote.amount);
  t.match(settled, { state: 'settled' });
  await chain.rpc('evm_mine', []);
  await chain.rpc('evm_mine', []);
  const again = await rail.verify(proof, quote);
  t.same(await rail.recover(again.recoveryQuery), settled);
});

t.test('a chain that cannot be asked refuses nobody for good, and is not named', async (t) => {
  const { url } = await gateway(t);
  const authorization = await credentialFor(url);
  const tempo = { rpcUrl: 'http://127.0.0.1:9/v1/the-access-key', chainId, currency, recipient: chain.rich.address };
  const rail = openMppRail({ exposure: noExposure, secrets: [secret], realm: '127.0.0.1', tempo });
  const quote = quoteOf(requestOf(post.body));
  const challenge = parametersOf(
    [rail.http.challenge(rail.challenge(quote)).headers['www-authenticate'] ?? ''].flat()[0] ?? '',
  );
  const { payload } = decode(authorization.slice(8));
  const proof = rail.http.read(
    requestOf(post.body, { headers: { authorization: `Payment ${encode({ challenge, payload })}` } }),
  );
  if (!proof) throw new Error('the credential was not read');
  const error = await rail.verify(proof, quote).catch((thrown: unknown) => thrown);
  t.type(error, Refusal);
  t.notMatch(String(error), /access-key|127\.0\.0\.1/);
});

t.test('mppx finds nothing wrong with challenges and refusals', async (t) => {
  const { url } = await gateway(t);
  const { endpoints } = await validate({
    url: new URL(url).origin,
    endpoint: `POST:${path}`,
    body: post.body,
    skipPayment: true,
  });
  const checks = endpoints.flatMap(({ challenge, errorHandling }) => [...challenge, ...errorHandling]);
  t.ok(checks.length > 8);
  t.same(
    checks.filter(({ severity }) => severity !== 'pass'),
    [],
  );
});

t.test('a transaction that the chain never took has failed for good once it has expired', async (t) => {
  const { url, rail } = await gateway(t);
  const authorization = await credentialFor(url);
  const quote = quoteOf(requestOf(post.body, { headers: { authorization } }));
  const proof = rail.http.read(quote.request);
  if (!proof) throw new Error('the credential was not read');
  const { recoveryQuery } = await rail.verify(proof, quote);
  t.match(await rail.recover(recoveryQuery), { state: 'unknown' });
  await chain.rpc('evm_increaseTime', [120]);
  await chain.rpc('evm_mine', []);
  t.match(await rail.recover(recoveryQuery), { state: 'refused' });
});
