/** What is left of a deposit is given back to its payer who asks, and to nobody else. */
import t, { type Test } from 'tap';
import { unknown } from '../../../src/on-chain/settlement.ts';
import { FacilitatorUnreachable } from '../../../src/payment/facilitators/facilitator.ts';
import type { HttpAnswer } from '../../../src/payment/rail.ts';
import { openChannelRefunds } from '../../../src/rails/x402/channel-refunds.ts';
import { encodeHeader } from '../../../src/rails/x402/wire.ts';
import type { ChannelState, ChannelStore } from '../../../src/store/channels/channel-store.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import {
  ASSET,
  AUTHORIZER,
  CAIP2,
  CHANNEL,
  config,
  facts,
  NETWORK,
  networksOn,
  openChain,
  payer,
  payloadOf,
  RECEIVER,
  type Signed,
  signatureOf,
  stateWith,
  UNPAYABLE_CHAIN,
} from '../../payment/channels/paying.ts';
import { polygon, solanaDevnet, stable } from '../../payment/facilitators/networks.ts';
import { won } from '../../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../../store/samples.ts';

const START = 1_000_000_000_000;
const MINUTE = 60_000;
const MISMATCH = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';
const BUSY = 'invalid_batch_settlement_evm_channel_busy';
const NO_BALANCE = 'invalid_batch_settlement_evm_refund_no_balance';

interface Options {
  readonly begin?: Partial<ChannelState>;
  readonly hasChannels?: boolean;
  /** Happens once the channel is taken. */
  readonly onTaken?: (clock: { now: number }) => void;
}

/** The path, a channel and a clock that a test moves. */
async function scene(t: Test, { begin = {}, hasChannels = true, onTaken = () => {} }: Options = {}) {
  const clock = { now: START };
  const store = openSqliteStore(':memory:', { now: () => clock.now });
  t.teardown(() => store.close());
  const chain = openChain(begin);
  const channels: ChannelStore = {
    ...store.channels,
    async take(...given) {
      const taken = await store.channels.take(...given);
      onTaken(clock);
      return taken;
    },
  };
  const networks = await networksOn(async () => chain.operator, { hasChannels });
  const path = openChannelRefunds({ networks, channels, publicUrl: 'https://api.example', now: () => clock.now });
  /** What the gate was told, in order. */
  const gates: string[] = [];
  const gate = {
    asks: () => void gates.push('asks'),
    arrives: () => void gates.push('arrives'),
    returns: (who: string) => void gates.push(`is ${who}`),
    refused: () => void gates.push('refused'),
    returned: () => void gates.push('returned'),
  };
  const answer = (headers: Record<string, string> = {}, query = '') =>
    path.answer({ transport: 'http', method: 'GET', path: path.path, query, headers, body: Buffer.alloc(0) }, gate);
  return {
    ...{ clock, store, chain, gates, answer },
    channels: store.channels,
    ask: async (max: bigint, signed: Signed = {}, network = CAIP2) =>
      answer(headerOf(await payloadOf(max, { type: 'refund', ...signed }), { network })),
    /** A call that draws from the channel up to `max`, and costs up to `total`; its end may be left open. */
    async call(total: bigint, { max = total, isOver = true } = {}) {
      await store.channels.adopt(facts, chain.state, clock.now);
      const id = `call up to ${total}`;
      const claim = await won(store, sampleFacts(id), claimAt(clock.now, { leaseUntil: clock.now + MINUTE }));
      const before = BigInt((await store.channels.find(CHANNEL))?.charged ?? 0);
      const voucher = { max: max.toString(), signature: await signatureOf(max) };
      const draw = { facts, voucher, amount: (max - before).toString(), deposit: '0', found: chain.state };
      const drawn = await store.channels.reserve(claim, draw, clock.now);
      if (!isOver) return drawn;
      await store.fulfil(claim, sampleAnswer(), { now: clock.now });
      const receipt = { ...sampleReceipt(), channel: { id: CHANNEL, charged: total.toString() } };
      await store.settle(claim, receipt, clock.now);
      return drawn;
    },
  };
}

function headerOf(payload: object, { network = CAIP2, scheme = 'batch-settlement' } = {}): Record<string, string> {
  const accepted = { scheme, network, amount: '0', asset: ASSET.address, payTo: RECEIVER, extra: {} };
  return { 'payment-signature': encodeHeader({ x402Version: 2, accepted, payload }) };
}

const decoded = (answer: HttpAnswer, name: string) =>
  JSON.parse(Buffer.from(String(answer.headers[name]), 'base64').toString());
const bodyOf = ({ body }: HttpAnswer) => JSON.parse(body.toString());

/** The one offer of `NETWORK`, as refusals correct it. */
const offerIn = (answer: HttpAnswer) =>
  bodyOf(answer).accepts.find(({ network }: { network: string }) => network === CAIP2);

const offerOn = (network: string, asset: string, name = 'USDC') => ({
  scheme: 'batch-settlement',
  network,
  amount: '0',
  asset,
  payTo: RECEIVER,
  maxTimeoutSeconds: 300,
  extra: { name, version: '2', receiverAuthorizer: AUTHORIZER, withdrawDelay: 86_400, minDeposit: '0' },
});
const OFFERS = [offerOn(CAIP2, ASSET.address), offerOn(polygon.live.caip2, polygon.live.asset.address, 'USD Coin')];

t.test('where no channels are offered there is no such path', async (t) => {
  const { answer, gates } = await scene(t, { hasChannels: false });
  await t.rejects(answer(), { name: 'Problem', code: 'unknown_path' });
  t.same(gates, []);
});

t.test('who only asks learns where channels are, and what to send', async (t) => {
  const { answer, gates } = await scene(t);
  const asked = await answer();
  const detail = "What is left of a channel's deposit: send a voucher of the type refund";
  const required = {
    x402Version: 2,
    error: detail,
    resource: {
      url: 'https://api.example/v1/channels',
      description: 'Gives back what is left of a deposit',
      mimeType: 'application/json',
    },
    accepts: OFFERS,
  };
  t.same(decoded(asked, 'payment-required'), required);
  t.same(bodyOf(asked), { type: 'about:blank', title: 'A voucher is required', status: 402, detail, ...required });
  t.equal(asked.status, 402);
  t.same(gates, ['asks']);
});

t.test('who names a network learns of that one alone', async (t) => {
  const { answer } = await scene(t);
  const offered = async (query: string) =>
    bodyOf(await answer({}, query)).accepts.map(({ network }: { network: string }) => network);
  t.same(await offered(`network=${NETWORK}`), [CAIP2]);
  t.same(await offered(`network=${encodeURIComponent(CAIP2)}`), [CAIP2]);
  t.same(await offered('network=polygon'), [polygon.live.caip2]);
  t.same(await offered(`network=${stable.id}`), [], 'which has no channels');
  t.same(await offered('network=elsewhere'), []);
});

t.test('what is left is given back, and what was charged is claimed with it', async (t) => {
  const { ask, call, chain, channels, gates, clock } = await scene(t, { begin: { balance: '1000' } });
  await call(100n);
  chain.state = stateWith({ balance: '1000', totalClaimed: '100' });
  await call(300n, { max: 350n });
  clock.now += 7;
  const answer = await ask(300n);
  const signature = await signatureOf(350n);
  t.same(chain.refunds, [{ claim: { config, max: 350n, signature, charged: 300n, due: 200n }, amount: 700n }]);
  const after = stateWith({ balance: '300', totalClaimed: '300', refundNonce: '1' });
  const response = {
    success: true,
    transaction: '0xrefunded',
    network: CAIP2,
    payer: payer.address,
    amount: '700',
    extra: { channelState: { channelId: CHANNEL, ...after, chargedCumulativeAmount: '300' } },
  };
  t.equal(answer.status, 200);
  t.same(bodyOf(answer), response);
  t.same(decoded(answer, 'payment-response'), response);
  t.match(await channels.find(CHANNEL), { ...after, syncedAt: clock.now, charged: '300' });
  t.same(gates, ['arrives', `is ${config.payerAuthorizer}`, 'returned'], 'its transaction is paid for by nobody');
});

t.test('so much is given back as is asked for, and no more than is left', async (t) => {
  const cases: readonly [amount: bigint | undefined, given: bigint | undefined][] = [
    [undefined, 700n],
    [1n, 1n],
    [699n, 699n],
    [700n, 700n],
    [701n, 700n],
    [0n, undefined],
  ];
  for (const [amount, given] of cases) {
    const { ask, call, chain } = await scene(t, { begin: { balance: '1000' } });
    await call(300n);
    const answer = await ask(300n, amount === undefined ? {} : { amount });
    t.equal(answer.status, given === undefined ? 402 : 200, `${amount}`);
    t.same(
      chain.refunds.map((each) => each.amount),
      given === undefined ? [] : [given],
      `${amount}`,
    );
  }
});

t.test('where nothing is left nothing is sent', async (t) => {
  const { ask, call, chain, gates } = await scene(t, { begin: { balance: '301' } });
  await call(300n);
  t.equal((await ask(300n)).status, 200, 'the last unit');
  const answer = await ask(300n);
  t.equal(answer.status, 402);
  t.match(bodyOf(answer), { error: NO_BALANCE, detail: 'nothing is left of the deposit' });
  t.same(bodyOf(answer).accepts, OFFERS);
  t.equal(chain.refunds.length, 1);
  t.same(gates.slice(-3), ['arrives', `is ${config.payerAuthorizer}`, 'refused']);
  t.equal(await call(301n, { isOver: false }), 'insufficient', 'and nobody has taken the channel');
});

t.test('it is asked for by a voucher for what the calls have cost', async (t) => {
  const { ask, call, chain } = await scene(t, { begin: { balance: '1000' } });
  await call(300n);
  for (const max of [0n, 299n, 301n, 1_000n]) {
    const answer = await ask(max);
    t.match(bodyOf(answer), { status: 402, error: MISMATCH, detail: /have cost 300 atomic units/ }, `${max}`);
    const [offer] = OFFERS;
    t.same(offerIn(answer), {
      ...offer,
      extra: {
        ...offer?.extra,
        channelState: { channelId: CHANNEL, ...stateWith({ balance: '1000' }), chargedCumulativeAmount: '300' },
        voucherState: { signedMaxClaimable: '300', signature: await signatureOf(300n) },
      },
    });
    t.same(bodyOf(answer).accepts[1], OFFERS[1], 'other networks are offered as they are');
  }
  t.same(chain.refunds, []);
  t.equal((await ask(300n)).status, 200);
});

t.test('a channel that nobody has called with is given back by what its chain says', async (t) => {
  const { ask, chain, channels } = await scene(t, { begin: { balance: '1000', totalClaimed: '40' } });
  t.equal((await ask(40n)).status, 200);
  const claim = { config, max: 40n, signature: await signatureOf(40n), charged: 40n, due: 0n };
  t.same(chain.refunds, [{ claim, amount: 960n }]);
  t.match(await channels.find(CHANNEL), { ...facts, balance: '40', charged: '40', voucher: undefined });
});

t.test('of a channel that is not known its payer says what it has cost, and that is claimed of it', async (t) => {
  for (const [max, status] of [
    [39n, 402],
    [41n, 200],
    [999n, 200],
    [1_001n, 402],
  ] as const) {
    const { ask, chain, channels } = await scene(t, { begin: { balance: '1000', totalClaimed: '40' } });
    const answer = await ask(max);
    t.equal(answer.status, status, `${max}`);
    if (status === 402) {
      t.match(bodyOf(answer), { error: MISMATCH, detail: /have cost 40 atomic units/ });
      t.same(chain.refunds, []);
    } else {
      const claim = { config, max, signature: await signatureOf(max), charged: max, due: max - 40n };
      t.same(chain.refunds, [{ claim, amount: 1_000n - max }]);
      t.match(await channels.find(CHANNEL), {
        balance: max.toString(),
        totalClaimed: max.toString(),
        charged: max.toString(),
      });
    }
  }
});

t.test('what is no voucher for giving back is refused, and nothing is asked of the chain', async (t) => {
  const { answer, ask, chain, gates } = await scene(t, { begin: { balance: '1000' } });
  const authorization = {
    ...{ from: payer.address, to: RECEIVER, value: '0', validAfter: '0', validBefore: '9999999999' },
    nonce: `0x${'1'.repeat(64)}`,
  };
  const exact = headerOf({ authorization, signature: `0x${'11'.repeat(65)}` }, { scheme: 'exact' });
  const solana = headerOf(await payloadOf(0n, { type: 'refund' }), { network: solanaDevnet.live.caip2 });
  const away = headerOf(await payloadOf(0n, { type: 'refund', chainId: UNPAYABLE_CHAIN }), {
    network: `eip155:${UNPAYABLE_CHAIN}`,
  });
  const cases: readonly [name: string, answer: () => Promise<HttpAnswer>, detail: RegExp][] = [
    ['nonsense', () => answer({ 'payment-signature': 'nonsense!' }), /is not base64/],
    ['a voucher for a call', () => ask(0n, { type: 'voucher' }), /this path takes vouchers of the type refund/],
    ['a payment', () => answer(exact), /this path takes vouchers of the type refund/],
    ['a network that has none', () => answer(solana), /no channels are on this network/],
    ['a network that cannot be paid at the moment', () => answer(away), /channels are not offered there/],
    ['a network that is not known', () => ask(0n, {}, 'eip155:1'), /is not known here/],
    ['another signer', () => ask(0n, { by: `0x${'7'.repeat(64)}` }), /is not signed by payerAuthorizer/],
    ['another delay', () => ask(0n, { changes: { withdrawDelay: 86_401 } }), /withdrawDelay is 86401, asked is 86400/],
  ];
  for (const [name, given, detail] of cases) {
    gates.length = 0;
    const refusal = await given();
    t.equal(refusal.status, 402, name);
    t.match(bodyOf(refusal), { detail, error: detail }, name);
    t.same(bodyOf(refusal).accepts, OFFERS, name);
    t.same(gates, ['arrives', 'refused'], name);
  }
  t.same([chain.asked, chain.refunds], [[], []]);
});

t.test('while a call draws from the channel nothing is given back', async (t) => {
  const { ask, call, chain, gates } = await scene(t, { begin: { balance: '1000' } });
  await call(300n);
  await call(400n, { isOver: false });
  const answer = await ask(300n);
  t.match(bodyOf(answer), { status: 402, error: BUSY, detail: /a call draws from this channel: ask again/ });
  t.same(chain.refunds, []);
  t.equal(gates.at(-1), 'refused');
});

t.test('while it is given back no call draws from it', async (t) => {
  let drawn: string | undefined;
  const { ask, call, chain } = await scene(t, { begin: { balance: '1000' } });
  await call(300n);
  const refund = chain.operator.refund.bind(chain.operator);
  chain.operator.refund = async (...given) => {
    drawn = await call(400n, { isOver: false });
    return refund(...given);
  };
  t.equal((await ask(300n)).status, 200);
  t.equal(drawn, 'busy');
});

t.test('who has slept too long to be sure of the channel sends nothing', async (t) => {
  for (const [sleepsMs, isSent] of [
    [MINUTE, true],
    [MINUTE + 1, false],
  ] as const) {
    const { ask, call, chain, gates } = await scene(t, {
      begin: { balance: '1000' },
      onTaken: (clock) => {
        clock.now += sleepsMs;
      },
    });
    await call(300n);
    if (isSent) t.equal((await ask(300n)).status, 200);
    else await t.rejects(ask(300n), { name: 'Problem', code: 'payment_in_progress' });
    t.equal(chain.refunds.length, isSent ? 1 : 0);
    t.equal(gates.includes('returned'), isSent);
    t.notOk(gates.includes('refused'));
    t.equal(await call(301n, { isOver: false }), isSent ? 'insufficient' : 'reserved', 'the channel is let go');
  }
});

t.test('what the contract turns down is told, and the channel is free again', async (t) => {
  const { ask, call, chain, gates } = await scene(t, { begin: { balance: '1000' } });
  await call(300n);
  chain.instead.refund = { state: 'refused', reason: 'NotAuthorizedToRefund' };
  const answer = await ask(300n);
  t.equal(answer.status, 402);
  t.match(bodyOf(answer), { detail: 'the deposit was not given back: NotAuthorizedToRefund' });
  t.same(gates, ['arrives', `is ${config.payerAuthorizer}`, 'refused']);
  t.equal(await call(400n, { isOver: false }), 'reserved');
});

t.test('a refund whose end nobody knows keeps the channel until its chain has had its time', async (t) => {
  const { ask, call, chain, gates, clock } = await scene(t, { begin: { balance: '1000' } });
  await call(300n);
  chain.instead.refund = unknown('the chain has not confirmed the refund');
  await t.rejects(ask(300n), { name: 'Problem', code: 'settlement_pending' });
  t.same(gates, ['arrives', `is ${config.payerAuthorizer}`, 'returned']);
  delete chain.instead.refund;
  clock.now += 2 * MINUTE - 1;
  t.match(bodyOf(await ask(300n)), { error: BUSY });
  clock.now += 1;
  await t.rejects(ask(300n), { name: 'Problem', code: 'settlement_pending' }, 'its transaction may be sent again yet');
  clock.now += 13 * MINUTE;
  t.equal((await ask(300n)).status, 200);
});

t.test('a chain that cannot be asked is no fault of the voucher', async (t) => {
  const { ask, chain, gates } = await scene(t);
  chain.instead.read = () => Promise.reject(new FacilitatorUnreachable('the node says nothing'));
  t.match(bodyOf(await ask(0n)), { status: 402, detail: /the channel could not be checked .* try again/ });
  t.equal(gates.at(-1), 'refused');
});

t.test('a mistake of ours is no refusal', async (t) => {
  const { ask, chain, gates } = await scene(t);
  chain.instead.read = () => Promise.reject(new TypeError('undefined is not a function'));
  await t.rejects(ask(0n), TypeError);
  t.same(gates, ['arrives', `is ${config.payerAuthorizer}`]);
});

t.test('a stranger who asks for deposits that there are not leaves nothing in the database', async (t) => {
  const { ask, channels } = await scene(t);
  for (let number = 1; number <= 20; number += 1) {
    const changes = {
      salt: `0x${number.toString(16).padStart(64, '0')}`,
      payer: `0x${number.toString(16).padStart(40, 'c')}`,
    };
    t.equal((await ask(0n, { changes })).status, 402);
  }
  t.equal((await channels.list({ after: undefined, limit: 100 })).length, 0);
});
