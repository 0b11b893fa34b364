/** What is given back by itself, and by whom: nobody's result is given up for a refund that nobody can send. */
import t, { type Test } from 'tap';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { wantRefunds } from '../../src/payment/refunds/automatic.ts';
import { sendRefunds } from '../../src/payment/refunds/send.ts';
import type { RefundSender } from '../../src/payment/refunds/sender.ts';
import type { Settlement } from '../../src/settlement.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleFacts, sampleReceipt } from '../store/samples.ts';

const DAY_MS = 86_400_000;

/** A store with one payment whose result is owed since 3, and a sender for `chain-a`. */
async function open(t: Test, reason: string, becomes: readonly Settlement[] = []) {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  const claim = await won(store, sampleFacts('owed', { settleUpfront: true }), claimAt(1));
  await store.settle(claim, sampleReceipt(), 2);
  await store.giveUp(claim, 'owed', reason, 3);
  const clock = { now: 10 };
  const signed: string[] = [];
  const became = [...becomes];
  const next = async (): Promise<Settlement> => became.shift() ?? { state: 'unknown', reason: 'nobody knows' };
  const sender = (network: string): RefundSender => ({
    serves: (name) => name === network,
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
