/** Gateways that ask for what they should not get. */
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { createClient, type Events, StreamBroken } from '../../src/client/index.ts';
import type { Anything } from './any-client.ts';
import { encoded, honest, key, known, openClient, startHostile, USDC } from './hostile-gateway.ts';

const inHours = (hours: number): number => Math.floor(Date.now() / 1000) + hours * 3600;

/** Locked until it is captured. */
const held = (terms: object) => ({
  ...honest,
  scheme: 'auth-capture',
  extra: {
    ...honest.extra,
    captureAuthorizer: '0x3333333333333333333333333333333333333333',
    feeRecipient: `0x${'0'.repeat(40)}`,
    captureDeadline: inHours(3),
    refundDeadline: inHours(3),
    minFeeBps: 0,
    maxFeeBps: 0,
    ...terms,
  },
});

const unpaid = { ok: false, reason: 'unpaid', code: 'payment_required', message: /Nothing was signed/ };

t.test('nothing is signed but a transfer of a known asset within the limits', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  for (const [what, offer, expected] of [
    ['more than the limit', { ...honest, amount: '1000001' }, { ok: false, reason: 'limit', code: 'limit_reached' }],
    ['all there is', { ...honest, amount: `${10n ** 30n}` }, { ok: false, reason: 'limit' }],
    ['another asset', { ...honest, asset: '0x2222222222222222222222222222222222222222' }, unpaid],
    ['the asset on another network', { ...honest, network: 'eip155:1' }, unpaid],
    ['a network of another kind', { ...honest, network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, unpaid],
    ['another scheme', { ...honest, scheme: 'upto' }, unpaid],
    ['another kind of transfer', { ...honest, extra: { assetTransferMethod: 'permit2' } }, unpaid],
    ['an amount below zero', { ...honest, amount: '-50000' }, unpaid],
    ['an amount that is none', { ...honest, amount: '5e4' }, unpaid],
    ['a recipient that is none', { ...honest, payTo: '0x12' }, unpaid],
    ['a time without end', { ...honest, maxTimeoutSeconds: -1 }, unpaid],
    ['a lock for two days', held({ captureDeadline: inHours(48) }), unpaid],
    ['a lock without an end', held({ captureDeadline: undefined }), unpaid],
    ['a fee', held({ maxFeeBps: 10_000 }), unpaid],
    ['a lock that somebody else rules', held({ receiverAuthorizer: honest.payTo }), unpaid],
    ['another escrow', held({ authCaptureEscrow: honest.payTo }), unpaid],
    ['a lock for nobody', held({ captureAuthorizer: 'me' }), unpaid],
    ['more than the limit, locked', { ...held({}), amount: '1000001' }, { ok: false, reason: 'limit' }],
  ] as const) {
    gateway.accepts = [offer];
    t.match(await client.call('/x', {}), expected, what);
  }
  gateway.accepts = [];
  t.match(await client.call('/x', {}), unpaid, 'no offer');
  gateway.onCall = (_request, response) => {
    const request = { amount: '50000', currency: USDC, recipient: honest.payTo, methodDetails: { chainId: 1 } };
    const challenge = `Payment id="1", realm="r", method="evm", intent="charge", request="${encoded(request)}"`;
    response.writeHead(402, { 'www-authenticate': challenge, 'payment-required': 'not base64 of JSON' }).end();
  };
  t.match(await client.call('/x', {}), unpaid, 'over MPP');
  t.same(signed, []);
  t.same(gateway.payments, []);
  t.same(client.spending.spent, '0');
});

t.test('what is locked goes to the escrow that everybody knows, for no longer than it was asked', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  gateway.accepts = [held({})];
  gateway.onPayment = (response) => response.end('{"here":true}');
  t.match(await client.call('/x', {}), { ok: true, paid: { price: '0.05', payTo: honest.payTo } });
  t.match(signed, [
    {
      primaryType: 'ReceiveWithAuthorization',
      domain: { verifyingContract: USDC, chainId: 8453 },
      message: { to: '0x8612dfdc421f80336cd14E8EF9cb1E765dB5ab88', value: 50_000n },
    },
  ]);
});

t.test('what is signed has the name of the known asset, and ends within 15 minutes', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  gateway.accepts = [
    { ...honest, maxTimeoutSeconds: 10 ** 9, extra: { name: 'Another Coin', version: '9', chainId: 1 } },
  ];
  gateway.onPayment = (response) => response.end('{"here":true}');
  t.match(await client.call('/x', {}), {
    ok: true,
    result: { here: true },
    receipt: undefined,
    paid: { price: '0.05' },
  });
  const [typed] = signed as [{ domain: object; message: { value: bigint; validBefore: bigint } }];
  t.match(typed.domain, { name: 'USD Coin', version: '2', chainId: 8453 });
  t.equal(typed.message.value, 50_000n);
  t.ok(Number(typed.message.validBefore) <= Date.now() / 1000 + 900);
});

t.test('a price that rises once it is paid is not paid again', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  t.match(await client.quote('/x', {}), { ok: true, price: '0.05' });
  gateway.onPayment = (response) => {
    const accepts = [{ ...honest, amount: '900000' }];
    response.writeHead(402, { 'payment-required': encoded({ x402Version: 2, accepts, resource: { url: 'x' } }) });
    response.end('{"detail":"It costs 0.9 USD now"}');
  };
  t.match(await client.call('/x', {}), {
    ok: false,
    reason: 'refused',
    code: 'payment_refused',
    message: 'It costs 0.9 USD now',
    paid: { price: '0.05' },
  });
  t.equal(signed.length, 1);
  gateway.accepts = [{ ...honest, amount: '900000' }];
  t.match(await client.call('/x', {}, { limit: '0.05' }), { reason: 'limit', limit: { price: '0.9', limit: '0.05' } });
  t.equal(signed.length, 1, 'nor is one that rose between the quote and the call');
});

t.test('of several ways to pay the first within the limits is taken, whichever limit it is', async (t) => {
  const gateway = await startHostile(t);
  const cheap = { ...honest, amount: '40000', payTo: '0x2222222222222222222222222222222222222222' };
  gateway.accepts = [{ ...honest, amount: '90000' }, cheap];
  gateway.onPayment = (response) => response.end('{}');
  const { client } = openClient(gateway, { limit: { perCall: '0.10', total: '0.17' } });
  const paid = async (options = {}) => {
    const answer = await client.call('/x', {}, options);
    return 'paid' in answer ? answer.paid?.price : answer.reason;
  };
  t.equal(await paid(), '0.09');
  t.equal(await paid({ limit: '0.05' }), '0.04', 'of one call');
  t.equal(await paid(), '0.04', 'of all together');
  t.equal(await paid(), 'limit');
  t.same(client.spending, { spent: '0.17', left: '0' });
});

t.test('a path that takes GET has its input in the address, before it is paid and after', async (t) => {
  const gateway = await startHostile(t);
  gateway.onPayment = (response) => response.end('{}');
  const { client } = openClient(gateway, { get: ['/x'] });
  t.match(await client.call('/x', { chain: 'chain-c', tags: ['a', 'b c'] }), { ok: true });
  t.match(await client.call('/x', {}), { ok: true });
  const [first, second] = ['GET /x?chain=chain-c&tags=a&tags=b+c', 'GET /x'];
  t.same(gateway.asked, [first, first, second, second]);
});

t.test('a gateway that refuses what it keeps costs at most the total once more', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway, { limit: { total: '0.1' } });
  const reasons = [];
  for (let call = 0; call < 6; call += 1) {
    const answer = await client.call('/x', { call });
    reasons.push(answer.ok ? 'ok' : answer.reason);
  }
  t.same(reasons, ['refused', 'refused', 'refused', 'refused', 'limit', 'limit']);
  t.equal(signed.length, 4);
});

const maybeCharged = /: 0\.05 USD was signed on chain-c and may have been charged$/;

t.test('a refusal says whether money may be gone all the same', async (t) => {
  const gateway = await startHostile(t);
  const { client } = openClient(gateway);
  const refuse = gateway.onPayment;
  const clean = await client.call('/x', {});
  t.match(clean, { reason: 'refused', isCounted: false });
  t.notMatch(clean, { message: /charged/ });
  gateway.onPayment = (response) => {
    gateway.onPayment = refuse;
    response.destroy();
  };
  t.match(await client.call('/x', {}), {
    reason: 'refused',
    isCounted: true,
    message: /: of this attempt, and 0\.05 USD was signed on chain-c and may have been charged by one before it$/,
  });
  gateway.onPayment = (response) => response.writeHead(410).end('{"error":{"code":"answer_gone","message":"gone"}}');
  t.match(await client.call('/x', {}), { reason: 'refused', isCounted: true, message: maybeCharged });
});

t.test('a payment goes to the host that was named, and to no other', async (t) => {
  const [gateway, other] = [await startHostile(t), await startHostile(t)];
  const redirect = (response: ServerResponse) => response.writeHead(307, { location: `${other.url}/x` }).end();
  const { client, signed } = openClient(gateway);
  gateway.onCall = (_request, response) => redirect(response);
  t.match(await client.call('/x', {}), { ok: false, reason: 'failed', code: 'redirected', paid: undefined });
  t.same(signed, []);
  gateway.onCall = undefined;
  gateway.onPayment = redirect;
  t.match(await client.call('/x', {}), {
    reason: 'failed',
    code: 'redirected',
    paid: { price: '0.05' },
    isCounted: true,
    message: maybeCharged,
  });
  t.same(other.payments, []);
  t.equal(gateway.payments.length, 1);
});

t.test(
  'an error that does not say that nothing was charged leaves the payment counted, and is paid once',
  async (t) => {
    const gateway = await startHostile(t);
    const { client, signed } = openClient(gateway, { retries: 2, limit: { total: '0.05' } });
    gateway.onPayment = (response) => response.writeHead(502).end('<html>bad gateway</html>');
    const owed = await client.call('/x', {});
    t.match(owed, { ok: false, reason: 'owed', status: 502, code: 'no_answer', message: /may have been charged/ });
    t.equal(gateway.payments.length, 3);
    t.match(await client.call('/x', { other: true }), { reason: 'limit', limit: { kind: 'total', spent: '0.05' } });
    gateway.onPayment = (response) => response.end('{"here":true}');
    t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true, result: { here: true } });
    t.equal(new Set(gateway.payments).size, 1, 'the very same payment');
    t.equal(signed.length, 1);
    t.same(client.spending.spent, '0.05');
  },
);

for (const [what, second] of [
  ['a 404 without a code', (response: ServerResponse) => response.writeHead(404).end('<html>')],
  ['a 403 without a code', (response: ServerResponse) => response.writeHead(403).end('<html>')],
  ['a 429 without a code', (response: ServerResponse) => response.writeHead(429).end('<html>')],
  [
    'that the repeat came too slowly',
    (response: ServerResponse) => response.writeHead(408).end('{"error":{"code":"request_timeout"}}'),
  ],
  [
    'that nothing is sold there any more',
    (response: ServerResponse) => response.writeHead(404).end('{"error":{"code":"unknown_path"}}'),
  ],
  [
    'that the path takes another method by now',
    (response: ServerResponse) => response.writeHead(405).end('{"error":{"code":"method_not_allowed"}}'),
  ],
  ['a redirect', (response: ServerResponse) => response.writeHead(302, { location: '/maintenance' }).end()],
] as const) {
  t.test(`after a lost answer ${what} says nothing of the payment`, async (t) => {
    const gateway = await startHostile(t);
    const { client, signed } = openClient(gateway);
    gateway.onPayment = (response) => {
      gateway.onPayment = second;
      response.destroy();
    };
    const owed = await client.call('/x', {});
    t.match(owed, { ok: false, reason: 'owed' });
    gateway.onPayment = (response) => response.end('{"here":true}');
    t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true, result: { here: true } });
    t.equal(new Set(gateway.payments).size, 1);
    t.equal(signed.length, 1);
  });
}

t.test(
  'work that outlasts its connection is waited for with the same payment, however often it is asked for',
  async (t) => {
    const gateway = await startHostile(t);
    const { client, signed } = openClient(gateway, { retries: 1 });
    const error = { code: 'payment_in_progress', message: 'This payment is being worked on' };
    gateway.onPayment = (response) => {
      gateway.onPayment = (later) => {
        if (gateway.payments.length <= 6) later.writeHead(409, { 'retry-after': '0' }).end(JSON.stringify({ error }));
        else later.end('{"here":true}');
      };
      response.destroy();
    };
    t.match(await client.call('/x', {}), { ok: true, result: { here: true } });
    t.equal(gateway.payments.length, 7);
    t.equal(new Set(gateway.payments).size, 1);
    t.equal(signed.length, 1);
  },
);

t.test('what stands before the gateway refuses a payment once, which may have been passed on', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  gateway.onPayment = (response) => response.writeHead(403).end('<html>forbidden</html>');
  const owed = await client.call('/x', {});
  t.match(owed, { ok: false, reason: 'owed', status: 403, code: 'no_answer', isCounted: true });
  t.equal(gateway.payments.length, 1);
  gateway.onPayment = (response) => response.end('{"here":true}');
  t.match(!owed.ok && owed.reason === 'owed' && (await owed.again()), { ok: true, result: { here: true } });
  t.equal(new Set(gateway.payments).size, 1);
  t.equal(signed.length, 1);
});

t.test('a code that no gateway has is no word that nothing was charged', async (t) => {
  const gateway = await startHostile(t);
  const { client } = openClient(gateway, { retries: 0 });
  for (const code of ['FUNCTION_INVOCATION_TIMEOUT', 'toString']) {
    gateway.onPayment = (response) => response.writeHead(504).end(JSON.stringify({ error: { code } }));
    t.match(await client.call('/x', { code }), { ok: false, reason: 'owed', code, isCounted: true });
  }
  t.equal(client.spending.spent, '0.1');
});

t.test('whoever stops waiting gets the payment back, and has the result with it later', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  const leaving = new AbortController();
  gateway.onPayment = () => leaving.abort();
  const owed = await client.call('/x', {}, { signal: leaving.signal });
  t.match(owed, { ok: false, reason: 'owed', code: 'no_answer' });
  t.equal(gateway.payments.length, 1);
  if (owed.ok || owed.reason !== 'owed') return;
  const leavingAgain = new AbortController();
  gateway.onPayment = () => leavingAgain.abort();
  t.match(await owed.again({ signal: leavingAgain.signal }), { ok: false, reason: 'owed', code: 'no_answer' });
  gateway.onPayment = (response) => response.end('{"here":true}');
  t.match(await owed.again(), { ok: true, result: { here: true } });
  t.equal(gateway.payments.length, 3);
  t.equal(signed.length, 1);
});

t.test('whoever stops waiting for a quote has its end at once', async (t) => {
  const gateway = await startHostile(t);
  const { client, signed } = openClient(gateway);
  const leaving = new AbortController();
  gateway.onCall = () => leaving.abort();
  const quote = await client.quote('/x', {}, { signal: leaving.signal });
  t.match(quote, { ok: false, reason: 'failed', code: 'no_answer', message: /nothing was signed/ });
  t.same(signed, []);
});

t.test('whoever is told that a stream costs nothing has left it', async (t) => {
  const gateway = await startHostile(t);
  const left = new Promise<void>((resolve) => {
    gateway.onCall = (_request, response) => {
      response.once('close', resolve).writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    };
  });
  t.match(await openClient(gateway).client.quote('/x', {}), { ok: true, price: '0' });
  await left;
});

t.test('whoever leaves a stream can have it whole later', async (t) => {
  const gateway = await startHostile(t);
  const { client } = openClient(gateway);
  const leaving = new AbortController();
  gateway.onPayment = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
  };
  const answer = await client.call('/x', {}, { signal: leaving.signal });
  let broken: unknown;
  try {
    for await (const _ of answer.ok ? (answer.result as unknown as Events) : []) leaving.abort();
  } catch (error) {
    broken = error;
  }
  gateway.onPayment = (response) => response.end('{"here":true}');
  t.match(broken instanceof StreamBroken && (await broken.again()), { ok: true, result: { here: true } });
  t.equal(new Set(gateway.payments).size, 1);
});

t.test('no key is in what a client says', async (t) => {
  const gateway = await startHostile(t);
  const client = createClient<Anything>({ url: gateway.url, assets: [known], pay: { evm: key }, retries: 0 });
  const answers = [];
  for (const onPayment of [
    (response: ServerResponse) => response.writeHead(500).end('{}'),
    (response: ServerResponse) => response.end('no JSON'),
    (response: ServerResponse) => void response.destroy(),
  ]) {
    gateway.onPayment = onPayment;
    answers.push(await client.call('/x', {}));
  }
  t.same(
    answers.map((answer) => !answer.ok && answer.reason),
    ['owed', 'owed', 'owed'],
  );
  const said = JSON.stringify(answers);
  t.notOk(said.includes(key.slice(2)));
  t.notOk(gateway.payments.some((payment) => said.includes(payment)));
  t.throws(() => createClient<Anything>({ url: gateway.url, assets: [known], pay: { evm: `${key}00` } }), {
    message: 'pay.evm is not a private key: give 0x and 64 hex digits, or an account',
  });
});
