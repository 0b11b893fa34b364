/** What a channel holds after its deposit was given back, and what is drawn from it all the same. */
import t, { type Test } from 'tap';
import { unknown } from '../../../src/on-chain/settlement.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import { openChannelPayments } from '../../../src/rails/x402/channel.ts';
import { openChannelRefunds } from '../../../src/rails/x402/channel-refunds.ts';
import { encodeHeader } from '../../../src/rails/x402/wire.ts';
import type { ChannelStore } from '../../../src/store/channels/channel-store.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import {
  ASSET,
  authorizationOf,
  CAIP2,
  CHANNEL,
  facts,
  NETWORK,
  networksOn,
  openChain,
  payloadOf,
  RECEIVER,
  stateWith,
} from '../../payment/channels/paying.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../../store/samples.ts';

const PRICE = 100n;
const MINUTE = 60_000;
const gate = { asks() {}, arrives() {}, returns() {}, refused() {}, returned() {} };

async function scene(t: Test, change: (channels: ChannelStore) => Partial<ChannelStore> = () => ({})) {
  const clock = { now: 1_000_000_000_000 };
  const store = openSqliteStore(':memory:', { now: () => clock.now });
  t.teardown(() => store.close());
  const chain = openChain({ balance: '1000' });
  const networks = await networksOn(async () => chain.operator);
  const network = networks.find(NETWORK);
  if (!network) throw new Error('payable');
  const now = () => clock.now;
  const payments = openChannelPayments(store.channels, now);
  const channels = { ...store.channels, ...change(store.channels) };
  const refunds = openChannelRefunds({ networks, channels, publicUrl: 'https://api.example', now });
  let made = 0;
  /** As the lifecycle does it: verified, claimed with its voucher, worked for, charged. Throws the refusal. */
  async function call(max: bigint): Promise<void> {
    const authorization = await authorizationOf(max);
    const { hold } = await payments.verify({ authorization, network: network as never, amount: PRICE, leastPrice: 0n });
    const { draw, lock } = hold(() => sampleReceipt());
    made += 1;
    const outcome = await store.claim(
      sampleFacts(`call ${made}`),
      claimAt(clock.now, { leaseUntil: clock.now + MINUTE, draw }),
    );
    if (!outcome.won) throw new Error('claimed');
    const locked = await lock(outcome.claim, outcome.drawn);
    if (locked.state !== 'settled') {
      await store.giveUp(outcome.claim, 'released', 'x', clock.now);
      throw locked.state === 'declined' ? locked.error : new Error(locked.state);
    }
    const receipt = { ...sampleReceipt(), channel: { id: CHANNEL, charged: max.toString() } };
    if (!(await store.settle(outcome.claim, receipt, clock.now, { answer: sampleAnswer(), cost: undefined })))
      throw new Error('lost');
  }
  const accepted = {
    scheme: 'batch-settlement',
    network: CAIP2,
    amount: '0',
    asset: ASSET.address,
    payTo: RECEIVER,
    extra: {},
  };
  const askBack = async (max: bigint) => {
    const payload = await payloadOf(max, { type: 'refund' });
    const headers = { 'payment-signature': encodeHeader({ x402Version: 2, accepted, payload }) };
    return refunds.answer(
      { transport: 'http', method: 'GET', path: refunds.path, query: '', headers, body: Buffer.alloc(0) },
      gate,
    );
  };
  /** Calls for all of what was deposited. */
  async function drawAll() {
    let served = 0;
    for (let max = 200n; max <= 1000n; max += PRICE) {
      try {
        await call(max);
        served += 1;
      } catch {
        break;
      }
    }
    const kept = await store.channels.find(CHANNEL);
    return { served, charged: kept?.charged, holds: chain.state.balance };
  }
  return { clock, chain, call, askBack, drawAll, store };
}

t.test('the node does not answer after the refund', async (t) => {
  const { chain, call, askBack, drawAll } = await scene(t);
  await call(100n);
  const refund = chain.operator.refund;
  chain.operator.refund = async (...given) => {
    const settled = await refund(...given);
    chain.instead.read = () => Promise.reject(new FacilitatorUnreachable('the node says nothing'));
    return settled;
  };
  const answer = await askBack(100n);
  t.equal(answer.status, 200, 'its payer has the money, and is told so');
  t.match(JSON.parse(String(answer.body)), { amount: '900', extra: { channelState: { balance: '100' } } });
  delete chain.instead.read;
  t.equal(chain.state.balance, '100', 'all but the one call is given back');
  t.same(await drawAll(), { served: 0, charged: '100', holds: '100' });
});

t.test('a node that is a block behind', async (t) => {
  const { chain, call, askBack, drawAll } = await scene(t);
  await call(100n);
  const before = { ...chain.state };
  const refund = chain.operator.refund;
  chain.operator.refund = async (...given) => {
    const settled = await refund(...given);
    chain.instead.read = async () => {
      delete chain.instead.read;
      return { ...before };
    };
    return settled;
  };
  t.equal((await askBack(100n)).status, 200);
  t.same(await drawAll(), { served: 0, charged: '100', holds: '100' });
});

t.test('the instance dies right after the refund', async (t) => {
  const never = new Promise<never>(() => {});
  const { clock, chain, call, askBack, drawAll } = await scene(t);
  await call(100n);
  let isSent = () => {};
  const sent = new Promise<void>((resolve) => {
    isSent = resolve;
  });
  const refund = chain.operator.refund;
  chain.operator.refund = async (...given) => {
    await refund(...given);
    isSent();
    return never;
  };
  void askBack(100n);
  await sent;
  clock.now += 2 * MINUTE;
  t.equal(chain.state.balance, '100');
  t.same(await drawAll(), { served: 0, charged: '100', holds: '100' });
});

t.test('a refund that lands three minutes later', async (t) => {
  const { clock, chain, call, askBack, drawAll } = await scene(t);
  await call(100n);
  chain.instead.refund = unknown('the chain has not confirmed the refund');
  await t.rejects(askBack(100n), { code: 'settlement_pending' });
  clock.now += 2 * MINUTE;
  const drawn = await drawAll();
  // The sender goes on with it for ten minutes: it lands now. The contract: what is claimed stays, the rest is given back.
  chain.state = stateWith({ balance: '100', totalClaimed: '100', refundNonce: '1' });
  t.same({ ...drawn, holds: chain.state.balance }, { served: 0, charged: '100', holds: '100' });
});
void facts;
