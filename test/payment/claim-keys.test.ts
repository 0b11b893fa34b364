/** Names under which one payment buys: a payer's `Idempotency-Key`, and an identifier in the payment itself. */
import t from 'tap';
import { unknown } from '../../src/on-chain/settlement.ts';
import { sampleAnswer } from '../store/samples.ts';
import { another, LEASE_MS, openClaims, type Progress, receiptOf, request, SETTLED, START } from './claiming.ts';
import { mppRoute } from './mpp/route.ts';

const DAY_MS = 86_400_000;
const EARLIER = receiptOf('0xearlier');

const under = (key: string | string[]) => request({ headers: { 'idempotency-key': key } });
const KEYED = under('k');
const OTHER = { ...another, headers: KEYED.headers };

const taken = { name: 'Problem', code: 'identifier_taken', message: /nothing was charged/ };
const unended = {
  code: 'payment_in_progress',
  message: /under this Idempotency-Key has not ended/,
  headers: { 'retry-after': '5' },
};
const otherRequest = { code: 'invalid_request', message: /Idempotency-Key belongs to another request/ };

/** A payment under the key, or with the identifier, that was claimed and brought so far. */
async function holding(claims: ReturnType<typeof openClaims>, progress: Progress, identifier?: string) {
  const { world } = claims;
  world.verified = { upfront: progress === 'settling first' ? 'above' : undefined };
  const work = await claims.claim({ id: 'first', identifier }, identifier === undefined ? { request: KEYED } : {});
  world.verified = {};
  if ('claim' in work) await claims.bring(work.claim, progress);
  claims.seen.splice(0);
}

const own = { claim: { id: 'second', attempt: 1 }, mayHaveSettled: false };

for (const progress of ['claimed', 'fulfilled', 'settled first', 'settled', 'owed', 'unknown'] as const) {
  t.test(`an identifier belongs to a payment that is ${progress}, and no other is looked at`, async (t) => {
    const claims = openClaims(t);
    await holding(claims, progress, 'purchase 1');
    const { claim, store, seen } = claims;
    await t.rejects(claim({ id: 'second', identifier: 'purchase 1' }), taken);
    t.equal(await store.find('second'), undefined);
    t.same(seen, ['arrives']);
    t.match(await claim({ id: 'second', identifier: 'purchase 2' }), own, 'which may have another');
  });
}

for (const progress of ['released', 'unsettled', 'given back'] as const) {
  t.test(`an identifier is free again where its payment is ${progress}`, async (t) => {
    const claims = openClaims(t);
    await holding(claims, progress, 'purchase 1');
    t.match(await claims.claim({ id: 'second', identifier: 'purchase 1' }), own);
  });
}

t.test('an identifier that another payment takes meanwhile is taken, and the payment is not kept', async (t) => {
  const claims = openClaims(t, { perHour: '0.50' });
  claims.world.whileVerifying = async () => {
    claims.world.whileVerifying = async () => {};
    await holding(claims, 'settled', 'purchase 1');
  };
  await t.rejects(claims.claim({ id: 'second', identifier: 'purchase 1' }), taken);
  t.equal(await claims.store.find('second'), undefined);
  t.equal(claims.unproven(), 450_000n, 'the other alone is under way');
});

t.test('a payment has its own identifier, however often it comes', async (t) => {
  const claims = openClaims(t);
  await holding(claims, 'released', 'purchase 1');
  t.match(await claims.claim({ id: 'first', identifier: 'purchase 1' }), { claim: { attempt: 2 } });
  const racing = openClaims(t);
  racing.world.before.cached = async () => {
    racing.world.before = {};
    await holding(racing, 'settled', 'purchase 1');
  };
  t.match(await racing.claim({ id: 'first', identifier: 'purchase 1' }), { receipt: EARLIER }, 'twice at once, too');
});

t.test('names are kept for a day', async (t) => {
  for (const [after, isKept] of [
    [DAY_MS - 1, true],
    [DAY_MS + 1, false],
  ] as const) {
    const named = openClaims(t);
    await holding(named, 'settled', 'purchase 1');
    named.clock.now = START + after;
    const second = named.claim({ id: 'second', identifier: 'purchase 1' });
    if (isKept) await t.rejects(second, taken);
    else t.match(await second, own);

    const keyed = openClaims(t);
    await holding(keyed, 'settled');
    keyed.clock.now = START + after;
    t.match(await keyed.claim({ id: 'second' }, { request: KEYED }), isKept ? { receipt: EARLIER } : own);
  }
});

t.test('who pays anew under a key gets what the first payment bought, and is not charged', async (t) => {
  const claims = openClaims(t, { perHour: '0.50' });
  await holding(claims, 'settled');
  const { claim, store } = claims;
  const got = await claim({ id: 'second' }, { request: KEYED });
  t.match(got, { answer: sampleAnswer(), receipt: EARLIER, network: 'chain-a', payer: 'payer-1', asset: 'asset-1' });
  t.notOk('claim' in got);
  t.equal(await store.find('second'), undefined);
  t.equal(claims.unproven(), 450_000n, 'the first alone is under way');
});

for (const [progress, gets, first] of [
  ['claimed', own, { state: 'released' }],
  ['released', own, { state: 'released' }],
  ['unsettled', own, { state: 'unsettled' }],
  ['given back', own, { state: 'refunded' }],
  ['settled first', { claim: { id: 'first', attempt: 3 }, receipt: EARLIER, answer: undefined }, { state: 'settled' }],
  ['owed', { claim: { id: 'first', attempt: 2 }, receipt: EARLIER, answer: undefined }, { state: 'settled' }],
] as const) {
  t.test(`who pays anew under a key, whose first payment was left as ${progress}, goes on`, async (t) => {
    const claims = openClaims(t);
    await holding(claims, progress);
    claims.clock.now += LEASE_MS;
    t.match(await claims.claim({ id: 'second' }, { request: KEYED }), gets);
    t.match(await claims.payment('first'), first);
  });
}

t.test('what was left behind under a key ends as its chain says', async (t) => {
  for (const progress of ['settling first', 'unknown', 'fulfilled'] as const) {
    const claims = openClaims(t);
    await holding(claims, progress);
    claims.clock.now += LEASE_MS;
    claims.world.chain = SETTLED;
    const got = await claims.claim({ id: 'second' }, { request: KEYED });
    const answer = progress === 'fulfilled' ? sampleAnswer() : undefined;
    t.match(got, { receipt: { transaction: '0xmoved' }, answer }, progress);
    t.match(await claims.payment('first'), { state: 'settled' });
  }
});

t.test('while the first payment under a key has not ended, nothing else is charged', async (t) => {
  for (const [progress, passed, state] of [
    ['claimed', 0, 'claimed'],
    ['claimed', LEASE_MS - 1, 'claimed'],
    ['fulfilled', 0, 'fulfilled'],
    ['settled first', 0, 'settled'],
    ['settling first', LEASE_MS, 'unknown'],
    ['unknown', 0, 'unknown'],
  ] as const) {
    const claims = openClaims(t);
    await holding(claims, progress);
    claims.clock.now += passed;
    claims.world.chain = unknown('no answer');
    await t.rejects(claims.claim({ id: 'second' }, { request: KEYED }), unended, progress);
    t.match(await claims.payment('first'), { state });
    t.equal(await claims.store.find('second'), undefined);
  }
});

t.test('what was refused for good under a key is told so', async (t) => {
  const claims = openClaims(t);
  await holding(claims, 'refused by the provider');
  await t.rejects(claims.claim({ id: 'second' }, { request: KEYED }), {
    code: 'result_owed',
    message: /content_refused/,
  });
  t.match(await claims.payment('first'), { state: 'owed', attempt: 1 });
});

t.test('a key buys one request: another is told so, however the first has ended', async (t) => {
  for (const progress of ['claimed', 'settled', 'owed', 'refused by the provider', 'settled first'] as const) {
    const claims = openClaims(t);
    await holding(claims, progress);
    claims.clock.now += LEASE_MS;
    const before = await claims.payment('first');
    await t.rejects(claims.claim({ id: 'second' }, { request: OTHER }), otherRequest, progress);
    t.same(await claims.payment('first'), before);
  }
});

t.test('a key is its payer’s, at one endpoint, however the payer’s address is spelt', async (t) => {
  const route = { id: 'another' };
  for (const [verified, elsewhere, gets] of [
    [{ payer: 'PAYER-1' }, {}, { receipt: EARLIER }],
    [{ payer: 'payer-2' }, {}, own],
    [{ payerIsProven: false }, {}, own],
    [{}, route, own],
  ] as const) {
    const claims = openClaims(t);
    await holding(claims, 'settled');
    claims.world.verified = verified;
    const quote = { request: KEYED, route: { ...mppRoute('/mpp/a'), ...elsewhere } };
    t.match(await claims.claim({ id: 'second' }, quote), gets);
  }
});

t.test('a key has at least one character, and comes once', async (t) => {
  for (const [key, isKey] of [
    ['a'.repeat(255), true],
    ['a'.repeat(256), true],
    ['a'.repeat(8_000), true],
    ['a', true],
    ['', false],
    [['a', 'a'], false],
  ] as const) {
    const claims = openClaims(t);
    const quote = { request: under(typeof key === 'string' ? key : [...key]) };
    const first = await claims.claim({ id: 'first' }, quote);
    if ('claim' in first) await claims.bring(first.claim, 'settled');
    t.match(await claims.claim({ id: 'second' }, quote), isKey ? { receipt: EARLIER } : own, `${key.length} long`);
  }
});

t.test('a key is that of who acts for the payer, where the payer itself has signed nothing', async (t) => {
  for (const [caller, gets] of [
    ['0xacts', { receipt: EARLIER }],
    ['0xother', own],
    [undefined, own],
  ] as const) {
    const claims = openClaims(t);
    const unsigned = { payerIsProven: false };
    claims.world.verified = { ...unsigned, caller: '0xacts' };
    const first = await claims.claim({ id: 'first' }, { request: KEYED });
    if ('claim' in first) await claims.bring(first.claim, 'settled');
    claims.world.verified = { ...unsigned, ...(caller && { caller }) };
    t.match(await claims.claim({ id: 'second' }, { request: KEYED }), gets, `${caller}`);
  }
});
