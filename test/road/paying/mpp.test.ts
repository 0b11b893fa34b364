import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import t from 'tap';
import { openPayer as openMppPayer } from '../../../src/rails/mpp/payer.ts';
import { type PaidCall, request, sendProof } from '../../clients.ts';
import { type Gateway, startGateway } from '../../gateway.ts';

let ahead = 0;
const gateway: Gateway = await startGateway({ networks: ['chain-c'], tempo: true, now: () => Date.now() + ahead });
t.teardown(gateway.stop);

const PRICE = 60_000n;
const METHODS = { tempo: 'tempo', evm: 'chain-c' } as const;
type Method = keyof typeof METHODS;

let made = 0;
/** A request that no other test makes. */
function fresh(): PaidCall {
  made += 1;
  return request(gateway, '/mpp/image/family-e-2', { prompt: `a lighthouse, number ${made}` });
}

/** A signed credential for the call, not sent yet. */
async function signed(call: PaidCall, method: Method): Promise<{ authorization: string }> {
  const unpaid = await fetch(call.url, call.init);
  const { authorization = '' } = await openMppPayer(gateway.state, METHODS[method]).sign(unpaid);
  return { authorization };
}

const earned = (method: Method) => gateway.earned(METHODS[method]);

async function problemOf(answer: Response): Promise<string> {
  const { type = '' } = (await answer.json()) as { type?: string };
  return type.replace(/^.*\//, '');
}

/** The credential with its decoded JSON changed. */
function changed(authorization: string, change: (credential: { challenge: Record<string, string> }) => void): string {
  const credential = JSON.parse(Buffer.from(authorization.replace(/^Payment /, ''), 'base64url').toString());
  change(credential);
  return `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
}

t.test('an unpaid call gets one challenge for each method, and the price', async (t) => {
  const { url, init } = fresh();
  const answer = await fetch(url, init);
  t.equal(answer.status, 402);
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.match(answer.headers.get('www-authenticate'), /Payment .*method="evm".*Payment .*method="tempo"/);
  t.match(answer.headers.get('www-authenticate'), /method="tempo".*This payment settles before the work/);
  t.match(await answer.json(), {
    type: /payment-required$/,
    title: /.+/,
    status: 402,
    detail: /0\.06/,
    challengeId: /.+/,
  });
});

for (const method of ['tempo', 'evm'] as const) {
  t.test(`a call paid by ${method} moves exactly the price and carries a private receipt`, async (t) => {
    const call = fresh();
    const before = await earned(method);
    const answer = await sendProof(call, await signed(call, method));
    t.equal(answer.status, 200);
    t.match(await answer.json(), { image_url: /\.jpg$/ });
    t.match(answer.headers.get('payment-receipt'), /.+/);
    t.equal(answer.headers.get('cache-control'), 'private');
    t.equal((await earned(method)) - before, PRICE);
  });

  t.test(`ten concurrent uses of one ${method} credential make one call and one settlement`, async (t) => {
    const call = fresh();
    const proof = await signed(call, method);
    const [before, calls] = [await earned(method), await gateway.calls()];
    const answers = await Promise.all(Array.from({ length: 10 }, () => sendProof(call, proof)));
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
    t.equal(new Set(answers.map((answer) => answer.headers.get('payment-receipt'))).size, 1);
    t.equal((await earned(method)) - before, PRICE);
    t.equal((await gateway.calls()).upstreamCalls - calls.upstreamCalls, 1);
  });

  const settlesFirst = method === 'tempo';
  const title = settlesFirst
    ? 'what tempo paid for, which settles first, is owed when the upstream fails, and comes without a new charge'
    : 'nothing is charged by evm when the upstream fails, and no receipt is sent';
  t.test(title, async (t) => {
    const call = fresh();
    const proof = await signed(call, method);
    const before = await earned(method);
    await gateway.fault({ upstream: 'predictions', fault: '500' });
    const answer = await sendProof(call, proof);
    t.equal(answer.status, 500);
    t.equal(answer.headers.get('payment-receipt'), null);
    t.match(await answer.json(), { error: { code: settlesFirst ? 'result_owed' : 'upstream_failed' } });
    t.equal((await earned(method)) - before, settlesFirst ? PRICE : 0n);
    t.equal((await sendProof(call, proof)).status, 200);
    t.equal((await earned(method)) - before, PRICE);
  });

  t.test(`a ${method} credential is refused for anything it was not issued for`, async (t) => {
    const call = fresh();
    const { authorization } = await signed(call, method);
    const [before, calls] = [await earned(method), await gateway.calls()];
    const elsewhere = { ...call, url: call.url.replace('family-e-2', 'family-c-imagine') };
    const swapped = { ...call, init: { ...call.init, body: '{"prompt":"something else"}' } };
    t.equal(await problemOf(await sendProof(swapped, { authorization })), 'verification-failed');
    t.equal(await problemOf(await sendProof(elsewhere, { authorization })), 'invalid-challenge');
    const other = { realm: 'elsewhere', method: method === 'evm' ? 'tempo' : 'evm', intent: 'session', id: 'AAAA' };
    for (const [name, value] of Object.entries(other)) {
      const forged = changed(authorization, ({ challenge }) => Object.assign(challenge, { [name]: value }));
      const answer = await sendProof(call, { authorization: forged });
      t.ok([400, 402].includes(answer.status), `${name}: ${answer.status}`);
    }
    for (const name of ['request', 'expires', 'digest', 'opaque']) {
      const forged = changed(authorization, ({ challenge }) => {
        const value = challenge[name] ?? '';
        challenge[name] = name === 'expires' ? '2099-01-01T00:00:00Z' : `${value.slice(0, -2)}AA`;
      });
      const answer = await sendProof(call, { authorization: forged });
      t.equal(answer.status, 402, name);
      t.match(answer.headers.get('www-authenticate'), /^Payment /, 'with a fresh challenge');
    }
    t.equal(await earned(method), before);
    t.same(await gateway.calls(), calls);
  });
}

t.test('a challenge pays the query string it was issued for: no other, and not a call without one', async (t) => {
  const bare = fresh();
  const asked = { ...bare, url: `${bare.url}?campaign=fog` };
  const others = { ...bare, url: `${bare.url}?campaign=rain` };
  const [before, calls] = [await earned('evm'), await gateway.calls()];
  for (const [issuedFor, sentTo] of [
    [asked, bare],
    [asked, others],
    [bare, asked],
  ] as const) {
    const answer = await sendProof(sentTo, await signed(issuedFor, 'evm'));
    t.equal(answer.status, 402);
    t.match(await answer.json(), { type: /invalid-challenge$/, detail: /issued for another query string/ });
  }
  t.equal(await earned('evm'), before);
  t.same(await gateway.calls(), calls);
  t.equal((await sendProof(asked, await signed(asked, 'evm'))).status, 200);
});

t.test('a replayed credential gets the answer that was paid for, and is not charged again', async (t) => {
  const call = fresh();
  const proof = await signed(call, 'evm');
  const first = await sendProof(call, proof);
  const [before, calls] = [await earned('evm'), await gateway.calls()];
  const again = await sendProof(call, proof);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.equal(again.headers.get('payment-receipt'), first.headers.get('payment-receipt'));
  t.equal(await again.text(), await first.text());
  t.equal(await earned('evm'), before);
  t.same(await gateway.calls(), calls);
});

/** The status of a call with each of these in an `Authorization` line of its own, which `fetch` would join. */
async function sendLines({ url, init }: PaidCall, lines: readonly string[]): Promise<{ status: number; body: string }> {
  const sent = httpRequest(url, { method: 'POST', headers: { 'content-type': 'application/json' } });
  sent.setHeader('authorization', lines).end(init.body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}

t.test('every Authorization line is read: two payments are refused, one beside something else is taken', async (t) => {
  const call = fresh();
  const proofs = [await signed(call, 'evm'), await signed(call, 'evm')].map(({ authorization }) => authorization);
  const [before, calls] = [await earned('evm'), await gateway.calls()];
  const refused = await sendLines(call, proofs);
  t.equal(refused.status, 400);
  t.match(JSON.parse(refused.body), { error: { code: 'several_credentials' } });
  t.equal(await earned('evm'), before);
  t.same(await gateway.calls(), calls);
  t.match(await sendLines(call, ['Bearer of-somebody-else', proofs[0] ?? '']), { status: 200 });
  t.equal((await earned('evm')) - before, PRICE);
});

t.test('malformed credentials are a 402 or a 400 with a problem, never a 500', async (t) => {
  const call = fresh();
  const { authorization } = await signed(call, 'evm');
  for (const [name, value, status] of [
    ['not base64', 'Payment %%%', 402],
    ['not JSON', 'Payment AAAA', 402],
    ['no challenge', `Payment ${Buffer.from('{}').toString('base64url')}`, 402],
    ['a malformed opaque', changed(authorization, ({ challenge }) => Object.assign(challenge, { opaque: '!' })), 402],
    ['two credentials', `${authorization}, ${authorization}`, 400],
    ['an unknown method', changed(authorization, ({ challenge }) => Object.assign(challenge, { method: 'gold' })), 400],
  ] as const) {
    const answer = await sendProof(call, { authorization: value });
    t.equal(answer.status, status, name);
  }
});

t.test('every 400 is a problem document of the draft, with the shared error in it', async (t) => {
  const call = fresh();
  const { authorization } = await signed(call, 'evm');
  const [before, calls] = [await earned('evm'), await gateway.calls()];
  const proof = { authorization };
  const gold = changed(authorization, ({ challenge }) => Object.assign(challenge, { method: 'gold' }));
  for (const [sent, headers, code, type] of [
    [call, { authorization: `${authorization}, ${authorization}` }, 'several_credentials', 'bad-request'],
    [call, { authorization: gold }, 'method_unsupported', 'method-unsupported'],
    [{ ...call, init: { ...call.init, body: '{"prompt":7}' } }, proof, 'invalid_request', 'bad-request'],
    [{ ...call, init: { ...call.init, body: '{' } }, proof, 'invalid_json', 'bad-request'],
  ] as const) {
    const answer = await sendProof(sent, headers);
    t.equal(answer.status, 400, code);
    t.match(answer.headers.get('content-type'), /^application\/problem\+json/, code);
    t.match(await answer.json(), {
      type: `https://paymentauth.org/problems/${type}`,
      title: /.+/,
      status: 400,
      detail: /.+/,
      error: { code, requestId: /.+/ },
    });
  }
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  const refused = await sendProof(call, proof);
  t.equal(refused.status, 400);
  t.match(refused.headers.get('content-type'), /^application\/problem\+json/);
  t.match(await refused.json(), { type: /bad-request$/, status: 400, error: { code: 'content_refused' } });
  t.equal(await earned('evm'), before);
  t.equal((await gateway.calls()).settlementCount, calls.settlementCount);
});

for (const [method, payloads] of Object.entries({
  tempo: [{ type: 'proof', signature: '0x00' }, { type: 'hash', hash: '0x12' }, { type: 'transaction' }, {}],
  evm: [{ type: 'hash', hash: `0x${'1'.repeat(64)}` }, { type: 'authorization', from: 'nobody' }, {}],
} as const)) {
  t.test(`a payload that is none of ${method}'s is an invalid-payload with a fresh challenge`, async (t) => {
    const call = fresh();
    const { authorization } = await signed(call, method as Method);
    const calls = await gateway.calls();
    for (const payload of payloads) {
      const answer = await sendProof(call, {
        authorization: changed(authorization, (credential) => Object.assign(credential, { payload })),
      });
      t.equal(answer.status, 402);
      t.match(answer.headers.get('content-type'), /^application\/problem\+json/);
      t.match(answer.headers.get('www-authenticate'), /^Payment /);
      t.equal(await problemOf(answer), 'invalid-payload', JSON.stringify(payload));
    }
    t.same(await gateway.calls(), calls);
  });
}

t.test('an authorization for more than its challenge asks for is not called too small', async (t) => {
  const call = fresh();
  const { authorization } = await signed(call, 'evm');
  const before = await earned('evm');
  const more = changed(authorization, (credential) => {
    Object.assign((credential as unknown as { payload: object }).payload, { value: '70000' });
  });
  const answer = await sendProof(call, { authorization: more });
  t.equal(answer.status, 402);
  t.match(await answer.json(), {
    type: /verification-failed$/,
    title: 'The payment could not be verified',
    detail: /is for 70000, the price is 60000 atomic units: that is more than the call costs/,
  });
  t.equal(await earned('evm'), before);
});

t.test('an expired challenge is told apart', async (t) => {
  const call = fresh();
  const proof = await signed(call, 'tempo');
  ahead = 3_600_000;
  t.teardown(() => {
    ahead = 0;
  });
  t.equal(await problemOf(await sendProof(call, proof)), 'payment-expired');
});

t.test('GET works like POST', async (t) => {
  const answer = await fetch(`${gateway.url}/mpp/image/family-e-2?prompt=a+harbour&resolution=4k`);
  t.equal(answer.status, 402);
  t.match(await answer.json(), { detail: /0\.15/ });
});
