import fc from 'fast-check';
import t from 'tap';
import { Problem } from '../../../src/errors.ts';
import type { Quote } from '../../../src/payment/rail.ts';
import { Refusal } from '../../../src/payment/refusal.ts';
import { openMppRail } from '../../../src/rails/mpp/rail.ts';
import type { GatewayRequest } from '../../../src/request/request.ts';
import { noExposure } from '../exposure/none.ts';
import {
  answerOf,
  challengesOf,
  decode,
  encode,
  parametersOf,
  quoteOf,
  realm,
  requestOf,
  secret,
  tempoOptions,
  unprovenCredential,
} from './credentials.ts';

const body = '{"prompt":"fog"}';
const rail = openMppRail({ exposure: noExposure, secrets: [secret], realm, tempo: tempoOptions });

/** The challenge of a fresh 402, as a client echoes it. */
const freshChallenge = (request: GatewayRequest = requestOf(body), price?: string) =>
  parametersOf(challengesOf(answerOf(rail, quoteOf(request, price)))[0] ?? '');

/** What becomes of a credential: the problem type, or `chain` once every check before the chain has passed. */
async function fate(
  authorization: string | string[],
  quote: Quote = quoteOf(requestOf(body)),
  by = rail,
): Promise<string> {
  try {
    const proof = by.http.read({ ...quote.request, headers: { authorization } });
    if (!proof) return 'no proof';
    await by.verify(proof, quote);
    return 'verified';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    if (error instanceof Refusal) return /chain gives no answer/.test(error.message) ? 'chain' : error.kind;
    throw error;
  }
}

t.test('an untouched challenge gets as far as the chain', async (t) => {
  t.equal(await fate(unprovenCredential(freshChallenge())), 'chain');
});

t.test('a challenge that was changed anywhere is refused', async (t) => {
  const fresh = freshChallenge();
  const cheaper = encode({ ...decode(fresh.request ?? ''), amount: '1' });
  const elsewhere = encode({ ...decode(fresh.opaque ?? ''), r: 'POST /mpp/b' });
  const changes: Record<string, string> = {
    id: freshChallenge().id ?? '',
    realm: 'other.example.com',
    intent: 'session',
    request: cheaper,
    expires: '2099-01-01T00:00:00.000Z',
    digest: freshChallenge(requestOf('{}')).digest ?? '',
    opaque: elsewhere,
  };
  for (const [name, value] of Object.entries(changes)) {
    t.equal(await fate(unprovenCredential({ ...fresh, [name]: value })), 'invalid-challenge', name);
  }
  t.equal(await fate(unprovenCredential({ ...fresh, digest: undefined })), 'invalid-challenge', 'digest left out');
  t.equal(
    await fate(unprovenCredential({ ...fresh, id: `${fresh.id}=` })),
    'invalid-challenge',
    'id written otherwise',
  );
});

t.test('a method that is not offered is told so, one that is offered but was not asked for is refused', async (t) => {
  t.equal(await fate(unprovenCredential({ ...freshChallenge(), method: 'stripe' })), 'method_unsupported');
});

t.test('what a person reads in the challenge may be echoed or left out', async (t) => {
  const { description, ...others } = freshChallenge();
  t.ok(description);
  t.equal(await fate(unprovenCredential(others)), 'chain');
});

t.test('an expired challenge is refused as expired, a day later also for what was sent', async (t) => {
  let now = Date.now() - 86_701_000;
  const late = openMppRail({ exposure: noExposure, secrets: [secret], realm, tempo: tempoOptions, now: () => now });
  const challenge = parametersOf(challengesOf(answerOf(late, quoteOf(requestOf(body))))[0] ?? '');
  now = Date.now();
  t.equal(await fate(unprovenCredential(challenge), quoteOf(requestOf(body)), late), 'payment-expired');
});

t.test('a credential is good for its own request only', async (t) => {
  const credential = unprovenCredential(freshChallenge());
  t.equal(await fate(credential, quoteOf(requestOf('{"prompt":"rain"}'))), 'verification-failed', 'another body');
  t.equal(await fate(credential, quoteOf(requestOf(''))), 'verification-failed', 'no body');
  t.equal(await fate(credential, quoteOf(requestOf(body, { path: '/mpp/b' }))), 'invalid-challenge', 'another route');
  t.equal(await fate(credential, quoteOf(requestOf(body, { method: 'PUT' }))), 'invalid-challenge', 'another method');
  t.equal(await fate(credential, quoteOf(requestOf(body, { query: 'a=1' }))), 'invalid-challenge', 'a query');
  const unbound = unprovenCredential(freshChallenge(requestOf('')));
  t.equal(await fate(unbound, quoteOf(requestOf(body))), 'verification-failed', 'a body where there was none');
});

t.test(
  'what was sent is good for the price that its challenge asked, and what is only signed for the one of now',
  async (t) => {
    const challenge = freshChallenge(requestOf(body), '0.05');
    const signed = `Payment ${encode({ challenge, payload: { type: 'transaction', signature: '0x00' } })}`;
    for (const [price, refusal] of [
      ['0.06', 'payment-insufficient'],
      ['0.04', 'invalid-challenge'],
    ] as const) {
      t.equal(await fate(signed, quoteOf(requestOf(body), price)), refusal);
      t.equal(await fate(unprovenCredential(challenge), quoteOf(requestOf(body), price)), 'chain');
    }
  },
);

t.test('a challenge that names a recipient of the past is refused', async (t) => {
  const recipient = '0x00000000000000000000000000000000000a11ce';
  const moved = openMppRail({ exposure: noExposure, secrets: [secret], realm, tempo: { ...tempoOptions, recipient } });
  t.equal(await fate(unprovenCredential(freshChallenge()), quoteOf(requestOf(body)), moved), 'invalid-challenge');
});

t.test('challenges of an old secret are honoured while it is kept, and new ones are signed with the new', async (t) => {
  const newSecret = 'another secret that is long enough, of 32 bytes';
  const rotated = openMppRail({ exposure: noExposure, secrets: [newSecret, secret], realm, tempo: tempoOptions });
  const after = openMppRail({ exposure: noExposure, secrets: [newSecret], realm, tempo: tempoOptions });
  const quote = quoteOf(requestOf(body));
  const old = unprovenCredential(freshChallenge());
  const fresh = unprovenCredential(parametersOf(challengesOf(answerOf(rotated, quote))[0] ?? ''));
  t.equal(await fate(old, quote, rotated), 'chain');
  t.equal(await fate(old, quote, after), 'invalid-challenge');
  t.equal(await fate(fresh, quote, after), 'chain');
});

t.test('what cannot be read is refused as malformed', async (t) => {
  const fresh = freshChallenge();
  const payload = { type: 'hash', hash: `0x${'1'.repeat(64)}` };
  const wrong: Record<string, string> = {
    'not base64url': 'Payment !!!',
    'not JSON': `Payment ${Buffer.from('garbage').toString('base64url')}`,
    'not an object': `Payment ${encode([1])}`,
    nothing: 'Payment',
    'no challenge': `Payment ${encode({ payload })}`,
    'no payload': `Payment ${encode({ challenge: fresh })}`,
    'no opaque': `Payment ${encode({ challenge: { ...fresh, opaque: undefined }, payload })}`,
    'opaque is no base64url': `Payment ${encode({ challenge: { ...fresh, opaque: '***' }, payload })}`,
    'opaque is no JSON': `Payment ${encode({ challenge: { ...fresh, opaque: 'AAAA' }, payload })}`,
    'opaque is not flat': `Payment ${encode({ challenge: { ...fresh, opaque: encode({ r: {} }) }, payload })}`,
    'request has no amount': `Payment ${encode({ challenge: { ...fresh, request: encode({}) }, payload })}`,
    'expires is a number': `Payment ${encode({ challenge: { ...fresh, expires: 5 }, payload })}`,
    'too long': `Payment ${encode({ challenge: fresh, payload: { ...payload, padding: 'x'.repeat(8000) } })}`,
  };
  for (const [name, authorization] of Object.entries(wrong))
    t.equal(await fate(authorization), 'malformed-credential', name);
});

t.test(
  'a payload that is none of its method, and a challenge without an end, are refused as what they are',
  async (t) => {
    const fresh = freshChallenge();
    for (const payload of [
      { type: 'proof', signature: '0x00' },
      { type: 'hash', hash: '0x12' },
    ]) {
      t.equal(await fate(`Payment ${encode({ challenge: fresh, payload })}`), 'invalid-payload');
    }
    t.equal(await fate(unprovenCredential({ ...fresh, expires: undefined })), 'invalid-challenge');
  },
);

t.test('whatever stands in Authorization, the answer is a refusal, a problem or no proof', async () => {
  const fresh = freshChallenge();
  const anything = fc.oneof(
    fc.string(),
    fc.string().map((text) => `Payment ${text}`),
    fc.json().map((json) => `Payment ${Buffer.from(json).toString('base64url')}`),
    fc.jsonValue().map((value) => `Payment ${encode({ challenge: value, payload: {} })}`),
    fc
      .dictionary(fc.constantFrom(...Object.keys(fresh)), fc.jsonValue())
      .map((changed) => unprovenCredential({ ...fresh, ...changed })),
  );
  await fc.assert(
    fc.asyncProperty(anything, async (authorization) => {
      const kind = await fate(authorization);
      return kind !== 'verified';
    }),
    { numRuns: 500 },
  );
});

t.test('a credential of 4 KB with members nobody knows is read', async (t) => {
  const { challenge, payload } = decode(unprovenCredential(freshChallenge()).slice(8));
  const long = `Payment ${encode({ challenge: { ...challenge, extra: [1] }, payload: { ...payload, note: 'x'.repeat(3000) } })}`;
  t.ok(long.length > 4096);
  t.equal(await fate(long), 'chain');
});

t.test('the scheme is found in any case and beside other schemes', async (t) => {
  const credential = unprovenCredential(freshChallenge());
  t.equal(await fate(credential.replace('Payment', 'payment')), 'chain');
  t.equal(await fate(`Bearer abc, ${credential}`), 'chain');
  t.equal(await fate(['Bearer abc', credential]), 'chain');
  t.equal(await fate('Bearer abc'), 'no proof');
  t.equal(await fate('Digest username="Payment abc, Payment def", realm="x"'), 'no proof');
});

t.test('two credentials are one too many', async (t) => {
  const one = unprovenCredential(freshChallenge());
  const other = unprovenCredential(freshChallenge());
  t.equal(await fate(`${one}, ${other}`), 'several_credentials');
  t.equal(await fate([one, other]), 'several_credentials');
});

t.test('a payment is the same however it is written, and each challenge is another payment', async (t) => {
  const identify = (authorization: string) => {
    const proof = rail.http.read(requestOf(body, { headers: { authorization } }));
    return { id: proof?.id, fingerprint: proof?.fingerprint };
  };
  const challenge = freshChallenge();
  const hash = `0x${'ab'.repeat(32)}`;
  const written = `Payment ${encode({ challenge, payload: { type: 'hash', hash } })}`;
  const rewritten = `payment   ${encode({ payload: { hash: hash.toUpperCase().replace('X', 'x'), type: 'hash' }, challenge })}`;
  t.same(identify(rewritten), identify(written));
  t.equal(identify(unprovenCredential(challenge)).id, identify(written).id, 'one challenge is one payment');
  t.not(identify(unprovenCredential(challenge)).fingerprint, identify(written).fingerprint);
  t.not(identify(unprovenCredential(freshChallenge())).id, identify(written).id);
  const stolen = `Payment ${encode({ challenge: freshChallenge(), payload: { type: 'hash', hash } })}`;
  t.not(identify(stolen).fingerprint, identify(written).fingerprint, 'a hash seen on the chain does not make a payer');
});
