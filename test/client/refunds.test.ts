/** What is asked back of deposits, of gateways that say one thing of them and may do another. */
import t from 'tap';
import type { DepositStore } from '../../src/client/index.ts';
import { BUSY, charging, correcting, drawn, openChannel as open, response } from './hostile-channel.ts';
import { encoded, type Hostile, known } from './hostile-gateway.ts';

const NO_BALANCE = 'invalid_batch_settlement_evm_refund_no_balance';

const holdingNothing: Hostile['onPayment'] = (answer) => {
  const required = { x402Version: 2, error: NO_BALANCE, resource: { url: 'x' }, accepts: [drawn()] };
  answer.writeHead(402, { 'payment-required': encoded(required) }).end('{"detail":"nothing is left of the deposit"}');
};

const refusing: Hostile['onPayment'] = (answer) => answer.writeHead(402).end('{"detail":"the deposit was refused"}');

/** What is kept, to be changed between two runs of a program. */
function openStore() {
  let kept: string | undefined;
  const store: DepositStore = {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
  };
  return {
    store,
    change: (by: (text: string) => string) => {
      kept = by(kept ?? '');
    },
  };
}

/** As it is once the time of all deposits that were signed is over. */
const ended = (text: string): string => text.replace(/"(validBefore|openUntil)":"[0-9]+"/g, '"$1":"1000000000"');

/** Gives back what it says. */
const givingBack =
  (amount: string, sent: () => readonly { payload: { voucher: { channelId: string } } }[]): Hostile['onPayment'] =>
  (answer) => {
    const { channelId } = sent().at(-1)?.payload.voucher ?? {};
    answer.writeHead(200, response({ channelState: { channelId, balance: '50000' } }, { amount })).end('{}');
  };

/** The same token on another chain. */
const elsewhere = { ...known, id: 'chain-e', network: 'eip155:4663' } as const;

t.test('why nothing comes back is told in the gateway’s words, which say what to do', async (t) => {
  const { gateway, client } = await open(t);
  gateway.onPayment = charging(gateway);
  t.match(await client.call('/x', {}), { ok: true });
  const busy = { x402Version: 2, error: BUSY, resource: { url: 'x' }, accepts: [drawn()] };
  gateway.onPayment = (answer) =>
    answer
      .writeHead(402, { 'payment-required': encoded(busy) })
      .end('{"detail":"a call draws from this channel: ask again after it"}');
  t.match(await client.refund(), [{ ok: false, message: 'a call draws from this channel: ask again after it' }]);
  gateway.onPayment = (answer) =>
    answer.writeHead(409).end('{"error":{"code":"settlement_pending","message":"not confirmed yet: ask again"}}');
  t.match(await client.refund(), [{ ok: false, message: 'not confirmed yet: ask again' }]);
  t.match(await client.deposits(), [{ left: '0.45' }]);
});

t.test('a deposit that was refused and may still be made is not taken for given back', async (t) => {
  const { gateway, client, deposits, sent } = await open(t);
  gateway.onPayment = refusing;
  t.match(await client.call('/x', { call: 1 }), { ok: false, reason: 'refused' });
  gateway.onPayment = holdingNothing;
  t.match(await client.refund(), [
    { ok: false, network: 'chain-c', message: /nothing is there.*may still be made until 20.*ask again/ },
  ]);
  t.match(await client.deposits(), [{ left: '0.5' }]);

  gateway.onPayment = charging(gateway);
  gateway.accepts = [drawn({ minDeposit: '500001' })];
  t.match(await client.call('/x', { call: 2 }), { reason: 'unpaid', message: /no room/ }, 'it counts as lent');
  gateway.accepts = [drawn()];
  t.match(await client.call('/x', { call: 3 }), { ok: true });
  t.same(deposits(), [500_000n], 'the very same is sent');
  t.match(await client.deposits(), [{ left: '0.45' }]);
  gateway.onPayment = givingBack('450000', sent);
  t.match(await client.refund(), [{ ok: true, amount: '0.45' }]);
  t.match(await client.deposits(), [{ left: '0' }]);
});

t.test('of two deposits the one that may still be made keeps both from being forgotten', async (t) => {
  const { gateway, client, deposits } = await open(t);
  gateway.onPayment = refusing;
  for (const [minDeposit, maxTimeoutSeconds] of [
    ['100000', 900],
    ['500000', 31],
  ] as const) {
    gateway.accepts = [drawn({ minDeposit }, { maxTimeoutSeconds })];
    await client.call('/x', { minDeposit });
  }
  t.same(deposits(), [100_000n, 500_000n]);
  gateway.accepts = [drawn()];
  gateway.onPayment = holdingNothing;
  const [back] = await client.refund();
  const [, until = ''] = /until (\S+):/.exec(back?.ok === false ? back.message : '') ?? [];
  t.ok(Date.parse(until) > Date.now() + 600_000, 'the longer of both times');
  t.match(await client.deposits(), [{ left: '0.6' }]);
});

t.test('a deposit that was never made is forgotten once it cannot be made any more', async (t) => {
  const { store: depositStore, change } = openStore();
  const first = await open(t, { pay: { deposit: '1', depositStore } });
  first.gateway.onPayment = refusing;
  await first.client.call('/x', {});
  change(ended);
  const { gateway, client } = await open(t, { pay: { deposit: '1', depositStore } });
  t.match(await client.deposits(), [{ left: '0.5' }]);
  gateway.onPayment = holdingNothing;
  t.match(await client.refund(), [{ ok: true, amount: '0', transaction: undefined }]);
  t.match(await client.deposits(), [{ left: '0' }]);
});

t.test('a deposit on a network that is not paid on any more is listed, counts, and comes back', async (t) => {
  const { store: depositStore } = openStore();
  const assets = [known, elsewhere];
  const before = await open(t, { assets, pay: { deposit: '1', depositStore, network: 'chain-e' } });
  const onIt = drawn({}, { network: elsewhere.network });
  before.gateway.accepts = [onIt];
  before.gateway.onPayment = charging(before.gateway);
  t.match(await before.client.call('/x', {}), { ok: true });

  const { gateway, client, sent, deposits } = await open(t, {
    assets,
    pay: { deposit: '1', depositStore, network: 'chain-c' },
  });
  t.match(await client.deposits(), [{ network: 'chain-e', left: '0.45' }]);
  gateway.accepts = [drawn({ minDeposit: '600000' })];
  t.match(await client.call('/x', {}), { reason: 'unpaid', message: /no room/ });
  gateway.accepts = [onIt];
  t.match(await client.call('/x', {}), { reason: 'unpaid', message: /no way that this client pays/ });
  t.same(deposits(), []);
  gateway.onPayment = givingBack('450000', sent);
  t.match(await client.refund(), [{ ok: true, network: 'chain-e', amount: '0.45' }]);
  t.match(await client.deposits(), [{ network: 'chain-e', left: '0' }]);
});

t.test(
  'one token on two chains of one name has a channel on each, also by what was kept under the name alone',
  async (t) => {
    const { store: depositStore, change } = openStore();
    const twin = { ...known, network: 'eip155:84532' } as const;
    const assets = [known, twin];
    const options = { assets, pay: { deposit: '2', depositStore } };
    const { gateway, client, sent, deposits } = await open(t, options);
    gateway.onPayment = charging(gateway);
    t.match(await client.call('/x', { call: 1 }), { ok: true });
    const [first] = await client.deposits();
    // As it was kept before.
    change((text) => text.replaceAll('"network":"eip155:8453"', '"network":"chain-c"'));

    const next = await open(t, options);
    next.gateway.onPayment = charging(next.gateway);
    t.match(await next.client.deposits(), [first], 'what was kept is found');
    t.match(await next.client.call('/x', { call: 2 }), { ok: true });
    t.same(next.deposits(), [], 'and goes on');
    next.gateway.accepts = [drawn({}, { network: twin.network })];
    t.match(await next.client.call('/x', { call: 3 }), { ok: true });
    t.same(next.deposits(), [500_000n], 'the other chain has its own');
    t.match(await next.client.deposits(), [{ left: '0.4' }, { left: '0.45' }]);
    t.equal(deposits().length, 1);
    t.equal(sent()[0]?.payload.voucher.channelId, first?.channel);
    t.equal(new Set(next.sent().map(({ payload }) => payload.voucher.channelId)).size, 2);
  },
);

t.test('what an unanswered call may not have cost is asked back, though nothing else is left', async (t) => {
  const { gateway, client, vouchers, sent } = await open(t, { retries: 0 });
  gateway.accepts = [drawn({ minDeposit: '50000' })];
  gateway.onPayment = (answer) => void answer.destroy();
  t.match(await client.call('/x', {}), { reason: 'owed' });
  t.match(await client.deposits(), [{ left: '0', unanswered: '0.05' }]);

  gateway.onPayment = (answer) => {
    gateway.onPayment = givingBack('50000', sent);
    correcting(gateway, () => ({ balance: '50000', chargedCumulativeAmount: '0' }))(answer);
  };
  t.match(await client.refund(), [{ ok: true, amount: '0.05' }]);
  t.same(vouchers(), [50_000n, 50_000n, 0n], 'for no more than the call');
  t.match(await client.deposits(), [{ left: '0', unanswered: '0' }]);
  t.same(await client.refund(), [], 'nothing is left to ask for');

  gateway.onPayment = charging(gateway, '50000');
  t.match(await client.call('/x', {}), { ok: true });
  t.match(await client.deposits(), [{ left: '0', unanswered: '0' }], 'an answered one has cost what it says');
});
