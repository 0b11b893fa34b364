import { Challenge } from 'mppx';
import t from 'tap';
import { Refusal } from '../../../src/payment/refusal.ts';
import { openMppRail } from '../../../src/rails/mpp/rail.ts';
import { noExposure } from '../exposure/none.ts';
import {
  answerOf,
  challengesOf,
  decode,
  parametersOf,
  quoteOf,
  realm,
  requestOf,
  secret,
  tempoOptions,
} from './credentials.ts';

const evmOptions = {
  network: 'chain-c',
  chainId: 84532,
  asset: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', decimals: 6, name: 'USDC', version: '2' },
  payTo: tempoOptions.recipient,
  rpcUrl: tempoOptions.rpcUrl,
  facilitator: {
    verify: async () => ({ valid: false as const, reason: 'not here' }),
    settle: async () => ({ state: 'refused' as const, reason: 'not here' }),
  },
};
const open = () =>
  openMppRail({ exposure: noExposure, secrets: [secret], realm, tempo: tempoOptions, evm: [evmOptions] });

t.test('an unpaid request gets one challenge for each way to pay, and mppx reads and believes them', async (t) => {
  const answer = answerOf(open(), quoteOf(requestOf('{"prompt":"fog"}')));
  t.equal(answer.status, 402);
  t.equal(answer.headers['content-type'], 'application/problem+json');
  t.equal(answer.headers['cache-control'], 'no-store');
  const headers = challengesOf(answer);
  t.ok(headers.join(', ').length < 8192);
  const challenges = Challenge.deserializeList(headers.join(', '));
  t.same(
    challenges.map(({ method, intent }) => [method, intent]),
    [
      ['tempo', 'charge'],
      ['evm', 'charge'],
    ],
  );
  for (const challenge of challenges) t.ok(Challenge.verify(challenge, { secretKey: secret }), 'the id is the HMAC');
  t.match(challenges[0]?.request, {
    amount: '50000',
    currency: tempoOptions.currency,
    recipient: tempoOptions.recipient,
    methodDetails: { chainId: 42431 },
  });
  t.match(challenges[1]?.request, {
    amount: '50000',
    currency: evmOptions.asset.address,
    recipient: evmOptions.payTo,
    methodDetails: { chainId: 84532, credentialTypes: ['authorization'], decimals: 6 },
  });
});

t.test('the 402 says what it costs, and what is wrong with the body before it is paid for', async (t) => {
  const invalidParams = [{ path: '/prompt', message: 'is missing' }];
  const answer = answerOf(open(), quoteOf(requestOf('{}')), undefined, invalidParams);
  const body = JSON.parse(String(answer.body));
  t.match(body, { type: /problems\/payment-required$/, title: String, status: 402, detail: /0\.05/, invalidParams });
  t.equal(body.challengeId, parametersOf(challengesOf(answer)[0] ?? '').id);
});

t.test('a refusal names its problem type and reason beside a fresh challenge', async (t) => {
  const answer = answerOf(open(), quoteOf(requestOf('{}')), new Refusal('payment-expired', 'too late'));
  t.match(JSON.parse(String(answer.body)), {
    type: 'https://paymentauth.org/problems/payment-expired',
    detail: 'too late',
  });
  t.equal(challengesOf(answer).length, 2);
});

t.test('two callers who ask at the same moment get different challenges', async (t) => {
  const rail = openMppRail({
    exposure: noExposure,
    secrets: [secret],
    realm,
    tempo: tempoOptions,
    now: () => 1_700_000_000_000,
  });
  const ids = Array.from(
    { length: 50 },
    () => parametersOf(challengesOf(answerOf(rail, quoteOf(requestOf('{}'))))[0] ?? '').id,
  );
  t.equal(new Set(ids).size, 50);
});

t.test('the digest is that of the raw body, and there is none without a body', async (t) => {
  const digest = (body: string) =>
    parametersOf(challengesOf(answerOf(open(), quoteOf(requestOf(body))))[0] ?? '').digest;
  t.equal(digest('{"hello": "world"}'), 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:');
  t.equal(digest(''), undefined);
});

t.test('the opaque part names the route, so that a credential is no good on another one', async (t) => {
  const rail = open();
  const opaque = (query: string) =>
    decode(parametersOf(challengesOf(answerOf(rail, quoteOf(requestOf('', { query }))))[0] ?? '').opaque ?? '');
  t.equal(opaque('').r, 'POST /mpp/a');
  t.notOk(opaque('').q);
  t.not(opaque('a=1').q, opaque('a=2').q);
});

t.test('a challenge for an authorization stays open for as long as the endpoint may work', async (t) => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  const rail = openMppRail({
    exposure: noExposure,
    secrets: [secret],
    realm,
    tempo: tempoOptions,
    evm: [evmOptions],
    now: () => now,
  });
  const quote = quoteOf(requestOf('{}'));
  const slow = { ...quote, deadlineMs: 600_000 };
  // What settles after the result comes first.
  const [evm, tempo] = challengesOf(answerOf(rail, slow)).map((header) =>
    Date.parse(parametersOf(header).expires ?? ''),
  );
  t.equal(tempo, now + 300_000);
  t.ok(Number(evm) >= now + 900_000);
});

t.test('Accept-Payment chooses and orders the challenges', async (t) => {
  const methods = (header: string) =>
    challengesOf(answerOf(open(), quoteOf(requestOf('{}', { headers: { 'accept-payment': header } })))).map(
      (challenge) => parametersOf(challenge).method,
    );
  t.same(methods('evm/charge'), ['evm']);
  t.same(methods('evm/*, tempo/charge;q=0.5'), ['evm', 'tempo']);
  t.same(methods('*/charge, tempo/charge;q=0'), ['evm'], 'the more precise range decides');
  t.same(methods('*/*'), ['tempo', 'evm']);
  t.same(methods('stripe/charge'), ['tempo', 'evm'], 'a 402 without a challenge would help nobody');
  t.same(methods('; nonsense'), ['tempo', 'evm']);
});

t.test('discovery documents list the same amounts and currencies', async (t) => {
  const { route } = quoteOf(requestOf('{}'), '0.15');
  t.same(open().offers(route), [
    { intent: 'charge', method: 'tempo', amount: '150000', currency: tempoOptions.currency },
    { intent: 'charge', method: 'evm', amount: '150000', currency: evmOptions.asset.address },
  ]);
});

t.test('does not open with a realm or secret that would weaken its challenges', async (t) => {
  t.throws(() => openMppRail({ exposure: noExposure, secrets: [secret], realm: 'a|b', tempo: tempoOptions }), {
    message: /realm/,
  });
  t.throws(() => openMppRail({ exposure: noExposure, secrets: ['short'], realm, tempo: tempoOptions }), {
    message: /32 bytes/,
  });
  t.throws(() => openMppRail({ exposure: noExposure, secrets: [secret], realm }), {
    message: /at least one payment method/,
  });
});
