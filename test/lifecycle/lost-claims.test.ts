/** An instance that sleeps at some step of its work until another has taken the payment over, and wakes up. */
import t, { type Test } from 'tap';
import { refused, type Settlement, unknown, unused } from '../../src/on-chain/settlement.ts';
import type { Hold } from '../../src/payment/hold.ts';
import type { Claim, Store } from '../../src/store/store.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';
import { sampleAnswer, sampleReceipt } from '../store/samples.ts';
import { openSale } from './sale.ts';

type Step = 'claimed' | 'locking' | 'settling' | 'settled' | 'asking' | 'fulfilled';

const LEASE_MS = 30_000;
const sent: Settlement = { state: 'settled', transaction: '0xmoved', amount: 50_000n };

interface Flow {
  readonly upfront?: boolean;
  /** Its money is locked before the work. */
  readonly isHeld?: boolean;
  /** The provider fails once the instance has slept. */
  readonly fails?: boolean;
  /** Its own clock does not show that it slept. */
  readonly isUnaware?: boolean;
}

/** One lifecycle on a store, whose instance sleeps once at a step, if at any; another instance takes over meanwhile. */
function sleepsAt(t: Test, step: Step | undefined, { upfront, isHeld, fails, isUnaware }: Flow) {
  const seen = { asked: 0, settled: 0, locked: 0, givenBack: 0 };
  const world = { settlement: sent as Settlement, whileVerifying: async () => {} };
  let other: Claim | undefined;

  async function pass(reached: Step): Promise<void> {
    if (reached !== step || other) return;
    const now = clock.now + LEASE_MS + 1;
    if (!isUnaware) clock.now = now;
    const [payment] = await store.list({ limit: 1 });
    if (!payment) throw new Error('nothing is claimed');
    const options = { owner: 'another', now, leaseUntil: now + LEASE_MS, maxAttempts: 3, maxOwedAttempts: 5 };
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

  const hold: Hold = {
    async lock() {
      seen.locked += 1;
      await pass('locking');
      return sent;
    },
    async release() {
      seen.givenBack += 1;
      return refused('given back');
    },
  };
  const { store, clock, pay } = openSale(t, {
    stored: (store) => ({
      ...store,
      claim: passing('claimed', store.claim),
      fulfil: passing('fulfilled', store.fulfil),
      settle: passing('settled', store.settle),
    }),
    verified: { upfront: upfront ? 'above' : isHeld ? 'held' : undefined, ...(isHeld && { hold }) },
    verifying: () => world.whileVerifying(),
    recovering: () => world.settlement,
    async settling() {
      seen.settled += 1;
      await pass('settling');
      return world.settlement;
    },
    async upstream() {
      seen.asked += 1;
      await pass('asking');
      if (fails) throw new UpstreamProblem('failed', 'provider', 'it fell over');
      return { text: 'paid' };
    },
  });
  return {
    seen,
    store,
    world,
    answer: () => pay('p'),
    /** Who took over brings it to its end. */
    async finish() {
      if (!other) throw new Error('nobody took over');
      await store.fulfil(other, sampleAnswer(), { now: clock.now });
      await store.settle(other, sampleReceipt('0xsecond'), clock.now);
      return store.find('p');
    },
  };
}

const inProgress = { kind: 'problem', problem: { code: 'payment_in_progress', headers: { 'retry-after': /\d/ } } };

for (const [step, flow, asked, settled, locked] of [
  ['claimed', {}, 0, 0, 0],
  ['asking', {}, 1, 0, 0],
  ['asking', { fails: true }, 1, 0, 0],
  ['fulfilled', {}, 1, 0, 0],
  ['claimed', { upfront: true }, 0, 0, 0],
  ['settling', { upfront: true }, 0, 1, 0],
  ['settling', { upfront: true, isUnaware: true }, 0, 1, 0],
  ['settled', { upfront: true }, 0, 1, 0],
  ['asking', { upfront: true }, 1, 1, 0],
  ['asking', { upfront: true, fails: true }, 1, 1, 0],
  ['claimed', { isHeld: true }, 0, 0, 0],
  ['locking', { isHeld: true }, 0, 0, 1],
  ['asking', { isHeld: true }, 1, 0, 1],
  ['asking', { isHeld: true, fails: true }, 1, 0, 1],
  ['fulfilled', { isHeld: true }, 1, 0, 1],
] as const satisfies readonly [Step, Flow, number, number, number][]) {
  const { upfront, isHeld, fails, isUnaware }: Flow = flow;
  const how = upfront ? 'settles first' : isHeld ? 'is locked first' : 'settles after the result';
  const then = fails ? ', and whose provider then failed,' : isUnaware ? ' by a clock ahead of its own' : '';
  t.test(`where a payment ${how}, an instance that was overtaken when ${step}${then} does nothing more`, async (t) => {
    const { seen, answer, finish } = sleepsAt(t, step, flow);
    t.match(await answer(), inProgress);
    t.same(seen, { asked, settled, locked, givenBack: 0 });
    const transaction = settled === 1 ? '0xmoved' : '0xsecond';
    t.match(await finish(), { state: 'settled', receipt: { transaction }, answer: sampleAnswer(), owner: '' });
  });
}

t.test('an instance that was overtaken while it settled keeps the receipt, and answers', async (t) => {
  const { seen, store, answer } = sleepsAt(t, 'settling', {});
  t.match(await answer(), { kind: 'result', receipt: { transaction: '0xmoved' } });
  t.match(seen, { asked: 1, settled: 1 });
  t.match(await store.find('p'), { state: 'settled', receipt: { transaction: '0xmoved' }, owner: '' });
});

t.test('an instance that was overtaken while it took what is locked leaves the answer to the other', async (t) => {
  const { seen, store, answer } = sleepsAt(t, 'settling', { isHeld: true });
  t.match(await answer(), inProgress);
  t.same(seen, { asked: 1, settled: 1, locked: 1, givenBack: 0 });
  t.match(await store.find('p'), { state: 'settled', receipt: { transaction: '0xmoved' } });
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
  const { seen, store, world, answer } = sleepsAt(t, undefined, { upfront: true });
  world.settlement = unused('no answer');
  t.match(await answer(), { problem: { code: 'settlement_pending' } });
  world.whileVerifying = async () => {
    const claim = await claimedByAnother(store);
    await store.settle(claim, sampleReceipt('0xother'), 1);
    await store.giveUp(claim, 'owed', 'upstream_failed', 1);
  };
  t.match(await answer(), { kind: 'result', receipt: { transaction: '0xother' } });
  t.match(seen, { asked: 1, settled: 1 });
  t.match(await store.find('p'), { state: 'settled', settleUpfront: true, receipt: { transaction: '0xother' } });
});

for (const [says, became, ending, state] of [
  ['refused it', refused('it expired'), { challenge: { refusal: { message: /it expired/ } } }, 'unsettled'],
  ['has it', sent, { kind: 'result' }, 'settled'],
  ['says nothing', unknown('no answer'), { problem: { code: 'settlement_pending' } }, 'claimed'],
] as const) {
  t.test(`whose instance died while it settled returns, and the chain ${says}: it is ${state}`, async (t) => {
    const { seen, store, world, answer } = sleepsAt(t, undefined, { upfront: true });
    world.settlement = unused('no answer');
    await answer();
    await claimedByAnother(store);
    world.settlement = became;
    t.match(await answer(), ending);
    t.match(seen, { asked: state === 'settled' ? 1 : 0, settled: 1 });
    t.match(await store.find('p'), { state });
  });
}
