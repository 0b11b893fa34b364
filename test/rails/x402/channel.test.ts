/** Calls that are drawn from a channel: what is taken, what is not and why, and what is kept and told of them. */
import t, { type Test } from 'tap';
import { Problem } from '../../../src/errors.ts';
import { refused, type Settlement, unknown } from '../../../src/on-chain/settlement.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { Refusal } from '../../../src/payment/refusal.ts';
import { channelReceipt, channelResponse, leastDeposit, openChannelPayments } from '../../../src/rails/x402/channel.ts';
import type { ChannelState } from '../../../src/store/channels/channel-store.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import {
  AUTHORIZER,
  authorizationOf,
  CAIP2,
  CHANNEL,
  config,
  facts,
  NETWORK,
  networksOn,
  openChain,
  type Signed,
  signatureOf,
  stateWith,
} from '../../payment/channels/paying.ts';
import { won } from '../../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../../store/samples.ts';

const PRICE = 100n;
const MISMATCH = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';
const BUSY = 'invalid_batch_settlement_evm_channel_busy';
const MINUTE = 60_000;
const START = 1_000_000_000_000;

/** A gateway's side of one channel, and a clock that a test moves. */
async function scene(t: Test, begin: Partial<ChannelState> = {}) {
  const clock = { now: START };
  const store = openSqliteStore(':memory:', { now: () => clock.now });
  t.teardown(() => store.close());
  const chain = openChain(begin);
  const networks = await networksOn(async () => chain.operator);
  const network = networks.find(NETWORK);
  if (!network) throw new Error('the network should be payable');
  const { channels } = store;
  const payments = openChannelPayments(channels, () => clock.now);
  const claim = (id: string) => won(store, sampleFacts(id), claimAt(clock.now, { leaseUntil: clock.now + MINUTE }));
  return {
    ...{ clock, store, channels, chain, network, payments, claim },
    verify: async (max: bigint, signed?: Signed, { amount = PRICE, leastPrice = 0n } = {}) =>
      payments.verify({ authorization: await authorizationOf(max, signed), network, amount, leastPrice }),
    /** A channel whose calls have cost so much by now, by a voucher for `max`. */
    async charged(total: bigint, max = total) {
      await channels.adopt(facts, chain.state, clock.now);
      const id = `call up to ${total}`;
      const one = await claim(id);
      const draw = { facts, voucher: { max: max.toString(), signature: await signatureOf(max) } };
      const before = BigInt((await channels.find(CHANNEL))?.charged ?? 0);
      const drawn = await channels.reserve(
        one,
        { ...draw, amount: (max - before).toString(), deposit: '0', found: chain.state },
        clock.now,
      );
      if (drawn !== 'reserved') throw new Error(`the call is ${drawn}`);
      await store.fulfil(one, sampleAnswer(), { now: clock.now });
      await store.settle(one, { ...sampleReceipt(), channel: { id: CHANNEL, charged: total.toString() } }, clock.now);
      chain.asked.length = 0;
    },
  };
}

const failure = async (promise: Promise<unknown>): Promise<Error> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it was taken');
};

const told = sampleReceipt;

t.test('a deposit is worth ten calls, and ten times the least price that is worth settling', async (t) => {
  t.equal(leastDeposit(7n, 0n), 70n);
  t.equal(leastDeposit(7n, 6n), 70n);
  t.equal(leastDeposit(7n, 8n), 80n);
  t.equal(leastDeposit(0n, 0n), 0n);
});

t.test('a first deposit is of that much at least', async (t) => {
  const { verify, chain } = await scene(t);
  const cases: readonly [deposits: bigint, max: bigint, leastPrice: bigint, expected: RegExp | undefined][] = [
    [1_000n, 100n, 0n, undefined],
    [999n, 100n, 0n, /^a deposit has to be 1000 atomic units at least, this one is 999$/],
    [1_010n, 100n, 101n, undefined],
    [1_009n, 100n, 101n, /^a deposit has to be 1010 atomic units at least, this one is 1009$/],
  ];
  for (const [deposits, max, leastPrice, expected] of cases) {
    const name = `${deposits} for ${max}`;
    const verified = verify(max, { deposits }, { leastPrice });
    if (expected) t.match(await failure(verified), { kind: 'payment-insufficient', message: expected }, name);
    else t.same((await verified).query.deposit, deposits.toString(), name);
  }
  t.same(
    chain.asked.filter((each) => each.startsWith('deposit')),
    [],
    'nothing moves',
  );
});

t.test('a further deposit counts with what is there', async (t) => {
  const { verify } = await scene(t, { balance: '500' });
  const { query } = await verify(600n, { deposits: 1_000n });
  t.same(query, {
    channel: CHANNEL,
    max: '600',
    amount: '100',
    deposit: '1000',
    state: stateWith({ balance: '1500' }),
  });
});

t.test('a deposit that does not cover the call is refused, also where a chain has lost what was there', async (t) => {
  const { verify, charged, chain } = await scene(t, { balance: '1500' });
  await charged(1_401n);
  chain.state = stateWith({ balance: '500' });
  t.match(await failure(verify(1_501n, { deposits: 1_000n })), {
    kind: 'payment-insufficient',
    message: /^the deposit does not cover this call: 1501 atomic units are needed in all$/,
  });
});

t.test('of a channel that nobody knows, calls have cost no more than was there', async (t) => {
  const { verify, chain } = await scene(t);
  const expected = { message: /^calls of this channel have cost 0 atomic units in all: sign for those and this one$/ };
  t.match(await failure(verify(200n, { deposits: 1_000n })), expected, 'a first call that was lost cost nothing');
  chain.state = stateWith({ balance: '1000' });
  t.equal((await verify(200n)).query.max, '200', 'a database that was lost knows what its payer says');
  t.equal((await verify(1_000n)).query.max, '1000');
  t.match(await failure(verify(1_101n, { deposits: 1_000n })), expected);
});

t.test('a deposit that the contract would turn down is refused in its words', async (t) => {
  const { verify, chain } = await scene(t);
  chain.instead.verdict = { valid: false, reason: 'InvalidSignature' };
  t.match(await failure(verify(100n, { deposits: 1_000n })), {
    kind: 'verification-failed',
    message: /^the deposit was refused: InvalidSignature$/,
  });
  chain.instead.verdict = { valid: true, payer: config.payer };
  await verify(100n, { deposits: 1_000n });
});

t.test('a deposit that was made before is not made again', async (t) => {
  const { verify, chain, claim } = await scene(t, { balance: '1000' });
  chain.use(`0x${'5'.repeat(64)}`);
  const payment = await verify(100n, { deposits: 1_000n });
  t.same(payment.query, { channel: CHANNEL, max: '100', amount: '100', state: stateWith({ balance: '1000' }) });
  const hold = payment.hold(({ transaction, amount }) => told(`${transaction} of ${amount}`));
  t.same(await hold.lock(await claim('first')), { state: 'settled', transaction: CHANNEL, amount: PRICE });
  t.equal(hold.deposited?.(), false);
  t.match(hold.told?.(), { transaction: `${CHANNEL} of 0` }, 'its payer is told of it all the same');
  t.same(chain.asked, ['read']);

  const short = await failure(verify(1_100n, { deposits: 1_000n }, { amount: 1_100n }));
  t.match(short, { kind: 'payment-insufficient', message: /^the channel holds 1000 .* and 1100 are needed: deposit/ });
});

t.test('who draws more than there is learns what there is, and what it has signed', async (t) => {
  const { verify, charged, chain } = await scene(t, { balance: '200' });
  t.ok(await verify(200n));
  const state = stateWith({ balance: '200' });
  t.match(await failure(verify(201n)), {
    kind: 'payment-insufficient',
    message: 'the channel holds 200 atomic units in all, and 201 are needed: deposit more',
  });
  const unknownOne = await failure(verify(201n));
  t.same(unknownOne instanceof Refusal && unknownOne.correction, {
    code: MISMATCH,
    network: CAIP2,
    extra: { channelState: { channelId: CHANNEL, ...state, chargedCumulativeAmount: '0' } },
  });
  await charged(120n);
  chain.state = stateWith({ balance: '210', totalClaimed: '50' });
  const known = await failure(verify(220n));
  t.same(known instanceof Refusal && known.correction, {
    code: MISMATCH,
    network: CAIP2,
    extra: {
      channelState: { channelId: CHANNEL, ...chain.state, chargedCumulativeAmount: '120' },
      voucherState: { signedMaxClaimable: '120', signature: await signatureOf(120n) },
    },
  });
});

t.test('a voucher is for what was charged and this call, no less and no more', async (t) => {
  const { verify, charged } = await scene(t, { balance: '1000' });
  await charged(300n);
  t.equal((await verify(400n)).query.max, '400');
  for (const max of [399n, 401n, 300n, 500n]) {
    const refusal = await failure(verify(max));
    t.match(refusal, {
      kind: 'verification-failed',
      message: 'calls of this channel have cost 300 atomic units in all: sign for those and this one',
    });
    t.same(refusal instanceof Refusal && refusal.correction, {
      code: MISMATCH,
      network: CAIP2,
      extra: {
        channelState: { channelId: CHANNEL, ...stateWith({ balance: '1000' }), chargedCumulativeAmount: '300' },
        voucherState: { signedMaxClaimable: '300', signature: await signatureOf(300n) },
      },
    });
  }
});

const SPENT =
  'a voucher for this sum has paid for another call already, and buys no second one with what that has left: make a call ' +
  'of another price first, or ask for the deposit back at GET /v1/channels and open another channel, with another salt';

t.test('what a call has left of its voucher is nobody’s to draw', async (t) => {
  const { verify, charged, chain } = await scene(t, { balance: '1000' });
  await charged(300n, 350n);
  for (const signed of [{}, { deposits: 1_000n }]) {
    const refusal = await failure(verify(350n, signed, { amount: 50n }));
    t.match(refusal, { name: 'Refusal', kind: 'verification-failed', message: SPENT });
    const unusable = { code: undefined, network: CAIP2, extra: { unusableChannel: CHANNEL } };
    t.same(refusal instanceof Refusal && refusal.correction, unusable, 'there is nothing to sign anew');
  }
  t.same(chain.asked, []);
  t.equal((await verify(351n, {}, { amount: 51n })).query.max, '351');
});

t.test('where the chain says that more was charged than is known here, it has the last word', async (t) => {
  const { verify, charged, chain, clock } = await scene(t, { balance: '1000' });
  await charged(300n);
  clock.now += 10 * MINUTE;
  chain.state = stateWith({ balance: '1000', totalClaimed: '350' });
  const refusal = await failure(verify(400n));
  t.match(refusal, { message: /have cost 350 atomic units/ });
  t.match(refusal, { correction: { extra: { channelState: { chargedCumulativeAmount: '350' } } } });
  t.equal((await verify(450n)).query.max, '450');
});

t.test('of a channel that is not known its payer says what it has cost, if not less than was claimed', async (t) => {
  const { verify } = await scene(t, { balance: '1000', totalClaimed: '150' });
  for (const max of [250n, 251n, 1_000n]) t.equal((await verify(max)).query.max, max.toString());
  const refusal = await failure(verify(249n));
  t.match(refusal, { message: /have cost 150 atomic units/ });
  t.same(refusal instanceof Refusal && refusal.correction?.extra, {
    channelState: {
      channelId: CHANNEL,
      ...stateWith({ balance: '1000', totalClaimed: '150' }),
      chargedCumulativeAmount: '150',
    },
  });
});

t.test('the chain is asked once in ten minutes, and where it was not known to hold enough', async (t) => {
  const { verify, charged, chain, clock, channels } = await scene(t, { balance: '400' });
  await charged(300n);
  await verify(400n);
  clock.now += 10 * MINUTE - 1;
  await verify(400n);
  t.same(chain.asked, []);
  clock.now += 1;
  chain.state = stateWith({ balance: '480' });
  t.equal((await verify(400n)).query.state.balance, '480');
  t.same(chain.asked, ['read']);
  t.match(await channels.find(CHANNEL), { balance: '480', syncedAt: clock.now, charged: '300' }, 'and it is kept');
  await verify(400n);
  t.same(chain.asked, ['read'], 'which is good for the next ten');
  chain.state = stateWith({ balance: '481' });
  t.equal((await verify(481n, {}, { amount: 181n })).query.state.balance, '481');
  t.same(chain.asked, ['read', 'read']);
});

t.test('a chain that cannot be asked is no fault of the voucher', async (t) => {
  const { verify, chain } = await scene(t, { balance: '400' });
  chain.instead.read = () => Promise.reject(new FacilitatorUnreachable('the node says nothing'));
  t.match(await failure(verify(100n)), { name: 'Refusal', message: /the channel could not be checked .* try again/ });
});

t.test('a channel whose payer has asked for its deposit is not drawn from', async (t) => {
  const { verify } = await scene(t, { balance: '1000', withdrawRequestedAt: 1 });
  t.match(await failure(verify(100n)), { kind: 'verification-failed', message: /has asked for the deposit/ });
});

t.test('a voucher for giving back buys nothing', async (t) => {
  const { verify, chain } = await scene(t, { balance: '1000' });
  t.match(await failure(verify(100n, { type: 'refund' })), { message: /given back at GET \/v1\/channels/ });
  t.same(chain.asked, []);
});

t.test('nothing is told of a channel to who is not its payer', async (t) => {
  const { verify, chain, payments, network } = await scene(t, { balance: '1000' });
  const stranger = `0x${'6'.repeat(40)}`;
  const cases: readonly [signed: Signed, message: RegExp | string][] = [
    [{ by: `0x${'7'.repeat(64)}` }, 'the voucher is not signed by payerAuthorizer'],
    [{ changes: { receiverAuthorizer: stranger } }, `receiverAuthorizer is ${stranger}, asked is ${AUTHORIZER}`],
  ];
  for (const [signed, message] of cases) {
    t.match(await failure(verify(100n, signed)), { name: 'Refusal', kind: 'verification-failed', message });
  }
  const authorization = await authorizationOf(100n);
  const without = { ...network, channels: undefined };
  t.match(await failure(payments.verify({ authorization, network: without, amount: PRICE, leastPrice: 0n })), {
    kind: 'verification-failed',
    message: `channels are not offered on ${CAIP2} at the moment`,
  });
  t.same(chain.asked, []);
});

t.test('a call that is taken has the channel for itself, by its voucher', async (t) => {
  const { verify, claim, channels, chain } = await scene(t, { balance: '1000' });
  const payment = await verify(100n);
  t.same(payment.query, { channel: CHANNEL, max: '100', amount: '100', state: stateWith({ balance: '1000' }) });
  const hold = payment.hold(() => told());
  t.equal(await channels.find(CHANNEL), undefined, 'nothing is kept before');
  t.same(await hold.lock(await claim('first')), { state: 'settled', transaction: CHANNEL, amount: PRICE });
  t.equal(payment.transaction(), CHANNEL);
  t.equal(hold.deposited?.(), false);
  t.equal(hold.told?.(), undefined, 'where nothing was deposited there is nothing to tell');
  t.match(await channels.find(CHANNEL), {
    ...facts,
    ...stateWith({ balance: '1000' }),
    charged: '0',
    pending: { paymentId: 'first', max: '100', signature: await signatureOf(100n) },
  });
  t.same(chain.asked, ['read']);
});

t.test('a deposit is made before the work, and told of', async (t) => {
  const { verify, claim, channels, chain, clock } = await scene(t);
  const payment = await verify(100n, { deposits: 1_000n });
  const hold = payment.hold(({ transaction, amount }) => told(`${transaction} of ${amount}`));
  t.equal(payment.transaction(), CHANNEL);
  t.equal(hold.deposited?.(), false);
  clock.now += 5;
  t.same(await hold.lock(await claim('first')), { state: 'settled', transaction: '0xdeposited', amount: PRICE });
  t.equal(payment.transaction(), '0xdeposited');
  t.equal(hold.deposited?.(), true);
  t.match(hold.told?.(), { transaction: '0xdeposited of 0' });
  t.same(chain.asked, ['read', 'verify a deposit of 1000', 'deposit 1000', 'read']);
  t.match(await channels.find(CHANNEL), { balance: '1000', syncedAt: clock.now, pending: { paymentId: 'first' } });
});

t.test('a deposit that another attempt made has no transaction to tell of', async (t) => {
  const { verify, claim, chain } = await scene(t);
  const payment = await verify(100n, { deposits: 1_000n });
  chain.state = stateWith({ balance: '1000' });
  chain.instead.deposit = { state: 'settled', transaction: '', amount: 1_000n };
  const locked = await payment.hold(() => told()).lock(await claim('first'));
  t.same(locked, { state: 'settled', transaction: CHANNEL, amount: PRICE });
});

t.test('nobody works for a deposit that is not there', async (t) => {
  const lockedWith = async (deposit: Settlement) => {
    const { verify, claim, chain } = await scene(t);
    const hold = (await verify(100n, { deposits: 1_000n })).hold(() => told());
    chain.instead.deposit = deposit;
    return { locked: await hold.lock(await claim('first')), hasDeposited: hold.deposited?.() };
  };
  t.match(await lockedWith(refused('DepositCollectionFailed')), {
    locked: {
      state: 'declined',
      error: { name: 'Refusal', message: 'the deposit was not made: DepositCollectionFailed' },
    },
    // It may have taken a transaction all the same, or the deployment of a wallet.
    hasDeposited: true,
  });
  t.match(await lockedWith(unknown('the chain has not confirmed the deposit')), {
    locked: { state: 'declined', error: { name: 'Problem', code: 'settlement_pending' } },
    hasDeposited: false,
  });
});

t.test('a deposit counts once its chain shows as much as is drawn', async (t) => {
  const cases: readonly [name: string, read: () => Promise<ChannelState>, isThere: boolean][] = [
    ['exactly', async () => stateWith({ balance: '100' }), true],
    ['one less', async () => stateWith({ balance: '99' }), false],
    ['no answer', () => Promise.reject(new FacilitatorUnreachable('the node says nothing')), false],
  ];
  for (const [name, read, isThere] of cases) {
    const { verify, claim, chain } = await scene(t);
    const hold = (await verify(100n, { deposits: 1_000n })).hold(() => told());
    chain.instead.read = read;
    const locked = await hold.lock(await claim(name));
    if (isThere) t.same(locked, { state: 'settled', transaction: '0xdeposited', amount: PRICE }, name);
    else t.match(locked, { state: 'declined', error: { code: 'settlement_pending' } }, name);
    t.equal(hold.deposited?.(), true, name);
  }
  const { verify, claim, chain } = await scene(t);
  const hold = (await verify(100n, { deposits: 1_000n })).hold(() => told());
  chain.instead.read = () => Promise.reject(new TypeError('a mistake of ours'));
  await t.rejects(hold.lock(await claim('mistaken')), TypeError);
});

t.test('of two calls at once the second is told to wait', async (t) => {
  const { verify, claim } = await scene(t, { balance: '1000' });
  const [first, second] = [await verify(100n), await verify(100n)];
  await first.hold(() => told()).lock(await claim('first'));
  const locked = await second.hold(() => told()).lock(await claim('second'));
  t.match(locked, {
    state: 'declined',
    error: {
      name: 'Refusal',
      message: 'another call draws from this channel: send this one after it',
      correction: { code: BUSY, network: CAIP2, extra: {} },
    },
  });
});

t.test('a claim that is lost is not worked on', async (t) => {
  const { verify, claim } = await scene(t, { balance: '1000' });
  const lost = { ...(await claim('first')), attempt: 7 };
  const locked = await (await verify(100n)).hold(() => told()).lock(lost);
  if (locked.state !== 'declined') throw new Error(`it is ${locked.state}`);
  t.ok(locked.error instanceof Problem);
  t.match(locked.error, { code: 'payment_in_progress' });
});

t.test('who was overtaken learns what the channel has cost by then', async (t) => {
  const { verify, claim, charged } = await scene(t, { balance: '1000' });
  const late = await verify(100n);
  await charged(150n);
  const locked = await late.hold(() => told()).lock(await claim('late'));
  t.match(locked, {
    state: 'declined',
    error: {
      message: /have cost 150 atomic units/,
      correction: { code: MISMATCH, extra: { channelState: { chargedCumulativeAmount: '150' } } },
    },
  });
});

t.test('who was overtaken by another call with the same voucher draws nothing, and deposits nothing', async (t) => {
  const { verify, claim, charged, chain } = await scene(t, { balance: '1000' });
  const late = await verify(100n, { deposits: 1_000n }, { amount: 40n });
  await charged(60n, 100n);
  t.match(await late.hold(() => told()).lock(await claim('late')), {
    state: 'declined',
    error: { name: 'Refusal', message: SPENT },
  });
  t.same(chain.asked, []);
});

t.test('a deposit that was given back meanwhile does not pay', async (t) => {
  const { verify, claim, charged, channels, clock } = await scene(t, { balance: '1000' });
  await charged(300n);
  const late = await verify(400n);
  await channels.sync(CHANNEL, stateWith({ balance: '399' }), clock.now);
  t.match(await late.hold(() => told()).lock(await claim('late')), {
    state: 'declined',
    error: { name: 'Refusal', kind: 'payment-insufficient', message: /does not hold enough: deposit more/ },
  });
});

t.test('nobody is asked to deposit more for a channel whose deposit may be on its way back', async (t) => {
  const { verify, charged, channels, clock } = await scene(t, { balance: '1000' });
  await charged(300n);
  // Its instance has died: whether that is in a block yet, or ever will be, the chain does not say.
  await channels.sync(CHANNEL, stateWith({ balance: '400', refundNonce: '1' }), clock.now);
  const expected = {
    name: 'Refusal',
    kind: 'verification-failed',
    message: /may be on its way back to its payer: send this one in a quarter of an hour at the latest/,
    correction: { code: BUSY, network: CAIP2, extra: {} },
  };
  t.match(await failure(verify(500n, {}, { amount: 200n })), expected);
  t.match(await failure(verify(500n, { deposits: 2_000n }, { amount: 200n })), expected, 'nor is more taken');
  t.match(await verify(400n), { query: { max: '400' } }, 'what stays there in any case can be drawn');
  clock.now += 15 * MINUTE;
  t.match(await verify(500n, {}, { amount: 200n }), { query: { state: { balance: '1000', refundNonce: '0' } } });
});

t.test('what was drawn is as deep as anything where the channel holds it', async (t) => {
  const { payments, network, chain } = await scene(t, { balance: '100' });
  const query = { channel: CHANNEL, max: '100', amount: '100', state: stateWith() };
  t.equal(await payments.depth(query, network), Number.MAX_SAFE_INTEGER);
  chain.state = stateWith({ balance: '101' });
  t.equal(await payments.depth(query, network), Number.MAX_SAFE_INTEGER);
  chain.state = stateWith({ balance: '99' });
  await t.rejects(payments.depth(query, network), /does not hold what was drawn/);
  const nowhere = /channels are not offered there/;
  await t.rejects(payments.depth(query, undefined), nowhere);
  await t.rejects(payments.depth(query, { ...network, channels: undefined }), nowhere);
});

t.test('a receipt says what the channel has cost with the call, and names the deposit that was made', async (t) => {
  const state = stateWith({ balance: '1000' });
  const query = { channel: CHANNEL, max: '400', amount: '100', state };
  const channel = { id: CHANNEL, charged: '360' };
  const kept = JSON.stringify(state);
  const drawn = (transaction: string, deposit?: string) =>
    channelReceipt({ ...query, ...(deposit !== undefined && { deposit }) }, { transaction, amount: 60n });
  t.strictSame(drawn(CHANNEL), { channel, details: { channel: kept } });
  t.strictSame(drawn('0xdeposited', '1000'), { channel, details: { channel: kept, deposit: '1000' } });
  t.strictSame(drawn(CHANNEL, '1000'), { channel, details: { channel: kept } }, 'by a deposit that was made before');
  t.strictSame(drawn('0xother'), { channel, details: { channel: kept } });

  const channelState = { channelId: CHANNEL, ...state, chargedCumulativeAmount: '360' };
  const responseOf = (transaction: string, details: Record<string, string>) =>
    channelResponse({ ...sampleReceipt(transaction), amount: '60', details }, channel);
  t.same(responseOf('0xdeposited', { channel: kept, deposit: '1000' }), {
    transaction: '0xdeposited',
    amount: '1000',
    extra: { chargedAmount: '60', channelState },
  });
  t.same(responseOf(CHANNEL, { channel: kept }), {
    transaction: '',
    amount: '',
    extra: { chargedAmount: '60', channelState },
  });
});
