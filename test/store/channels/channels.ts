import type { Test } from 'tap';
import type { Channel, ChannelFacts, ChannelState, Draw, Drawn } from '../../../src/store/channels/channel-store.ts';
import type { Claim, Receipt, Store } from '../../../src/store/store.ts';
import { won } from '../arrivals.ts';
import type { Promised } from '../promised.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

/** Times that calls are repeated which come at the same moment. */
const ROUNDS = 30;

const idOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
export const ID = idOf(1);

const sampleChannel = (changes: Partial<ChannelFacts> = {}): ChannelFacts => ({
  id: ID,
  network: 'chain-a',
  payer: 'payer-1',
  config: '{"salt":"0x01"}',
  ...changes,
});

/** A channel with 1,000 units, of which nothing was claimed. */
export const FOUND: ChannelState = { balance: '1000', totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: '0' };

/** A call of 100 units on a channel with 1,000, by a voucher of `max` in all. */
const sampleDraw = (max: number | bigint, changes: Partial<Draw> = {}): Draw => ({
  facts: sampleChannel(),
  voucher: { max: String(max), signature: `signed ${max}` },
  amount: '100',
  deposit: '0',
  found: FOUND,
  ...changes,
});

const receiptOf = (charged: number | bigint, id = ID): Receipt => ({
  ...sampleReceipt(id),
  channel: { id, charged: String(charged) },
});

const claimed = (store: Store, id: string): Promise<Claim> => won(store, sampleFacts(id), claimAt(1));

const on = (id: string, max: number | bigint, network = 'chain-a'): Draw =>
  sampleDraw(max, { facts: sampleChannel({ id, network }) });

/** A call of 100 units that ends well; `max` is what its voucher is for in all. */
export async function sold(store: Store, max: number, { id = ID, network = 'chain-a', now = 2, charged = max } = {}) {
  const claim = await claimed(store, `sold ${max} of ${id}`);
  const drawn = await store.channels.reserve(claim, on(id, max, network), now);
  if (drawn !== 'reserved') throw new Error(`the call is ${drawn}`);
  await store.fulfil(claim, sampleAnswer(), { now });
  if (!(await store.settle(claim, receiptOf(charged, id), now))) throw new Error('the call was not settled');
}

async function channelOf(store: Store, id = ID): Promise<Channel> {
  const channel = await store.channels.find(id);
  if (!channel) throw new Error(`the channel ${id} should be there`);
  return channel;
}

const ids = (channels: readonly Channel[]): string[] => channels.map(({ id }) => id);

/** Payments that have a channel, still at work. */
const underWay = {
  claimed: async () => true,
  fulfilled: (store, claim) => store.fulfil(claim, sampleAnswer(), { now: 2 }),
  unknown: (store, claim) => store.giveUp(claim, 'unknown', 'nobody can be asked', 2),
} satisfies Record<string, (store: Store, claim: Claim) => Promise<boolean>>;

/** Payments that had a channel, and have come to nothing. */
const overWithout = {
  released: (store, claim) => store.giveUp(claim, 'released', 'upstream_failed', 2),
  unsettled: (store, claim) => store.giveUp(claim, 'unsettled', 'refused', 2),
} satisfies Record<string, (store: Store, claim: Claim) => Promise<boolean>>;

/** Payments that were charged to their channel. */
const overWith = {
  async settled(store, claim) {
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    return store.settle(claim, receiptOf(100), 2);
  },
  'settled without an answer': (store, claim) => store.settle(claim, receiptOf(100), 2),
  async owed(store, claim) {
    await store.settle(claim, receiptOf(100), 2);
    return store.giveUp(claim, 'owed', 'upstream_failed', 2);
  },
  async 'settled after nobody could be asked'(store, claim) {
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    await store.giveUp(claim, 'unknown', 'nobody can be asked', 2);
    return store.resolve(claim.id, { state: 'settled', receipt: receiptOf(100) }, 3);
  },
} satisfies Record<string, (store: Store, claim: Claim) => Promise<boolean>>;

/** `breaking` makes the database refuse to write a receipt, until the function it resolves to is called. */
export async function chargesWithItsReceipt(t: Test, store: Store, breaking: () => Promise<() => unknown>) {
  const claim = await claimed(store, 'one');
  await store.channels.reserve(claim, sampleDraw(100), 1);
  const before = await channelOf(store);
  const mend = await breaking();
  await t.rejects(store.settle(claim, receiptOf(100), 2));
  await mend();
  t.same(await channelOf(store), before, 'without its receipt nothing is charged');
  t.match(await store.find('one'), { state: 'claimed', receipt: undefined });
  t.equal(await store.settle(claim, receiptOf(100), 3), true);
  t.match(await channelOf(store), { charged: '100', pending: undefined });
}

/** `together` makes calls, on either store, that are all under way before any of them can change a channel. */
export async function claimsChannelsAlone(
  t: Test,
  [store, other]: readonly [Store, Store],
  together: <Result>(calls: (() => Promise<Result>)[]) => Promise<Result[]>,
) {
  await sold(store, 100);
  const payments = [await claimed(store, 'one'), await claimed(other, 'two')] as const;
  const drawn = await together([
    () => store.channels.reserve(payments[0], sampleDraw(200), 3),
    () => other.channels.reserve(payments[1], sampleDraw(200), 3),
  ]);
  t.same([...drawn].sort(), ['busy', 'reserved']);
  const winner = payments[drawn.indexOf('reserved')] ?? payments[0];

  await store.giveUp(winner, 'unknown', 'nobody can be asked', 4);
  const receipt = receiptOf(200);
  const charged = await together([
    () => store.settle(winner, receipt, 5),
    () => other.resolve(winner.id, { state: 'settled', receipt }, 5),
    () => other.channels.sync(ID, FOUND, 5).then(() => true),
  ]);
  t.equal(charged[0], true, 'who settles is told so, whoever was first');
  t.match(await channelOf(store), { charged: '200', pending: undefined, voucher: { max: '200' } });
  t.match(await store.find(winner.id), { state: 'owed', receipt });
}

/** One call at a time draws from a deposit, and what it cost is charged once. */
export function channels(promise: Promised): void {
  drawing(promise);
  drawingOnClaim(promise);
  charging(promise);
  chargingWithTheAnswer(promise);
  spending(promise);
  collecting(promise);
}

function drawing(promise: Promised): void {
  promise('keeps a voucher before its work, with the channel as its chain told it', async (t, store, open) => {
    t.equal(await store.channels.find(ID), undefined);
    const claim = await claimed(store, 'first');
    const found = { balance: '1000', totalClaimed: '40', withdrawRequestedAt: 7, refundNonce: '3' };
    t.equal(await store.channels.reserve(claim, sampleDraw(140, { found }), 5), 'reserved');
    t.same(await (await open()).channels.find(ID), {
      ...sampleChannel(),
      ...found,
      charged: '40',
      voucher: undefined,
      pending: { paymentId: 'first', max: '140', signature: 'signed 140' },
      syncedAt: 5,
      unclaimedSince: undefined,
      createdAt: 5,
      updatedAt: 5,
    });
  });

  promise('takes a channel that it does not know for what its voucher says was charged before', async (t, store) => {
    const claim = await claimed(store, 'first here');
    t.equal(await store.channels.reserve(claim, sampleDraw(700), 5), 'reserved');
    t.match(await channelOf(store), { charged: '600', totalClaimed: '0', voucher: undefined });
    t.equal(await store.settle(claim, receiptOf(700), 6), true);
    t.match(await channelOf(store), { charged: '700', voucher: { max: '700' } });
  });

  for (const [state, arrive] of Object.entries(underWay)) {
    promise(`keeps a channel for a payment that is ${state}`, async (t, store, open) => {
      const claim = await claimed(store, 'one');
      await store.channels.reserve(claim, sampleDraw(100), 1);
      t.equal(await arrive(store, claim), true);
      const before = await channelOf(store);
      const other = await open();
      t.equal(await other.channels.reserve(await claimed(other, 'other'), sampleDraw(100), 3), 'busy');
      t.equal(await other.channels.reserve(await claimed(other, 'later'), sampleDraw(200), 3), 'busy');
      t.same(await channelOf(store), before);
    });
  }

  for (const [state, arrive] of Object.entries(overWithout)) {
    promise(`has a channel free, and nothing charged to it, once its payment is ${state}`, async (t, store) => {
      const claim = await claimed(store, 'one');
      await store.channels.reserve(claim, sampleDraw(100), 1);
      t.equal(await arrive(store, claim), true);
      t.equal(await store.channels.reserve(await claimed(store, 'later'), sampleDraw(200), 3), 'mismatch');
      t.equal(await store.channels.reserve(await claimed(store, 'other'), sampleDraw(100), 3), 'reserved');
      t.match(await channelOf(store), { charged: '0', voucher: undefined, pending: { paymentId: 'other' } });
    });
  }

  for (const [state, arrive] of Object.entries(overWith)) {
    promise(`has a channel free, and charged, once its payment is ${state}`, async (t, store) => {
      const claim = await claimed(store, 'one');
      await store.channels.reserve(claim, sampleDraw(100), 1);
      t.equal(await arrive(store, claim), true);
      const charged = { charged: '100', voucher: { max: '100', signature: 'signed 100' } };
      t.match(await channelOf(store), { ...charged, pending: undefined });
      t.equal(await store.channels.reserve(await claimed(store, 'other'), sampleDraw(100), 3), 'mismatch');
      t.equal(await store.channels.reserve(await claimed(store, 'later'), sampleDraw(200), 3), 'reserved');
      t.match(await channelOf(store), { ...charged, pending: { paymentId: 'later' } });
    });
  }

  promise('keeps the channel for the payment that has it, however often that is tried', async (t, store) => {
    const first = await claimed(store, 'one');
    t.equal(await store.channels.reserve(first, sampleDraw(100), 1), 'reserved');
    t.equal(await store.channels.reserve(first, sampleDraw(100), 2), 'reserved');
    const second = await won(store, sampleFacts('one'), claimAt(50));
    t.equal(await store.channels.reserve(second, sampleDraw(100), 51), 'reserved');
    t.match(await channelOf(store), { charged: '0', pending: { paymentId: 'one', max: '100' }, updatedAt: 51 });
  });

  promise('keeps nothing for a claim that was lost or has ended', async (t, store) => {
    await sold(store, 100);
    const old = await claimed(store, 'one');
    const current = await won(store, sampleFacts('one'), claimAt(50));
    const before = await channelOf(store);
    t.equal(await store.channels.reserve(old, sampleDraw(200), 51), 'lost');
    await store.giveUp(current, 'released', 'upstream_failed', 52);
    t.equal(await store.channels.reserve(current, sampleDraw(200), 53), 'lost');
    t.equal(await store.channels.reserve({ id: 'nobody', attempt: 1 }, sampleDraw(200), 53), 'lost');
    t.same(await channelOf(store), before);
  });

  promise('takes no voucher that does not go on from what was charged', async (t, store) => {
    await sold(store, 100);
    const before = await channelOf(store);
    const claim = await claimed(store, 'next');
    for (const max of [100, 199, 201, 300]) {
      t.equal(await store.channels.reserve(claim, sampleDraw(max), 3), 'mismatch', String(max));
    }
    t.same(await channelOf(store), before);
    t.equal(await store.channels.reserve(claim, sampleDraw(200), 3), 'reserved');
  });

  promise('takes no voucher for more than is deposited, what is deposited with it included', async (t, store) => {
    await sold(store, 900);
    const claim = await claimed(store, 'next');
    const draw = (amount: bigint, deposit: string) => sampleDraw(900n + amount, { amount: String(amount), deposit });
    const before = await channelOf(store);
    t.equal(await store.channels.reserve(claim, draw(101n, '0'), 3), 'insufficient');
    t.equal(await store.channels.reserve(claim, draw(151n, '50'), 3), 'insufficient');
    t.same(await channelOf(store), before);
    t.equal(await store.channels.reserve(claim, draw(150n, '50'), 3), 'reserved');
    t.equal(await store.channels.reserve(claim, draw(100n, '0'), 3), 'reserved', 'to the last unit');
    await store.channels.sync(ID, { ...FOUND, balance: '999' }, 4);
    t.equal(await store.channels.reserve(claim, draw(100n, '0'), 5), 'insufficient', 'as the chain says by now');
  });

  promise(
    'gives a channel to one of two payments that come at the same moment',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        // Every second one is known before.
        const max = round % 2 === 0 ? 100 : 200;
        if (max === 200) await sold(store, 100, { id });
        const [one, two] = await Promise.all([claimed(store, `one ${round}`), claimed(other, `two ${round}`)]);
        const drawn = await Promise.all([
          store.channels.reserve(one, on(id, max), 3),
          other.channels.reserve(two, on(id, max), 3),
        ]);
        t.same([...drawn].sort(), ['busy', 'reserved']);
        const winner = drawn[0] === 'reserved' ? one : two;
        t.match(await channelOf(store, id), { pending: { paymentId: winner.id, max: String(max) } });
      }
    },
    'long',
  );
}

function drawingOnClaim(promise: Promised): void {
  promise('claims a payment and keeps its voucher in one, with the channel as its chain told it', async (t, store) => {
    const outcome = await store.claim(sampleFacts('one'), claimAt(5, { draw: sampleDraw(100) }));
    t.match(outcome, { won: true, drawn: 'reserved' });
    t.match(await channelOf(store), { charged: '0', ...FOUND, pending: { paymentId: 'one', max: '100' }, syncedAt: 5 });
  });

  promise('claims a payment also where its voucher cannot be kept, and says why', async (t, store) => {
    await sold(store, 100);
    const draws = { mismatch: sampleDraw(100), insufficient: sampleDraw(1_200, { amount: '1100' }) };
    const before = await channelOf(store);
    for (const [drawn, draw] of Object.entries(draws)) {
      t.match(await store.claim(sampleFacts(drawn), claimAt(5, { draw })), { won: true, drawn });
      t.match(await store.find(drawn), { state: 'claimed' });
    }
    t.same(await channelOf(store), before);
    await store.claim(sampleFacts('has it'), claimAt(5, { draw: sampleDraw(200) }));
    const late = await store.claim(sampleFacts('late'), claimAt(5, { draw: sampleDraw(200) }));
    t.match(late, { won: true, drawn: 'busy' });
    t.match(await channelOf(store), { pending: { paymentId: 'has it' } });
  });

  promise('keeps no voucher for a payment that is somebody else’s, or was claimed before', async (t, store) => {
    const draw = sampleDraw(100);
    await claimed(store, 'one');
    t.match(await store.claim(sampleFacts('one'), claimAt(2, { draw })), { won: false });
    t.match(await channelOf(store), { charged: '0', pending: undefined });
    const again = await store.claim(sampleFacts('one'), claimAt(50, { draw }));
    t.match(again, { won: true, claim: { attempt: 2 }, drawn: undefined });
    t.match(await channelOf(store), { pending: undefined });
  });

  promise(
    'gives a channel to one of two payments that are claimed at the same moment',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        const outcomes = await Promise.all([
          store.claim(sampleFacts(`one ${round}`), claimAt(3, { draw: on(id, 100) })),
          other.claim(sampleFacts(`two ${round}`), claimAt(3, { draw: on(id, 100) })),
        ]);
        const drawn = outcomes.map((outcome) => outcome.won && outcome.drawn);
        t.same([...drawn].sort(), ['busy', 'reserved']);
        const winner = drawn[0] === 'reserved' ? 'one' : 'two';
        t.match(await channelOf(store, id), { pending: { paymentId: `${winner} ${round}` } });
      }
    },
    'long',
  );
}

function chargingWithTheAnswer(promise: Promised): void {
  const fulfilled = { answer: sampleAnswer(), cost: '0.25' };

  promise('keeps an answer with its receipt and the charge, however often it is told', async (t, store, open) => {
    const claim = await claimed(store, 'one');
    await store.channels.reserve(claim, sampleDraw(100), 1);
    t.equal(await store.settle(claim, receiptOf(100), 3, fulfilled), true);
    const settled = { ...fulfilled, state: 'settled', receipt: receiptOf(100), owner: '', leaseUntil: 0, updatedAt: 3 };
    t.match(await store.find('one'), settled);
    const channel = await channelOf(store);
    t.match(channel, { charged: '100', voucher: { max: '100' }, pending: undefined });
    const other = { answer: sampleAnswer('another'), cost: '9' };
    t.equal(await (await open()).settle(claim, receiptOf(900), 4, other), true);
    t.match(await store.find('one'), { ...settled, updatedAt: 4 });
    t.same(await channelOf(store), channel);
  });

  promise('keeps neither answer nor receipt, and charges nothing, for a claim that was lost', async (t, store) => {
    const old = await claimed(store, 'one');
    await store.channels.reserve(old, sampleDraw(100), 1);
    const current = await won(store, sampleFacts('one'), claimAt(50));
    const [payment, channel] = [await store.find('one'), await channelOf(store)];
    t.equal(await store.settle(old, receiptOf(100), 51, fulfilled), false);
    t.same(await store.find('one'), payment);
    t.same(await channelOf(store), channel);
    t.equal(await store.settle(current, receiptOf(100), 52, fulfilled), true);
    t.match(await channelOf(store), { charged: '100' });
  });

  for (const [state, arrive] of Object.entries({ ...overWithout, unknown: underWay.unknown })) {
    promise(`keeps neither of a payment that is ${state} by then`, async (t, store) => {
      const claim = await claimed(store, 'one');
      await store.channels.reserve(claim, sampleDraw(100), 1);
      t.equal(await arrive(store, claim), true);
      const before = await channelOf(store);
      t.equal(await store.settle(claim, receiptOf(100), 3, fulfilled), false);
      t.match(await store.find('one'), { state, answer: undefined, receipt: undefined });
      t.same(await channelOf(store), before);
    });
  }

  promise('keeps neither of a payment that has not the channel', async (t, store) => {
    const claim = await claimed(store, 'without');
    await store.channels.reserve(await claimed(store, 'has it'), sampleDraw(100), 1);
    t.equal(await store.settle(claim, receiptOf(100), 3, fulfilled), false);
    t.match(await store.find('without'), { state: 'claimed', answer: undefined, receipt: undefined });
    t.match(await channelOf(store), { charged: '0', pending: { paymentId: 'has it' } });
  });

  promise('keeps both of a payment that settles by the same write and draws from nothing', async (t, store) => {
    const claim = await claimed(store, 'one');
    t.equal(await store.settle(claim, sampleReceipt(), 3, fulfilled), true);
    t.match(await store.find('one'), { ...fulfilled, state: 'settled', receipt: sampleReceipt() });
  });
}

/** A call of so much, by a voucher of `max`. */
const by = (max: bigint | number, amount: bigint | number): Draw => sampleDraw(max, { amount: String(amount) });

/** The next call of a known channel, by a voucher of `max`, that is charged up to `charged` in all: what came of it. */
async function next(store: Store, max: bigint | number, charged: bigint | number): Promise<Drawn> {
  const before = BigInt((await channelOf(store)).charged);
  const claim = await claimed(store, `up to ${max}, from ${before}`);
  const drawn = await store.channels.reserve(claim, by(max, BigInt(max) - before), 3);
  if (drawn === 'reserved') await store.settle(claim, receiptOf(charged), 3);
  return drawn;
}

function spending(promise: Promised): void {
  promise('takes no voucher a second time, whatever its call has left of it', async (t, store, open) => {
    await sold(store, 100, { charged: 37 });
    const before = await channelOf(store);
    const other = await open();
    const another = await claimed(other, 'another');
    const draw = by(100, 63);
    t.equal(await other.channels.reserve(another, draw, 3), 'spent');
    t.match(await other.claim(sampleFacts('later'), claimAt(3, { draw })), { won: true, drawn: 'spent' });
    t.same(await channelOf(store), before);
    t.match(await store.find('later'), { state: 'claimed' });
    t.equal(await other.channels.reserve(another, by(99, 62), 3), 'reserved', 'but one that was not charged');
  });

  promise('tells of a voucher whether it is spent', async (t, store) => {
    t.equal(await store.channels.findFor(ID, '100'), undefined);
    await sold(store, 100, { charged: 37 });
    const channel = await channelOf(store);
    t.same(await store.channels.findFor(ID, '100'), { ...channel, isSpent: true });
    for (const max of ['1', '99', '101', '1000']) {
      t.same(await store.channels.findFor(ID, max), { ...channel, isSpent: false }, max);
    }
    await sold(store, 100, { id: idOf(2) });
    t.match(await store.channels.findFor(idOf(2), '100'), { isSpent: false }, 'of another channel it is another');
  });

  promise('remembers each that leaves something, in any order, as long as it leaves it', async (t, store) => {
    const isSpent = async (...maxes: number[]) =>
      Promise.all(maxes.map(async (max) => (await store.channels.findFor(ID, String(max)))?.isSpent));
    await sold(store, 100, { charged: 10 });
    t.equal(await next(store, 900, 15), 'reserved');
    t.equal(await next(store, 320, 20), 'reserved');
    t.same(await isSpent(100, 900, 320), [true, true, true]);
    for (const max of [100, 900, 320]) t.equal(await next(store, max, 30), 'spent', String(max));
    t.equal(await next(store, 400, 319), 'reserved');
    t.same(await isSpent(100, 900, 320, 400), [false, true, true, true], 'nothing can be drawn by the first any more');
    t.equal(await next(store, 500, 320), 'reserved');
    t.same(await isSpent(900, 320, 400, 500), [true, false, true, true]);
    for (const max of [900, 400, 500]) t.equal(await next(store, max, 330), 'spent', String(max));
  });

  promise('leaves a voucher to the next call that was charged nothing', async (t, store) => {
    const failed = await claimed(store, 'failed');
    t.equal(await store.channels.reserve(failed, by(100, 100), 1), 'reserved');
    await store.giveUp(failed, 'released', 'upstream_failed', 2);
    t.match(await store.channels.findFor(ID, '100'), { isSpent: false });
    const other = await claimed(store, 'other');
    t.equal(await store.channels.reserve(other, by(100, 100), 3), 'reserved');
    await store.giveUp(other, 'unknown', 'nobody can be asked', 4);
    t.match(await store.channels.findFor(ID, '100'), { isSpent: false });
    await store.resolve('other', { state: 'settled', receipt: receiptOf(40) }, 5);
    t.match(await store.channels.findFor(ID, '100'), { isSpent: true, charged: '40' }, 'until it is');
  });

  promise('knows a spent voucher also when the payment that it made is forgotten', async (t, store) => {
    await sold(store, 100, { charged: 37 });
    await store.figures.count(10);
    await store.forget({ values: 0, answers: 1_800_000_000_000, payments: 1_800_000_000_000 });
    t.same(await store.list({ limit: 10 }), []);
    t.match(await store.channels.findFor(ID, '100'), { isSpent: true });
  });

  promise('tells spent vouchers of any size apart, to the last unit', async (t, store) => {
    const most = 2n ** 128n - 1n;
    const found = { ...FOUND, balance: String(most) };
    const one = await claimed(store, 'one');
    await store.channels.reserve(one, sampleDraw(most, { found, amount: String(most) }), 1);
    await store.settle(one, receiptOf(99), 2);
    t.equal(await next(store, most, 100n), 'spent');
    t.equal(await next(store, most - 1n, 100n), 'reserved');
    t.equal(await next(store, most - 1n, 101n), 'spent');
    t.equal(await next(store, most - 2n, most - 2n), 'reserved');
    t.equal(await next(store, most - 1n, most - 1n), 'spent');
    t.equal(await next(store, most, most), 'spent');
  });

  promise(
    'takes a voucher for one of two calls, where the first is charged while the second waits for the channel',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        const [one, two] = await Promise.all([claimed(store, `one ${round}`), claimed(other, `two ${round}`)]);
        await store.channels.reserve(one, on(id, 100), 1);
        const draw = sampleDraw(100, { facts: sampleChannel({ id }), amount: '60' });
        const [isSettled, drawn] = await Promise.all([
          store.settle(one, receiptOf(40, id), 3),
          other.channels.reserve(two, draw, 3),
        ]);
        t.equal(isSettled, true);
        t.ok(drawn === 'spent' || drawn === 'busy', drawn);
      }
    },
    'long',
  );
}

function charging(promise: Promised): void {
  promise('charges a channel once, however often its payment is settled', async (t, store, open) => {
    const claim = await claimed(store, 'one');
    await store.channels.reserve(claim, sampleDraw(100), 1);
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    t.equal(await store.settle(claim, receiptOf(100), 3), true);
    const after = await channelOf(store);
    t.match(after, { charged: '100', unclaimedSince: 3, updatedAt: 3 });
    t.equal(await store.settle(claim, receiptOf(900), 4), true);
    t.same(await channelOf(store), after);
    t.match(await store.find('one'), { receipt: receiptOf(100) });

    await store.channels.reserve(await claimed(store, 'two'), sampleDraw(200), 5);
    const later = await channelOf(store);
    t.equal(await (await open()).settle(claim, receiptOf(100), 6), true, 'nor is it charged to the next');
    t.same(await channelOf(store), later);
  });

  promise('charges once where two who worked on one payment settle it', async (t, store, open) => {
    const other = await open();
    const old = await claimed(store, 'one');
    await store.channels.reserve(old, sampleDraw(100), 1);
    const current = await won(other, sampleFacts('one'), claimAt(50));
    await other.channels.reserve(current, sampleDraw(100), 51);
    const settled = await Promise.all([store.settle(old, receiptOf(60), 52), other.settle(current, receiptOf(70), 52)]);
    t.same(settled, [false, true], 'each learns whether the payment is its own still');
    const { charged } = await channelOf(store);
    t.match(await store.find('one'), { state: 'settled', receipt: { channel: { charged } } });
  });

  promise('keeps no receipt of a payment that has not the channel, and says so', async (t, store) => {
    const late = await claimed(store, 'late');
    await store.channels.reserve(late, sampleDraw(100), 1);
    await store.giveUp(late, 'released', 'upstream_timeout', 2);
    await sold(store, 100);
    const without = await claimed(store, 'without');
    await store.fulfil(without, sampleAnswer(), { now: 3 });
    const elsewhere = await claimed(store, 'elsewhere');
    await store.channels.reserve(elsewhere, on(idOf(2), 100), 3);
    const [channel, payments] = [await channelOf(store), await store.list({ limit: 10 })];
    for (const claim of [late, without, elsewhere]) {
      t.equal(await store.settle(claim, receiptOf(200), 4), false, claim.id);
    }
    t.equal(await store.settle(without, receiptOf(200, idOf(3)), 4), false, 'nor of a channel that is not there');
    t.same(await channelOf(store), channel);
    t.same(await store.list({ limit: 10 }), payments);
  });

  promise(
    'takes the word of a channel’s own payment alone for one that nobody could be asked about',
    async (t, store) => {
      const claim = await claimed(store, 'one');
      await store.giveUp(claim, 'unknown', 'nobody can be asked', 2);
      await sold(store, 100);
      const before = await channelOf(store);
      t.equal(await store.resolve('one', { state: 'settled', receipt: receiptOf(200) }, 3), false);
      t.match(await store.find('one'), { state: 'unknown', receipt: undefined, updatedAt: 2 });
      t.same(await channelOf(store), before);

      const known = await claimed(store, 'known');
      await store.channels.reserve(known, sampleDraw(200), 3);
      t.equal(await store.resolve('known', { state: 'settled', receipt: receiptOf(200) }, 4), false, 'not unknown');
      t.match(await channelOf(store), { charged: '100', pending: { paymentId: 'known' } });
    },
  );

  promise(
    'charges a channel or gives it to the next, whichever comes first',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        const given = await claimed(store, `given up ${round}`);
        await store.channels.reserve(given, on(id, 100), 1);
        await store.giveUp(given, 'released', 'upstream_timeout', 2);
        const next = await claimed(other, `next ${round}`);
        const [isSettled, drawn] = await Promise.all([
          store.settle(given, receiptOf(100, id), 3),
          other.channels.reserve(next, on(id, 100), 3),
        ]);
        t.equal(drawn, isSettled ? 'mismatch' : 'reserved');
        t.match(await channelOf(store, id), { charged: isSettled ? '100' : '0' });
        t.match(await store.find(given.id), { state: isSettled ? 'owed' : 'released' });
      }
    },
    'long',
  );

  promise(
    'gives a channel to the next call only when what it cost before is charged',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        const one = await claimed(store, `one ${round}`);
        await store.channels.reserve(one, on(id, 100), 1);
        const next = await claimed(other, `next ${round}`);
        const [isSettled, drawn] = await Promise.all([
          store.settle(one, receiptOf(100, id), 3),
          other.channels.reserve(next, on(id, 200), 3),
        ]);
        t.equal(isSettled, true);
        t.ok(drawn === 'reserved' || drawn === 'busy', drawn);
        t.match(await channelOf(store, id), { charged: '100' });
      }
    },
    'long',
  );

  promise(
    'shows a channel charged with the receipt, and never the one without the other',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        const claim = await claimed(store, `one ${round}`);
        await store.channels.reserve(claim, on(id, 100), 1);
        const seen: string[] = [];
        let isOver = false;
        const settling = store.settle(claim, receiptOf(100, id), 2).finally(() => {
          isOver = true;
        });
        while (!isOver) {
          await new Promise(setImmediate);
          const { charged } = await channelOf(other, id);
          const receipt = (await other.find(claim.id))?.receipt;
          const { charged: later } = await channelOf(other, id);
          if (charged === '100' && !receipt) seen.push('charged without a receipt');
          if (receipt && later === '0') seen.push('a receipt without being charged');
        }
        t.equal(await settling, true);
        t.same(seen, []);
      }
    },
    'long',
  );

  promise('charges what a call has used, and goes on from there', async (t, store) => {
    await sold(store, 100, { charged: 37, now: 5 });
    t.match(await channelOf(store), { charged: '37', voucher: { max: '100' }, unclaimedSince: 5 });
    const claim = await claimed(store, 'next');
    t.equal(await store.channels.reserve(claim, sampleDraw(200), 6), 'mismatch');
    t.equal(await store.channels.reserve(claim, sampleDraw(137), 6), 'reserved');
    t.equal(await store.settle(claim, receiptOf(137), 7), true);
    t.match(await channelOf(store), { charged: '137', voucher: { max: '137' }, unclaimedSince: 5 });
  });

  promise('has nothing to claim for calls that have used nothing', async (t, store) => {
    await sold(store, 100, { charged: 0 });
    t.match(await channelOf(store), { charged: '0', pending: undefined, unclaimedSince: undefined });
    t.same(await store.channels.unclaimed('chain-a', 10, 5), []);
  });

  promise('counts amounts of any size to the last unit', async (t, store) => {
    const most = 2n ** 100n;
    const found = {
      balance: String(most),
      totalClaimed: String(most - 200n),
      withdrawRequestedAt: 0,
      refundNonce: '0',
    };
    const claim = await claimed(store, 'large');
    t.equal(await store.channels.reserve(claim, sampleDraw(most + 1n, { found }), 1), 'insufficient');
    const fresh = (max: bigint) => sampleDraw(max, { found, facts: sampleChannel({ id: idOf(2) }) });
    t.equal(await store.channels.reserve(claim, fresh(most - 1n), 1), 'reserved');
    t.equal(await store.settle(claim, receiptOf(most - 1n, idOf(2)), 2), true);
    t.match(await channelOf(store, idOf(2)), {
      charged: '1267650600228229401496703205375',
      voucher: { max: '1267650600228229401496703205375' },
      totalClaimed: '1267650600228229401496703205176',
      unclaimedSince: 2,
    });
    await store.channels.sync(idOf(2), { ...found, totalClaimed: String(most) }, 3);
    t.match(await channelOf(store, idOf(2)), { charged: '1267650600228229401496703205376', unclaimedSince: 3 });
  });
}

function collecting(promise: Promised): void {
  promise('keeps what the chain says of a channel that it knows', async (t, store) => {
    await store.channels.sync(ID, FOUND, 1);
    t.equal(await store.channels.find(ID), undefined);
    await sold(store, 100, { now: 5 });
    const before = await channelOf(store);
    const state = { balance: '1500', totalClaimed: '60', withdrawRequestedAt: 1_700_000_000, refundNonce: '2' };
    await store.channels.sync(ID, state, 9);
    t.same(await channelOf(store), { ...before, ...state, syncedAt: 9, unclaimedSince: 9 });
  });

  promise('adopts a channel that it does not know, and leaves one that it knows as it is', async (t, store, open) => {
    const state = { balance: '1500', totalClaimed: '60', withdrawRequestedAt: 7, refundNonce: '2' };
    await store.channels.adopt(sampleChannel(), state, 9);
    const adopted = await channelOf(await open());
    t.same(adopted, {
      ...sampleChannel(),
      ...state,
      charged: '60',
      voucher: undefined,
      pending: undefined,
      syncedAt: 9,
      unclaimedSince: undefined,
      createdAt: 9,
      updatedAt: 9,
    });
    await store.channels.adopt(sampleChannel({ payer: 'another' }), { ...state, totalClaimed: '100' }, 10);
    await store.channels.adopt(sampleChannel(), state, 11, '700');
    t.same(await channelOf(store), adopted);
  });

  promise('adopts a channel with what it is told that it was charged', async (t, store, open) => {
    await store.channels.adopt(sampleChannel(), { ...FOUND, totalClaimed: '60' }, 9, '70');
    t.match(await channelOf(await open()), { charged: '70', totalClaimed: '60', voucher: undefined });
  });

  promise(
    'has something to claim as long as more is charged than claimed, and until that is seen twice',
    async (t, store) => {
      await sold(store, 100, { now: 5 });
      const claimedBy = async (totalClaimed: string, now: number) => {
        await store.channels.sync(ID, { ...FOUND, totalClaimed }, now);
        const { charged, unclaimedSince } = await channelOf(store);
        return { charged, unclaimedSince };
      };
      t.same(await claimedBy('0', 6), { charged: '100', unclaimedSince: 5 });
      t.same(
        await claimedBy('99', 6),
        { charged: '100', unclaimedSince: 6 },
        'what came after a claim waits from then',
      );
      t.same(await claimedBy('100', 7), { charged: '100', unclaimedSince: 7 }, 'its chain may take it back');
      t.same(await claimedBy('40', 8), { charged: '100', unclaimedSince: 8 }, 'a chain that took a claim back');
      t.same(await claimedBy('250', 9), { charged: '250', unclaimedSince: 9 }, 'what was claimed was charged');
      t.same(await store.channels.unclaimedSums(), new Map(), 'nothing is left to claim of it');
      t.same(await claimedBy('250', 9), { charged: '250', unclaimedSince: undefined });
      t.same(await claimedBy('40', 9), { charged: '250', unclaimedSince: 9 }, 'however late it takes it back');
      t.same(await claimedBy('250', 9), { charged: '250', unclaimedSince: 9 });
      t.same(await claimedBy('250', 9), { charged: '250', unclaimedSince: undefined });
      await sold(store, 350, { now: 10 });
      t.same(await claimedBy('250', 11), { charged: '350', unclaimedSince: 10 });
    },
  );

  promise('has nothing to claim of what was charged where nobody has a voucher for it', async (t, store) => {
    const claim = await claimed(store, 'one');
    await store.channels.reserve(claim, sampleDraw(700), 1);
    await store.giveUp(claim, 'released', 'upstream_failed', 2);
    await store.channels.sync(ID, FOUND, 3);
    t.match(await channelOf(store), { charged: '600', unclaimedSince: undefined });
  });

  promise('never charges less than was claimed, whatever was under way when that was found out', async (t, store) => {
    const claim = await claimed(store, 'one');
    await store.channels.reserve(claim, sampleDraw(100), 1);
    await store.channels.sync(ID, { ...FOUND, totalClaimed: '1000' }, 2);
    t.match(await channelOf(store), { charged: '1000', pending: { paymentId: 'one' } });
    t.equal(await store.settle(claim, receiptOf(100), 3), true);
    t.match(await channelOf(store), { charged: '1000', pending: undefined, unclaimedSince: undefined });
  });

  promise('tells what is to be claimed on a network, the longest waiting first', async (t, store) => {
    const [late, early, elsewhere, fresh, other] = [1, 2, 3, 4, 5].map(idOf);
    await sold(store, 100, { id: late, now: 30 });
    await sold(store, 100, { id: early, now: 10 });
    await sold(store, 200, { id: early, now: 40 });
    await sold(store, 100, { id: elsewhere, network: 'chain-b', now: 5 });
    await store.channels.reserve(await claimed(store, 'fresh'), on(String(fresh), 100), 1);
    await sold(store, 100, { id: other, now: 10 });
    const unclaimed = async (limit: number, now = 50) => ids(await store.channels.unclaimed('chain-a', limit, now));
    t.same(await unclaimed(10), [early, other, late]);
    t.same(await unclaimed(2), [early, other]);
    const next = await store.channels.unclaimed('chain-a', 2, 50, await channelOf(store, other));
    t.same(ids(next), [late], 'the next page');
    const sums = new Map([
      ['chain-a', 400n],
      ['chain-b', 100n],
    ]);
    t.same(await store.channels.unclaimedSums(), sums);
    t.same(ids(await store.channels.unclaimed('chain-b', 10, 50)), [elsewhere]);
    t.same((await store.channels.unclaimed('chain-a', 1, 50))[0], await channelOf(store, early));

    await store.channels.take([String(early)], 'claim', 60, 50);
    t.same(await unclaimed(10, 59), [other, late], 'without those that somebody claims for');
    t.same(await unclaimed(10, 60), [early, other, late]);
    await store.channels.take([String(other)], 'refund', 60, 50);
    t.same(await unclaimed(10, 55), [other, late], 'what is given back is claimed first');
    await store.channels.letGo([String(early)], 'claim', 60);
    t.same(await unclaimed(10, 55), [early, other, late]);
  });

  for (const purpose of ['claim', 'refund'] as const) {
    promise(`takes a channel for a ${purpose} once, until it is let go or the time is over`, async (t, store, open) => {
      const another = purpose === 'claim' ? 'refund' : 'claim';
      const other = await open();
      const [one, two] = [idOf(1), idOf(2)];
      for (const id of [one, two]) await sold(store, 100, { id });
      const take = async (from: Store, now: number, purposeOf: 'claim' | 'refund' = purpose) =>
        ids(await from.channels.take([two, idOf(3), one], purposeOf, now + 10, now));
      t.same(await store.channels.take([two], purpose, 20, 10), [await channelOf(store, two)]);
      t.same(await take(other, 10), [one], 'those that nobody has');
      t.same(await take(store, 19), []);
      t.same(await take(store, 19, another), [one, two], 'either purpose by itself');
      t.same(await take(store, 20), [one, two]);
      await store.channels.letGo([one], purpose, 20);
      t.same(await take(other, 21), [], 'who took it before lets go of nothing');
      await store.channels.letGo([one, idOf(3)], purpose, 30);
      t.same(await take(other, 21), [one]);
    });
  }

  promise(
    'gives each channel to one of two who take many at the same moment',
    async (t, store, open) => {
      const other = await open();
      const many = Array.from({ length: 8 }, (_, number) => idOf(number));
      for (const id of many) await sold(store, 100, { id });
      for (let round = 0; round < ROUNDS; round += 1) {
        const now = 100 * (round + 1);
        const taken = await Promise.all([
          store.channels.take(many, 'claim', now + 50, now),
          other.channels.take([...many].reverse(), 'claim', now + 50, now),
        ]);
        t.same(ids(taken.flat()).sort(), many);
      }
    },
    'long',
  );

  promise('gives no deposit back while a call draws from it', async (t, store) => {
    const claim = await claimed(store, 'one');
    await store.channels.reserve(claim, sampleDraw(100), 1);
    t.same(await store.channels.take([ID], 'refund', 20, 10), []);
    t.same(ids(await store.channels.take([ID], 'claim', 20, 10)), [ID]);
    await store.giveUp(claim, 'unknown', 'nobody can be asked', 11);
    t.same(await store.channels.take([ID], 'refund', 20, 12), []);
    await store.resolve('one', { state: 'refused', reason: 'no' }, 13);
    t.same(ids(await store.channels.take([ID], 'refund', 20, 14)), [ID]);
  });

  promise('lets no call draw from a deposit that is given back just now', async (t, store) => {
    await sold(store, 100);
    await store.channels.take([ID], 'refund', 20, 10);
    const claim = await claimed(store, 'next');
    t.equal(await store.channels.reserve(claim, sampleDraw(200), 19), 'busy');
    t.match(await channelOf(store), { pending: undefined });
    t.equal(await store.channels.reserve(claim, sampleDraw(200), 20), 'reserved', 'when the time is over');
    await store.giveUp(claim, 'released', 'upstream_failed', 21);
    await store.channels.take([ID], 'refund', 40, 30);
    await store.channels.letGo([ID], 'refund', 40);
    t.equal(await store.channels.reserve(await claimed(store, 'later'), sampleDraw(200), 31), 'reserved');
  });

  promise(
    'gives a deposit back or lets a call draw from it, of both at the same moment',
    async (t, store, open) => {
      const other = await open();
      for (let round = 0; round < ROUNDS; round += 1) {
        const id = idOf(round);
        await sold(store, 100, { id });
        const claim = await claimed(store, `next ${round}`);
        const [drawn, taken] = await Promise.all([
          store.channels.reserve(claim, on(id, 200), 3),
          other.channels.take([id], 'refund', 20, 3),
        ]);
        t.same([drawn, taken.length], drawn === 'reserved' ? ['reserved', 0] : ['busy', 1]);
      }
    },
    'long',
  );

  promise('lists all channels page by page, oldest first', async (t, store) => {
    const order = [
      [3, 10],
      [1, 20],
      [2, 20],
      [5, 20],
      [4, 30],
    ] as const;
    for (const [number, now] of [...order].reverse()) await sold(store, 100, { id: idOf(number), now });
    const all = await store.channels.list({ after: undefined, limit: 10 });
    t.same(
      ids(all),
      order.map(([number]) => idOf(number)),
    );
    const paged: Channel[] = [];
    for (let page = await store.channels.list({ after: undefined, limit: 2 }); page.length > 0; ) {
      t.ok(page.length <= 2);
      paged.push(...page);
      page = await store.channels.list({ after: page.at(-1), limit: 2 });
    }
    t.same(paged, all);
  });
}
