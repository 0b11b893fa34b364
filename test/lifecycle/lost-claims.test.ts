/** An instance that sleeps at some step of its work until another has taken the payment over, and wakes up. */
import t from 'tap';
import { createRouteFinder } from '../../src/lifecycle/find.ts';
import { createLifecycle } from '../../src/lifecycle/lifecycle.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import type { Rail, VerifiedPayment } from '../../src/payment/rail.ts';
import { refused, type Settlement, unknown, unused } from '../../src/settlement.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Claim, Store } from '../../src/store/store.ts';
import { usualLimits } from '../limits/usual.ts';
import { noExposure } from '../payment/exposure/none.ts';
import { mppRoute } from '../payment/mpp/route.ts';
import { sampleAnswer, sampleReceipt } from '../store/samples.ts';

type Step = 'claimed' | 'settling' | 'settled' | 'asking' | 'fulfilled';

const LEASE_MS = 30_000;
const sent: Settlement = { state: 'settled', transaction: '0xmoved', amount: 50_000n };
const log = createLog('silent');

/** One lifecycle on a store, whose instance sleeps once at a step, if at any; another instance takes over meanwhile. */
function sleepsAt(step: Step | undefined, { upfront }: { upfront: boolean }) {
  let time = 1_000_000;
  const now = () => time;
  const store = openSqliteStore(':memory:', { now });
  t.teardown(() => store.close());
  const seen = { asked: 0, settled: 0 };
  const world = { settlement: sent as Settlement, whileVerifying: async () => {} };
  let other: Claim | undefined;

  async function pass(reached: Step): Promise<void> {
    if (reached !== step || other) return;
    time += LEASE_MS + 1;
    const [payment] = await store.list({ limit: 1 });
    if (!payment) throw new Error('nothing is claimed');
    const options = { owner: 'another', now: time, leaseUntil: time + LEASE_MS, maxAttempts: 3, maxOwedAttempts: 5 };
    const outcome = await store.claim(payment, options);
    if (outcome.won) other = outcome.claim;
  }

  const passing =
    <Args extends unknown[], Result>(reached: Step, method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const result = await method(...args);
      await pass(reached);
      return result;
    };
  const slept: Store = {
    ...store,
    claim: passing('claimed', store.claim),
    fulfil: passing('fulfilled', store.fulfil),
    settle: passing('settled', store.settle),
  };

  const verified = {
    network: 'chain-a',
    asset: 'asset-1',
    payer: 'payer-1',
    payTo: 'merchant-1',
    amount: 50_000n,
    decimals: 6,
    scheme: 'exact',
    upfront: upfront ? 'above' : undefined,
    offeredAt: 0,
    canSettleUpfront: true,
    holder: { isContract: false, balance: async () => 1_000_000n },
    payerIsProven: true,
    recoveryQuery: '{}',
    async settle() {
      seen.settled += 1;
      await pass('settling');
      return world.settlement;
    },
  } satisfies VerifiedPayment;
  const rail = {
    name: 'mpp',
    http: { read: () => ({ id: 'p', fingerprint: 'f', isPrivate: true }) },
    async verify() {
      await world.whileVerifying();
      return verified;
    },
    recover: async () => world.settlement,
    challenge: (_quote: unknown, refusal: unknown) => ({ refusal }),
    receipt: () => sampleReceipt('0xmoved'),
  } as unknown as Rail;

  const lifecycle = createLifecycle({
    routes: createRouteFinder([mppRoute('/mpp/a')]),
    rails: new Map([['mpp', rail]]),
    store: slept,
    exposure: noExposure,
    limits: usualLimits(),
    upstreams: {
      stopping: new AbortController().signal,
      async call() {
        seen.asked += 1;
        await pass('asking');
        return { text: 'paid' };
      },
    },
    metrics: createMetrics(),
    owner: 'sleeper',
    decimalsOf: () => 6,
    log,
    now,
  });
  return {
    seen,
    store,
    world,
    answer: () =>
      lifecycle.answer({
        transport: 'http',
        method: 'POST',
        path: '/mpp/a',
        query: '',
        headers: {},
        readBody: async () => Buffer.from('{}'),
      }),
    /** Who took over brings it to its end. */
    async finish() {
      if (!other) throw new Error('nobody took over');
      await store.fulfil(other, sampleAnswer(), { now: time });
      await store.settle(other, sampleReceipt('0xsecond'), time);
      return store.find('p');
    },
  };
}

const inProgress = { kind: 'problem', problem: { code: 'payment_in_progress', headers: { 'retry-after': /\d/ } } };

for (const [step, upfront, asked, settled] of [
  ['claimed', false, 0, 0],
  ['asking', false, 1, 0],
  ['fulfilled', false, 1, 0],
  ['claimed', true, 0, 0],
  ['settling', true, 0, 1],
  ['settled', true, 0, 1],
  ['asking', true, 1, 1],
] as const) {
  const flow = upfront ? 'settles first' : 'settles after the result';
  t.test(`where a payment ${flow}, an instance that was overtaken when ${step} does nothing more`, async (t) => {
    const { seen, answer, finish } = sleepsAt(step, { upfront });
    t.match(await answer(), inProgress);
    t.same(seen, { asked, settled });
    const transaction = settled === 1 ? '0xmoved' : '0xsecond';
    t.match(await finish(), { state: 'settled', receipt: { transaction }, answer: sampleAnswer(), owner: '' });
  });
}

t.test('an instance that was overtaken while it settled keeps the receipt, and answers', async (t) => {
  const { seen, store, answer } = sleepsAt('settling', { upfront: false });
  t.match(await answer(), { kind: 'result', receipt: { transaction: '0xmoved' } });
  t.same(seen, { asked: 1, settled: 1 });
  t.match(await store.find('p'), { state: 'settled', receipt: { transaction: '0xmoved' }, owner: '' });
});

/** Claims what has an unknown end, as an instance that dies at once. */
async function claimedByAnother(store: Store): Promise<Claim> {
  const [payment] = await store.list({ limit: 1 });
  if (!payment) throw new Error('nothing is claimed');
  const options = { owner: 'another', now: 1, leaseUntil: 2, maxAttempts: 3, maxOwedAttempts: 5, settleAgain: true };
  const outcome = await store.claim(payment, options);
  if (!outcome.won) throw new Error('it was not free');
  return outcome.claim;
}

t.test('what another request settled while this one was verified is worked for, and not settled again', async (t) => {
  const { seen, store, world, answer } = sleepsAt(undefined, { upfront: true });
  world.settlement = unused('no answer');
  t.match(await answer(), { problem: { code: 'settlement_pending' } });
  world.whileVerifying = async () => {
    const claim = await claimedByAnother(store);
    await store.settle(claim, sampleReceipt('0xother'), 1);
    await store.giveUp(claim, 'owed', 'upstream_failed', 1);
  };
  t.match(await answer(), { kind: 'result', receipt: { transaction: '0xother' } });
  t.same(seen, { asked: 1, settled: 1 });
  t.match(await store.find('p'), { state: 'settled', settleUpfront: true, receipt: { transaction: '0xother' } });
});

for (const [says, became, ending, state] of [
  ['refused it', refused('it expired'), { challenge: { refusal: { message: /it expired/ } } }, 'unsettled'],
  ['has it', sent, { kind: 'result' }, 'settled'],
  ['says nothing', unknown('no answer'), { problem: { code: 'settlement_pending' } }, 'claimed'],
] as const) {
  t.test(`whose instance died while it settled returns, and the chain ${says}: it is ${state}`, async (t) => {
    const { seen, store, world, answer } = sleepsAt(undefined, { upfront: true });
    world.settlement = unused('no answer');
    await answer();
    await claimedByAnother(store);
    world.settlement = became;
    t.match(await answer(), ending);
    t.same(seen, { asked: state === 'settled' ? 1 : 0, settled: 1 });
    t.match(await store.find('p'), { state });
  });
}
