/** Who may work on a payment: a new one, one that comes again, and one that somebody else has. */
import t, { type Test } from 'tap';
import { Problem } from '../../src/errors.ts';
import { refused, unknown, unused } from '../../src/on-chain/settlement.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { endingPauses } from '../pauses.ts';
import { sampleAnswer } from '../store/samples.ts';
import { another, LEASE_MS, openClaims, PRICE, receiptOf, request, SETTLED, START } from './claiming.ts';

const silent = unknown('no answer');
const unusedYet = unused('not used yet');
const expired = refused('it expired');

const EARLIER = receiptOf('0xearlier');
/** Once its lease is over. */
const FOUND = { ...receiptOf('0xmoved'), settledAt: START + LEASE_MS };
const USED = new Refusal('verification-failed', 'used');

t.test('a new payment is claimed as it was verified, for one lease', async (t) => {
  const { claim, payment, seen } = openClaims(t);
  t.match(await claim(), {
    claim: { id: 'p', attempt: 1 },
    leaseUntil: START + LEASE_MS,
    network: 'chain-a',
    payer: 'payer-1',
    asset: 'asset-1',
    answer: undefined,
    verified: { upfront: undefined },
    mayHaveSettled: false,
  });
  t.match(await payment(), {
    rail: 'mpp',
    state: 'claimed',
    attempt: 1,
    owner: 'here',
    leaseUntil: START + LEASE_MS,
    payTo: 'merchant-1',
    amount: `${PRICE}`,
    route: 'mpp/a',
    fingerprint: 'fingerprint of p',
    settleUpfront: false,
  });
  t.equal((await payment()).door, undefined);
  t.same(seen, ['arrives', 'verified', 'is payer-1']);
});

t.test('nobody is counted for what another may have signed in his name', async (t) => {
  for (const [verified, counted] of [
    [{ payerIsProven: false }, []],
    [{ payerIsProven: false, caller: 'key-1' }, ['is key-1']],
    [{ caller: 'key-1' }, ['is key-1']],
  ] as const) {
    const { claim, world, seen } = openClaims(t);
    world.verified = verified;
    await claim();
    t.same(seen, ['arrives', 'verified', ...counted]);
  }
});

t.test('a payment that comes with a tool call is kept as one', async (t) => {
  const { claim, payment } = openClaims(t);
  await claim({}, { request: request({ transport: 'mcp' }) });
  t.equal((await payment()).door, 'mcp');
});

t.test('each step tells how long it took', async (t) => {
  for (const [offeredAt, challenge] of [
    [START - 400, 400],
    [START + 400, 0],
  ] as const) {
    const { claim, world, noted } = openClaims(t);
    world.verified = { offeredAt };
    const from = performance.now();
    await claim();
    const all = performance.now() - from;
    t.same(
      noted.map(([step]) => step),
      ['challenge', 'verified', 'claimed'],
    );
    const [answered = 0, verified = 0, claimed = 0] = noted.map(([, ms]) => ms);
    t.equal(answered, challenge, 'from the challenge to its answer, by clocks that may differ');
    t.ok(verified >= 0 && claimed >= 0 && verified + claimed <= all);
  }
});

const ASKED = 'its chain is asked';
const AGAIN = ['verified', 'is payer-1'];
const ANEW = ['arrives', ...AGAIN];
const SETTLES = [ASKED, 'verified to settle now'];

/** What it gets to work on: nothing is paid yet; it may be, and is worked for or not; it is. */
const unpaid = { verified: { upfront: undefined }, mayHaveSettled: false, answer: undefined };
const doubtful = { verified: { upfront: undefined }, mayHaveSettled: true, answer: sampleAnswer() };
const unworked = { verified: { upfront: 'offered' }, mayHaveSettled: true, answer: undefined };
const paid = { receipt: EARLIER, answer: undefined };
const found = { receipt: FOUND, answer: undefined };
const foundWorked = { receipt: FOUND, answer: sampleAnswer() };

for (const [progress, chain, gets, state, does] of [
  ['released', silent, unpaid, 'claimed', ANEW],
  ['claimed', silent, unpaid, 'claimed', AGAIN],
  ['settled', silent, { receipt: EARLIER, answer: sampleAnswer() }, 'settled', []],
  ['settled first', silent, paid, 'settled', []],
  ['owed', silent, paid, 'settled', []],
  ['fulfilled', SETTLED, foundWorked, 'settled', [ASKED]],
  ['fulfilled', unusedYet, doubtful, 'fulfilled', SETTLES],
  ['settling first', SETTLED, found, 'settled', [ASKED]],
  ['settling first', unusedYet, unworked, 'claimed', SETTLES],
  ['unknown', SETTLED, found, 'settled', [ASKED]],
  ['unknown', unusedYet, unworked, 'claimed', SETTLES],
  ['unknown and answered', SETTLED, foundWorked, 'settled', [ASKED]],
  ['unknown and answered', unusedYet, doubtful, 'fulfilled', SETTLES],
] as const) {
  t.test(`who returns with a payment that is ${progress} goes on, where its chain says ${chain.state}`, async (t) => {
    const { claim, left, payment, clock, world, seen } = openClaims(t);
    await left(progress);
    clock.now += LEASE_MS;
    world.chain = chain;
    const got = await claim();
    t.match(got, { network: 'chain-a', payer: 'payer-1', asset: 'asset-1', ...gets });
    if ('claim' in got) t.match(got, { claim: { id: 'p', attempt: 2 }, leaseUntil: clock.now + LEASE_MS });
    t.match(await payment(), {
      state,
      attempt: 'claim' in got ? 2 : 1,
      ...('receipt' in gets && { receipt: gets.receipt }),
    });
    t.same(seen, does);
  });
}

const pending = { name: 'Problem', code: 'settlement_pending' };
const inProgress = { name: 'Problem', code: 'payment_in_progress' };

for (const [progress, chain, refusal, state, does] of [
  ['unknown', silent, pending, 'unknown', [ASKED]],
  ['unknown and answered', silent, pending, 'unknown', [ASKED]],
  ['fulfilled', silent, pending, 'fulfilled', [ASKED]],
  ['settling first', silent, pending, 'claimed', [ASKED]],
  ['unknown', expired, { name: 'Refusal', message: /could not be settled \(it expired\)/ }, 'unsettled', [ASKED]],
  [
    'fulfilled',
    expired,
    { name: 'Refusal', message: /could not be settled \(it expired\)/ },
    'unsettled',
    [ASKED, ASKED],
  ],
  ['unsettled', silent, { name: 'Refusal', message: /could not be settled \(it expired\)/ }, 'unsettled', ['arrives']],
  ['refused by the provider', silent, { code: 'result_owed', message: /content_refused/ }, 'owed', []],
  ['given back', silent, { code: 'refunded', message: /its transaction follows/ }, 'refunded', []],
] as const) {
  t.test(
    `who returns with a payment that is ${progress} gets no work, where its chain says ${chain.state}`,
    async (t) => {
      const { claim, left, payment, clock, world, seen } = openClaims(t);
      await left(progress);
      clock.now += LEASE_MS;
      world.chain = chain;
      await t.rejects(claim(), refusal);
      t.match(await payment(), { state });
      t.same(seen, does, 'and nothing is verified');
    },
  );
}

t.test('a payment has one holder, until the very end of its lease', async (t) => {
  for (const progress of ['claimed', 'fulfilled', 'settling first', 'settled first'] as const) {
    const { claim, left, clock, world, seen } = openClaims(t);
    world.chain = unusedYet;
    await left(progress);
    clock.now += LEASE_MS - 1;
    await t.rejects(claim(), inProgress, progress);
    t.same(seen, []);
    clock.now += 1;
    t.match(await claim(), { claim: { attempt: 2 } }, progress);
  }
});

t.test('a second request waits for the first, a little longer each time, and gets its answer', async (t) => {
  const pauses = endingPauses(t);
  const { claim, left, bring, world, seen } = openClaims(t, {}, 1_000);
  const first = await left('claimed');
  let looks = 0;
  world.before.find = async () => {
    looks += 1;
    if (looks === 8) await bring(first, 'settled');
  };
  t.match(await claim(), { answer: sampleAnswer(), receipt: EARLIER });
  t.same(pauses, [20, 40, 80, 160, 250, 250, 250]);
  t.same(seen, []);
});

t.test('it has waited long enough once the time for that is over', async (t) => {
  const pauses = endingPauses(t);
  const { claim, left, world, clock } = openClaims(t, {}, 1_000);
  await left('claimed');
  world.before.find = async () => {
    clock.now += 500;
  };
  await t.rejects(claim(), inProgress);
  t.same(pauses, [20]);
});

t.test('a payment is its signer’s, and buys the request that it was first shown with', async (t) => {
  for (const progress of ['released', 'claimed', 'settled', 'owed', 'unknown'] as const) {
    const { claim, left, payment, clock, seen } = openClaims(t);
    await left(progress);
    clock.now += LEASE_MS;
    const kind = 'invalid-challenge';
    await t.rejects(claim({ fingerprint: "a stranger's" }), { kind, message: /has been used: sign a new one/ });
    await t.rejects(claim({}, { request: another }), { kind, message: /belongs to another request/ });
    t.match(await payment(), { attempt: 1 });
    t.same(seen, ['arrives', 'arrives'], 'each as a bad one');
  }
});

t.test('a payment may be tried three times before it is paid, or as often as its credential says', async (t) => {
  for (const [attempts, allowed] of [
    [undefined, 3],
    [5, 5],
  ] as const) {
    const shown = attempts === undefined ? {} : { attempts };
    const { claim, left } = openClaims(t);
    await left('released', { id: 'left', attempts: allowed - 1 });
    t.match(await claim({ id: 'left', ...shown }), { claim: { attempt: allowed } });
    await left('released', { id: 'spent', attempts: allowed });
    await t.rejects(claim({ id: 'spent', ...shown }), {
      kind: 'invalid-challenge',
      message: `this payment was tried ${allowed} times and never charged: sign a new one`,
    });
  }
});

t.test('one whose instance died at its last attempt is free of it, and says so', async (t) => {
  const { claim, left, payment, clock, seen } = openClaims(t);
  await left('claimed', { attempts: 3 });
  clock.now += LEASE_MS;
  await t.rejects(claim(), { kind: 'invalid-challenge', message: /was tried 3 times/ });
  t.match(await payment(), { state: 'released' });
  t.same(seen, []);
});

t.test('what is owed is worked for twenty times, and no more', async (t) => {
  const { claim, left, payment } = openClaims(t);
  await left('owed', { id: 'left', attempts: 19 });
  t.match(await claim({ id: 'left' }), { claim: { attempt: 20 }, receipt: EARLIER });
  await left('owed', { id: 'spent', attempts: 20 });
  await t.rejects(claim({ id: 'spent' }), { code: 'result_owed', message: /goes on failing/ });
  t.match(await payment('spent'), { state: 'owed', attempt: 20 });
});

t.test('what may be paid and took its last attempt along ends as its chain says', async (t) => {
  for (const [chain, refusal, state] of [
    [silent, pending, 'unknown'],
    [SETTLED, { code: 'result_owed', message: /goes on failing/ }, 'owed'],
    [expired, { kind: 'verification-failed', message: /could not be settled/ }, 'unsettled'],
  ] as const) {
    const { claim, left, payment, world, seen } = openClaims(t);
    await left('unknown', { attempts: 20 });
    world.chain = chain;
    await t.rejects(claim(), refusal);
    t.match(await payment(), { state });
    t.same(seen, [ASKED]);
  }
});

t.test('one that another takes over meanwhile is the other’s', async (t) => {
  for (const [progress, attempts, chain] of [
    ['claimed', 3, silent],
    ['claimed', 1, silent],
    ['owed', 1, silent],
    ['fulfilled', 1, SETTLED],
  ] as const) {
    const { claim, left, store, clock, world, payment } = openClaims(t);
    await left(progress, { attempts });
    clock.now += LEASE_MS;
    world.chain = chain;
    world.before.claim = async () => {
      const leaseUntil = clock.now + LEASE_MS;
      await store.claim(await payment(), {
        owner: 'third',
        now: clock.now,
        leaseUntil,
        maxAttempts: 9,
        maxOwedAttempts: 9,
      });
    };
    await t.rejects(claim(), inProgress, progress);
    t.match(await payment(), { owner: 'third', attempt: attempts + 1 });
  }
});

t.test('who loses a payment while it writes down that it is settled gives what it bought', async (t) => {
  const { claim, left, store, clock, world, payment } = openClaims(t);
  await left('fulfilled');
  clock.now += LEASE_MS;
  world.chain = SETTLED;
  world.before.settle = async () => {
    clock.now += LEASE_MS;
    const leaseUntil = clock.now + LEASE_MS;
    await store.claim(await payment(), {
      owner: 'third',
      now: clock.now,
      leaseUntil,
      maxAttempts: 9,
      maxOwedAttempts: 9,
    });
  };
  const got = await claim();
  t.match(got, { answer: sampleAnswer(), receipt: FOUND });
  t.notOk('claim' in got, 'and has no work with it');
});

t.test('an answer that holds a secret is given again only to who shows more than its chain does', async (t) => {
  for (const [isSecret, isPrivate, isGiven] of [
    [true, true, true],
    [true, false, false],
    [false, true, true],
    [false, false, true],
  ] as const) {
    const { claim, left } = openClaims(t);
    await left('settled');
    const again = claim({ isPrivate }, { isSecret });
    if (isGiven) t.match(await again, { answer: sampleAnswer() });
    else await t.rejects(again, { kind: 'invalid-challenge', message: /it was given once/ });
  }
});

t.test('a gateway that stops begins nothing, and gives what was bought', async (t) => {
  const draining = { code: 'draining', message: /send the same request with the same payment again/ };
  const { claim, left, store, stop, world, seen } = openClaims(t);
  await left('settled', { id: 'bought' });
  await left('released', { id: 'tried' });
  world.whileVerifying = async () => stop();
  await t.rejects(claim({ id: 'new' }), draining);
  t.equal(await store.find('new'), undefined);
  t.same(seen.splice(0), ['arrives', 'verified']);
  await t.rejects(claim({ id: 'tried' }), draining);
  t.match(await store.find('tried'), { state: 'released', attempt: 1 });
  t.same(seen, []);
  t.match(await claim({ id: 'bought' }), { answer: sampleAnswer() });
});

t.test('who asks too much is sent away before it costs anything', async (t) => {
  const limited = new Problem('rate_limited');
  const throwing = () => {
    throw limited;
  };
  const { claim, store, world, seen } = openClaims(t);
  const { gate } = world;
  world.gate = { ...gate, arrives: throwing };
  await t.rejects(claim(), limited);
  t.same(seen, [], 'nothing is verified for a stranger');
  world.gate = { ...gate, identified: throwing };
  await t.rejects(claim(), limited);
  t.equal(await store.find('p'), undefined, 'and nothing claimed for a payer');
});

t.test('an attempt of ours that may settle yet is no reason to pay again', async (t) => {
  const down = new Problem('store_unavailable');
  for (const [progress, error, thrown] of [
    ['unknown', USED, pending],
    ['unknown', down, down],
    ['released', USED, USED],
    ['released', down, down],
  ] as const) {
    const { claim, left, world, seen } = openClaims(t);
    await left(progress);
    world.chain = unusedYet;
    world.refusal = error;
    await t.rejects(claim(), thrown);
    t.equal(seen.filter((step) => step.startsWith('verified')).length, 1);
  }
});

/** Another request goes on with the payment while this one is verified for the first time, and this one is refused, if so. */
function overtaken(t: Test, meanwhile: (claims: ReturnType<typeof openClaims>) => Promise<unknown>, refusal?: Error) {
  const claims = openClaims(t);
  const { world } = claims;
  world.refusal = refusal;
  world.whileVerifying = async () => {
    world.whileVerifying = async () => {
      world.refusal = undefined;
    };
    await meanwhile(claims);
  };
  return claims;
}

t.test('what looks spent may have bought an answer meanwhile', async (t) => {
  for (const refusal of [USED, undefined]) {
    const { claim, seen, noted } = overtaken(t, ({ left }) => left('settled'), refusal);
    t.match(await claim(), { answer: sampleAnswer(), receipt: EARLIER });
    t.same(seen.slice(0, 2), ['arrives', 'verified']);
    t.notOk(
      noted.some(([step]) => step === 'claimed'),
      'and it was not claimed here',
    );
  }
});

t.test('who comes with the proof of another, who pays with it meanwhile, gets nothing of what that buys', async (t) => {
  const facts = { fingerprint: "its payer's" };
  const { claim, payment } = overtaken(t, ({ left }) => left('settled', { facts }));
  await t.rejects(claim(), { kind: 'invalid-challenge', message: /has been used: sign a new one/ });
  t.match(await payment(), { state: 'settled', attempt: 1 });
  const late = overtaken(t, ({ left }) => left('claimed'));
  await t.rejects(
    late.claim(),
    { ...inProgress, message: /^This payment is being worked on/ },
    'nor does who comes twice',
  );
});

t.test('what another request tried and let go of meanwhile is verified again', async (t) => {
  const { claim, left, seen } = overtaken(t, ({ left }) => left('released', { attempts: 1 }), USED);
  await left('released');
  t.match(await claim(), { claim: { attempt: 3 } });
  t.same(seen, ['arrives', 'verified', ...ANEW]);
});

t.test('what its chain showed to another meanwhile is worked for', async (t) => {
  const { claim, left, world, seen } = overtaken(
    t,
    ({ store }) => store.resolve('p', { state: 'settled', receipt: EARLIER }, START),
    USED,
  );
  await left('unknown');
  world.chain = unusedYet;
  t.match(await claim(), { receipt: EARLIER, answer: undefined });
  t.same(seen, SETTLES);
});

t.test('what another settled and could not work for meanwhile is worked for, and not settled again', async (t) => {
  const { claim, left, world, payment } = overtaken(t, async ({ store, bring, payment }) => {
    const terms = { owner: 'third', now: START, leaseUntil: START + 1, maxAttempts: 9, maxOwedAttempts: 9 };
    const outcome = await store.claim(await payment(), { ...terms, settleAgain: true });
    if (!outcome.won) throw new Error('it was not free');
    await bring(outcome.claim, 'owed');
  });
  await left('unknown');
  world.chain = unusedYet;
  const got = await claim();
  t.match(got, { claim: { attempt: 3 }, receipt: EARLIER, answer: undefined, leaseUntil: START + LEASE_MS });
  t.notOk('verified' in got);
  t.match(await payment(), { state: 'settled', owner: 'here' });
});

t.test('what is wrong with verifying is told, whoever went on meanwhile', async (t) => {
  const down = new Error('the node is down');
  const { claim } = overtaken(t, ({ left }) => left('settled'), down);
  await t.rejects(claim(), down);
});

t.test('what cannot be settled before the work any more, and may be settled, is seen through', async (t) => {
  for (const verified of [
    { canSettleUpfront: false },
    { upfront: 'deadline', canSettleUpfront: false },
    { upfront: 'loss', offeredAt: 0, canSettleUpfront: false },
  ] as const) {
    const { claim, left, world } = openClaims(t);
    await left('unknown');
    world.chain = unusedYet;
    world.verified = verified;
    t.match(await claim(), { verified: { upfront: undefined }, mayHaveSettled: true, answer: undefined });
  }
});
