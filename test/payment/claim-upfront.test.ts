/** Which payments settle before the work, and whose money has to cover more than one. */
import t, { type Test } from 'tap';
import type { ExposureFile } from '../../src/catalogue/types.ts';
import { unused } from '../../src/on-chain/settlement.ts';
import { WITHDRAW_DELAY } from '../../src/payment/channels/channel.ts';
import type { Holder } from '../../src/payment/exposure/holder.ts';
import { usualIntervals } from '../../src/payment/intervals.ts';
import type { VerifiedPayment } from '../../src/payment/rail.ts';
import {
  afterResultFirst,
  authorizationSeconds,
  demandOutliving,
  endsBeforeTheWork,
  endsTooSoonOn,
} from '../../src/payment/settle-upfront.ts';
import { LEASE_MS, openClaims, PRICE, START } from './claiming.ts';

const RICH = 10n ** 12n;
const holder = (isContract: boolean, balance = async () => RICH): Holder => ({ isContract, balance });

/** Opens a gateway and has one payment claimed, verified as told. */
async function claimed(t: Test, verified: Partial<VerifiedPayment>, exposure: ExposureFile = {}) {
  const claims = openClaims(t, exposure);
  claims.world.verified = verified;
  return { ...claims, work: await claims.claim() };
}

t.test(
  'a payment settles first for the reason that was found, and contracts do where nothing else says so',
  async (t) => {
    for (const [upfront, isContract, contracts, reason] of [
      [undefined, false, true, undefined],
      ['above', false, true, 'above'],
      ['above', true, true, 'above'],
      ['held', true, true, 'held'],
      ['offered', false, true, 'offered'],
      ['offered', true, true, 'contract'],
      ['offered', true, false, 'offered'],
      [undefined, true, true, 'contract'],
      [undefined, true, false, undefined],
    ] as const) {
      const { work, payment } = await claimed(
        t,
        { upfront, holder: holder(isContract) },
        { settleUpfront: { contracts } },
      );
      t.match(work, { verified: { upfront: reason }, mayHaveSettled: false });
      t.equal((await payment()).settleUpfront, reason !== undefined, 'and it is kept so');
    }
  },
);

t.test(
  'a payment that has become too short to settle after the work, as it was to, is not settled before',
  async (t) => {
    for (const [settleUpfront, upfront, isTaken] of [
      [false, 'deadline', false],
      [true, 'deadline', true],
      [false, undefined, true],
      [false, 'above', true],
    ] as const) {
      const claims = openClaims(t);
      await claims.left('released', { facts: { settleUpfront } });
      claims.world.verified = { upfront };
      if (isTaken) {
        t.match(await claims.claim(), { claim: { attempt: 2 }, verified: { upfront } });
        continue;
      }
      await t.rejects(claims.claim(), { kind: 'payment-expired', message: /ends before the work may be done/ });
      t.match(await claims.payment(), { state: 'released', attempt: 1 });
    }
    t.match(await claimed(t, { upfront: 'deadline' }), { work: { verified: { upfront: 'deadline' } } });
  },
);

t.test('who was told before losses changed it that nothing settles first has to agree anew', async (t) => {
  for (const [offeredAt, isTaken] of [
    [START, false],
    [START + 999, false],
    [START + 1_000, true],
  ] as const) {
    const claims = openClaims(t, { lossLimit: '1.00', perHour: '9.00' });
    claims.clock.now = START + 1_000;
    await claims.lose(1_000_000n);
    claims.world.verified = { upfront: 'loss', offeredAt };
    if (isTaken) {
      t.match(await claims.claim(), { verified: { upfront: 'loss' } });
      continue;
    }
    await t.rejects(claims.claim(), {
      kind: 'payment-expired',
      upfront: 'loss',
      message: /settling comes first by now \(too much was lost here.*the challenge was given before: pay a fresh one/,
    });
    t.equal(await claims.store.find('p'), undefined, 'and nothing is claimed');
  }
});

t.test('what may have settled already is settled, whatever losses or contracts say by now', async (t) => {
  for (const verified of [
    { upfront: 'loss', offeredAt: START },
    { holder: holder(true) },
    { upfront: 'above' },
  ] as const) {
    const claims = openClaims(t, { lossLimit: '1.00', perHour: '9.00' });
    claims.clock.now = START + 1_000;
    await claims.lose(1_000_000n);
    await claims.left('unknown');
    claims.world.chain = unused('not used yet');
    claims.world.verified = verified;
    t.match(await claims.claim(), { verified: { upfront: 'offered' }, mayHaveSettled: true });
  }
});

t.test(
  'a payer that has more under way than it may settles first, for that reason where there is no other',
  async (t) => {
    const exposure = { new: '0.049999' };
    for (const [upfront, reason] of [
      [undefined, 'exposure'],
      ['offered', 'exposure'],
      ['above', 'above'],
    ] as const) {
      const { work, payment, unproven } = await claimed(t, { upfront }, exposure);
      t.match(work, { verified: { upfront: reason } });
      t.match(await payment(), { settleUpfront: true });
      t.equal(unproven(), 49_999n, 'and then takes nothing of what others may');
    }
    t.match(await claimed(t, {}, { new: '0.05' }), { work: { verified: { upfront: undefined } } });
    t.match(await claimed(t, { isCovered: true }, exposure), { work: { verified: { upfront: undefined } } });
  },
);

t.test('a payer whose settlements failed after the work settles first', async (t) => {
  const claims = openClaims(t, { settleUpfront: { afterFailures: 2 } });
  await claims.lose(1n, { payer: 'payer-1' });
  t.match(await claims.claim({ id: 'once' }), { verified: { upfront: undefined } });
  await claims.lose(2n, { payer: 'payer-1' });
  t.match(await claims.claim({ id: 'twice' }), { verified: { upfront: 'failures' } });
});

t.test('who has no record and was told before others were lost too much has to agree anew', async (t) => {
  const claims = openClaims(t, { perHour: '1.00' });
  claims.clock.now = START + 1_000;
  await claims.lose(1_000_000n);
  claims.world.verified = { offeredAt: START + 999 };
  const message = /settling comes first by now \(this payer has as much under way as it may\)/;
  await t.rejects(claims.claim(), { kind: 'payment-expired', upfront: 'exposure', message });
  t.match(await claims.payment(), { state: 'released', attempt: 1, reason: message });
  claims.world.verified = { offeredAt: START + 1_000 };
  t.match(await claims.claim(), { verified: { upfront: 'exposure' } });
});

t.test('who has a record and too much under way besides was always told', async (t) => {
  const claims = openClaims(t, { perHour: '1.00', perPayer: '0.04' });
  await claims.left('settled', { id: 'record' });
  claims.clock.now = START + 1_000;
  await claims.lose(1_000_000n);
  claims.world.verified = { offeredAt: START };
  t.match(await claims.claim(), { verified: { upfront: 'exposure' } });
});

t.test('what cannot settle before the work has to be paid otherwise by who has to', async (t) => {
  const exposure = { new: '0.04' };
  const claims = openClaims(t, exposure);
  claims.world.verified = { canSettleUpfront: false };
  const message = /settle before the work \(this payer has as much under way as it may\): pay by the scheme exact/;
  await t.rejects(claims.claim(), { kind: 'verification-failed', upfront: 'exposure', message });
  t.match(await claims.payment(), { state: 'released', reason: message });
  t.equal(claims.unproven(), 40_000n);
  t.match(await claimed(t, { canSettleUpfront: false }), { work: { verified: { upfront: undefined } } });
});

/** A payer with this balance, and another payment of it under way. */
async function withAnother(t: Test, balance: () => Promise<bigint>) {
  const claims = openClaims(t);
  const asked = { times: 0 };
  const counted = async () => {
    asked.times += 1;
    return balance();
  };
  claims.world.verified = { holder: holder(false, counted) };
  await claims.left('claimed', { id: 'open' });
  return { ...claims, asked };
}

t.test('one balance pays for one thing at a time', async (t) => {
  const enough = await withAnother(t, async () => 2n * PRICE);
  t.match(await enough.claim(), { claim: { attempt: 1 } });

  const short = await withAnother(t, async () => 2n * PRICE - 1n);
  await t.rejects(short.claim(), {
    kind: 'payment-insufficient',
    message: /the 99999 atomic units .* do not cover this payment and the 50000 of those under way: wait for them/,
  });
  t.match(await short.payment(), { state: 'released', reason: 'the balance does not cover what is under way' });

  const unread = await withAnother(t, async () => {
    throw new Error('the node is down');
  });
  await t.rejects(unread.claim(), { kind: 'verification-failed', message: /could not be read at the moment/ });
  t.match(await unread.payment(), { state: 'released' });
});

t.test('what its payer has sent already is taken, whatever else is under way', async (t) => {
  const short = await withAnother(t, async () => 0n);
  Object.assign(short.world.verified, { upfront: 'sent', isCovered: true });
  t.match(await short.claim(), { claim: { attempt: 1 }, verified: { upfront: 'sent' } });
});

t.test('nobody asks for the balance of who has nothing else under way, or whose money is here already', async (t) => {
  for (const [other, isCovered] of [
    ['settled', false],
    ['released', false],
    ['claimed', true],
  ] as const) {
    const claims = openClaims(t);
    await claims.left(other, { id: 'another' });
    const balance = async () => t.fail('it is asked');
    claims.world.verified = { isCovered, holder: holder(false, balance as unknown as () => Promise<bigint>) };
    t.match(await claims.claim(), { claim: { attempt: 1 } });
  }
});

t.test('who loses the payment while its balance is asked for leaves it to who has it', async (t) => {
  const claims = await withAnother(t, async () => {
    claims.clock.now += LEASE_MS;
    const leaseUntil = claims.clock.now + LEASE_MS;
    const terms = { owner: 'third', now: claims.clock.now, leaseUntil, maxAttempts: 9, maxOwedAttempts: 9 };
    await claims.store.claim(await claims.payment(), terms);
    return 0n;
  });
  await t.rejects(claims.claim(), { code: 'payment_in_progress' });
  t.match(await claims.payment(), { state: 'claimed', owner: 'third', attempt: 2 });
});

const TIGHT = { perHour: '0.50' };

t.test(
  'work for a payer without a record counts as lost from its claim until losses are measured after it',
  async (t) => {
    const { work, unproven, refresh } = await claimed(t, {}, TIGHT);
    t.equal(unproven(), 450_000n);
    await refresh();
    t.equal(unproven(), 450_000n, 'the work goes on');
    if ('workEnded' in work) work.workEnded();
    t.equal(unproven(), 450_000n);
    await refresh();
    t.equal(unproven(), 500_000n);
  },
);

t.test('what a record covers, and what settles first, counts for nothing', async (t) => {
  for (const [record, verified] of [
    [true, {}],
    [false, { upfront: 'above' }],
    [false, { upfront: 'offered' }],
  ] as const) {
    const claims = openClaims(t, TIGHT);
    claims.world.verified = { payer: 'payer-2' };
    await claims.claim({ id: 'stranger' });
    if (record) await claims.left('settled', { id: 'record' });
    claims.world.verified = verified;
    const work = await claims.claim();
    t.equal(claims.unproven(), 450_000n);
    if ('workEnded' in work) work.workEnded();
    await claims.refresh();
    t.equal(claims.unproven(), 450_000n, 'and when its work is over nothing is given back');
  }
});

t.test('what ends before any work begins counts for nothing', async (t) => {
  const claims = openClaims(t, TIGHT);
  claims.world.before.claim = async () => {
    throw new Error('the database is down');
  };
  await t.rejects(claims.claim(), { message: 'the database is down' });
  t.equal(claims.unproven(), 500_000n);
  claims.world.before = {};
  await claims.left('unknown');
  claims.world.chain = unused('not used yet');
  t.match(await claims.claim(), { mayHaveSettled: true });
  t.equal(claims.unproven(), 500_000n);
});

t.test('what is signed is asked to be good for the work and a minute, or as long as its network has it', (t) => {
  for (const [deadlineMs, authorizationLastsMs, seconds] of [
    [45_000, undefined, 105],
    [45_001, undefined, 106],
    [45_000, 60_000, 60],
    [45_000, 60_999, 60],
  ] as const) {
    t.equal(authorizationSeconds({ deadlineMs }, { authorizationLastsMs }), seconds);
  }
  t.end();
});

t.test('a payment that may end before the work and its settlement settles first', (t) => {
  for (const [goodForMs, ends] of [
    [59_999, true],
    [60_000, false],
    [60_001, false],
  ] as const) {
    t.equal(endsBeforeTheWork({ goodForMs, deadlineMs: 45_000, settleMarginMs: 15_000 }), ends);
    const demand = () => demandOutliving({ goodForMs, deadlineMs: 45_000 });
    if (ends) t.throws(demand, { kind: 'payment-expired', message: /ends before the work may be done/ });
    else t.doesNotThrow(demand);
  }
  t.end();
});

t.test('where all that can be signed on a network ends before the work, everybody settles first', (t) => {
  for (const [authorizationLastsMs, deadlineMs, ends] of [
    [60_000, 50_000, false],
    [60_000, 50_001, true],
    [60_999, 50_001, true],
    [undefined, 600_000, false],
  ] as const) {
    t.equal(endsTooSoonOn({ authorizationLastsMs }, { deadlineMs }), ends);
  }
  t.end();
});

t.test('offers that settle after the result come first, and keep their order', (t) => {
  const isUpfront = (offer: string) => offer.startsWith('first');
  t.same(afterResultFirst(['first 1', 'after 1', 'first 2', 'after 2'], isUpfront), [
    'after 1',
    'after 2',
    'first 1',
    'first 2',
  ]);
  t.end();
});

t.test('what is charged to a channel is claimed four times as soon as its payer could have its deposit back', (t) => {
  t.equal(usualIntervals.claims.afterMs * 4, WITHDRAW_DELAY * 1_000);
  t.end();
});
