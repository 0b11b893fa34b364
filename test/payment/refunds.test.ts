/** What is given back by itself, and by whom: nobody's result is given up for a refund that nobody can send. */
import t, { type Test } from 'tap';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { canonicalJson } from '../../src/canonical-json.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { refused, type Settlement, unknown, unused } from '../../src/on-chain/settlement.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { wantRefunds } from '../../src/payment/refunds/automatic.ts';
import { requestRefund } from '../../src/payment/refunds/requested.ts';
import { sendRefunds } from '../../src/payment/refunds/send.ts';
import type { RefundSender } from '../../src/payment/refunds/sender.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const DAY_MS = 86_400_000;

async function owe(
  store: Store,
  id: string,
  network: string,
  { reason, since, amount = sampleReceipt().amount }: { reason: string; since: number; amount?: string },
) {
  const claim = await won(store, sampleFacts(id, { network, settleUpfront: true }), claimAt(since - 2));
  await store.settle(claim, { ...sampleReceipt(), amount }, since - 1);
  await store.giveUp(claim, 'owed', reason, since);
}

/** A store with one payment whose result is owed since 3, and a sender for `chain-a`. */
async function open(t: Test, reason: string, becomes: readonly Settlement[] = [], found?: Settlement) {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  await owe(store, 'owed', 'chain-a', { reason, since: 3 });
  const clock = { now: 10 };
  const signed: string[] = [];
  const became = [...becomes];
  const next = async (): Promise<Settlement> => became.shift() ?? { state: 'unknown', reason: 'nobody knows' };
  const sender = (network: string): RefundSender => ({
    serves: (name) => name === network,
    find: async () => found ?? unused('never sent'),
    async prepare({ payee }) {
      signed.push(payee);
      return { recoveryQuery: `query ${signed.length}`, send: next };
    },
    recover: next,
  });
  const partsFor = (network: string) => ({
    store,
    rails: new Map([['x402', { refunds: sender(network) } as unknown as Rail]]),
    owner: 'test',
    metrics: createMetrics(),
    log: createLog('silent'),
    worth: () => 1n,
    idOf: (name: string) => name,
    now: () => clock.now,
  });
  return { store, clock, signed, partsFor, stateOf: async () => (await store.find('owed'))?.state };
}

/** What the payer of the samples asks back under the key. */
async function askBack(
  parts: Parameters<typeof requestRefund>[1],
  idempotencyKey: string,
  amount = sampleReceipt().amount,
) {
  const account = privateKeyToAccount(generatePrivateKey());
  const paymentReference = { txHash: sampleReceipt().transaction, network: 'chain-a' };
  const asked = { x402Version: 2, paymentReference, amount, idempotencyKey } as const;
  const payerSignature = await account.signMessage({ message: canonicalJson(asked) });
  // Whoever signs is the payer of the samples.
  const list: Store['list'] = (filter) => parts.store.list({ ...filter, payer: sampleFacts('owed').payer });
  return await requestRefund({ ...asked, payerSignature }, { ...parts, store: { ...parts.store, list } });
}

t.test('what can be sent on its network is given back: a refusal at once, other failures after a day', async (t) => {
  const refused = await open(t, 'content_refused');
  t.equal(await wantRefunds(refused.partsFor('chain-a')), 1);
  t.equal(await refused.stateOf(), 'refunded');

  const failed = await open(t, 'upstream_failed');
  t.equal(await wantRefunds(failed.partsFor('chain-a')), 0);
  failed.clock.now = 3 + DAY_MS;
  t.equal(await wantRefunds(failed.partsFor('chain-a')), 1);
});

t.test('what cannot be sent on its network stays owed, and its payer can still get its result', async (t) => {
  const { clock, partsFor, stateOf } = await open(t, 'upstream_failed');
  clock.now = 3 + DAY_MS;
  t.equal(await wantRefunds(partsFor('another-chain')), 0);
  t.equal(await stateOf(), 'owed');
});

t.test('a refund that waits for a key says that it is sent once there is one, and is', async (t) => {
  const { store, clock, signed, partsFor } = await open(t, 'upstream_failed', [
    { state: 'settled', transaction: '0xback', amount: 1n },
  ]);
  await store.refunds.want({ paymentId: 'owed', reason: 'too late', isAutomatic: false, now: clock.now });
  await sendRefunds(partsFor('another-chain'));
  const [waiting] = await store.refunds.of('owed');
  t.match(waiting?.fault, /TURNPIKE_REFUND_SIGNER_EVM .* npm run refund -- owed --sent /);
  clock.now += 60_000;
  t.equal(await sendRefunds(partsFor('chain-a')), 1);
  t.equal(signed.length, 1, 'whatever the operator has sent meanwhile');
});

/** What was listed as owed is delivered before its refund is wanted. */
const deliveredMeanwhile = (store: Store): Store => ({
  ...store,
  async list(filter) {
    const found = await store.list(filter);
    const claim = await won(store, sampleFacts('owed', { network: 'chain-a', settleUpfront: true }), claimAt(4));
    await store.fulfil(claim, sampleAnswer(), { now: 5 });
    return found;
  },
});

t.test('who gets its result just when its payment is to be given back is given no money besides', async (t) => {
  const { store, clock, partsFor, stateOf } = await open(t, 'upstream_failed');
  clock.now = 3 + DAY_MS;
  t.equal(await wantRefunds({ ...partsFor('chain-a'), store: deliveredMeanwhile(store) }), 0);
  t.equal(await stateOf(), 'settled');
  t.same(await store.refunds.of('owed'), []);
});

t.test('nor is who asks for it in that moment', async (t) => {
  const { store, partsFor } = await open(t, 'upstream_failed');
  t.match(await askBack({ ...partsFor('chain-a'), store: deliveredMeanwhile(store) }, 'one'), {
    status: 'denied',
    denialReason: /nothing is owed/,
  });
  t.same(await store.refunds.of('owed'), []);
});

t.test('of calls that one transaction has paid for each is given back to who asks once for each', async (t) => {
  const { store, partsFor } = await open(t, 'upstream_failed');
  await owe(store, 'dearer', 'chain-a', { reason: 'upstream_failed', since: 4, amount: '7' });
  await owe(store, 'newest', 'chain-a', { reason: 'upstream_failed', since: 5 });
  const given = async () => {
    const refunds = await Promise.all(['owed', 'dearer', 'newest'].map((id) => store.refunds.of(id)));
    return refunds.map(({ length }) => length);
  };
  const { amount } = sampleReceipt();
  t.match(await askBack(partsFor('chain-a'), 'one'), { status: 'pending', amount });
  t.match(await askBack(partsFor('chain-a'), 'one'), { status: 'pending', amount });
  t.same(await given(), [0, 0, 1], 'the same request asks for one');
  t.match(await askBack(partsFor('chain-a'), 'two'), { status: 'pending', amount });
  t.same(await given(), [1, 0, 1]);
  t.match(await askBack(partsFor('chain-a'), 'three', '7'), { status: 'pending', amount: '7' });
  t.same(await given(), [1, 1, 1]);
  t.match(await askBack(partsFor('chain-a'), 'four'), { status: 'pending', amount }, 'and there is no more');
  t.same(await given(), [1, 1, 1]);
});

t.test('what is not given back yet, or cannot be, keeps nothing else waiting', async (t) => {
  const { store, clock, partsFor } = await open(t, 'upstream_failed');
  clock.now = 100;
  for (let number = 0; number < 100; number += 1) {
    await owe(store, `elsewhere ${number}`, 'another-chain', { reason: 'content_refused', since: 4 });
    await owe(store, `too soon ${number}`, 'chain-a', { reason: 'upstream_failed', since: 4 });
  }
  await owe(store, 'refused', 'chain-a', { reason: 'content_refused', since: 5 });
  t.equal(await wantRefunds(partsFor('chain-a')), 1);
  t.match(await store.find('refused'), { state: 'refunded' });
});

t.test('refunds of a network whose node is dead keep those of no other waiting, nor each other for ever', async (t) => {
  const { store, clock, partsFor } = await open(t, 'content_refused');
  for (let number = 0; number < 150; number += 1) {
    await owe(store, `dead ${number}`, 'dead-chain', { reason: 'content_refused', since: 3 });
    await store.refunds.want({ paymentId: `dead ${number}`, reason: 'a test', isAutomatic: true, now: 4 });
  }
  await store.refunds.want({ paymentId: 'owed', reason: 'a test', isAutomatic: true, now: 5 });
  const parts = partsFor('chain-a');
  const sound = parts.rails.get('x402')?.refunds;
  const sender: RefundSender = {
    serves: () => true,
    find: async () => unused('never sent'),
    async prepare(order) {
      if (order.network === 'chain-a' && sound) return sound.prepare(order);
      await Promise.resolve();
      clock.now += 10_000;
      throw new Error('the node says nothing');
    },
    recover: async () => ({ state: 'unknown', reason: 'nobody knows' }),
  };
  const rails = new Map([['x402', { refunds: sender } as unknown as Rail]]);
  await sendRefunds({ ...parts, rails });
  t.match(await store.refunds.of('owed'), [{ state: 'sending' }], 'its turn comes at once');
  for (let round = 0; round < 40; round += 1) {
    clock.now += 60_000;
    await sendRefunds({ ...parts, rails });
  }
  const tried = await Promise.all(Array.from({ length: 150 }, (_, number) => store.refunds.of(`dead ${number}`)));
  t.ok(
    tried.every(([refund]) => refund?.fault === 'the node says nothing'),
    'the turn of each comes',
  );
});

t.test('nothing else is signed before the chain says that the last transfer will never move money', async (t) => {
  const lost: Settlement = { state: 'unknown', reason: 'no answer' };
  const refused: Settlement = { state: 'refused', reason: 'expired' };
  const settled: Settlement = { state: 'settled', transaction: '0xback', amount: 1n };
  const { store, clock, signed, partsFor } = await open(t, 'content_refused', [refused, lost, refused, settled]);
  const parts = partsFor('chain-a');
  await wantRefunds(parts);
  const round = async () => {
    const sent = await sendRefunds(parts);
    clock.now += 60_000;
    return [sent, signed.length];
  };
  t.same(await round(), [0, 1], 'signed, and the facilitator says no');
  t.same(await round(), [0, 1], 'the chain does not know yet');
  t.same(await round(), [1, 2], 'the chain says that it is over: signed anew');
  t.match(await store.refunds.of('owed'), [{ state: 'sent', transaction: '0xback', recoveryQuery: 'query 2' }]);
  t.same(await round(), [0, 2]);
});

t.test(
  'nothing is signed unless the chain says that it was not sent before, whatever the database knows',
  async (t) => {
    const cases = [
      [unknown('no answer'), { state: 'wanted', fault: /waits until the chain says .*no answer/ }],
      [refused('another amount'), { state: 'wanted', fault: 'another amount' }],
      [
        { state: 'settled', transaction: '0xback', amount: 1n },
        { state: 'sent', transaction: '0xback' },
      ],
    ] as const;
    for (const [found, refund] of cases) {
      const { store, signed, partsFor } = await open(t, 'content_refused', [], found);
      const parts = partsFor('chain-a');
      await wantRefunds(parts);
      await sendRefunds(parts);
      t.match(await store.refunds.of('owed'), [refund]);
      t.same(signed, []);
    }
  },
);
