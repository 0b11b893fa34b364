import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Payment, Store } from '../../../src/store/store.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

/** One thing that some instance does to a payment; `late` counts back from the newest attempt. */
const event = fc.record({
  does: fc.constantFrom(
    'claim',
    'claim to settle again',
    'fulfil',
    'settle',
    'release',
    'unsettle',
    'lose',
    'owe',
    'paid',
    'unpaid',
    'asked',
    'take',
    'let go',
    'free',
    'renew',
  ),
  where: fc.constantFrom('here', 'there'),
  owner: fc.constantFrom('instance-1', 'instance-2'),
  late: fc.constantFrom(0, 0, 0, 1),
  pause: fc.constantFrom(1, 1, 20),
  stranger: fc.constantFrom(false, false, false, true),
});
type Event = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

/** Whatever happens in whatever order on two instances, each event leaves a payment that makes sense. Throws if not. */
export async function historyProperty(here: Store, there: Store): Promise<void> {
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 25 }), async (events) => {
      histories += 1;
      const id = `history-${histories}`;
      let now = 1;
      let before: Payment | undefined;
      for (const one of events) {
        now += one.pause;
        const accepted = await happen(one.where === 'here' ? here : there, id, one, before?.attempt ?? 1, now);
        const after = await (one.where === 'here' ? there : here).find(id);
        compare(before, after, one, accepted, now);
        before = after;
      }
    }),
    { numRuns: 150 },
  );
}

/** Whether the store accepted it. */
async function happen(store: Store, id: string, one: Event, newest: number, now: number): Promise<boolean> {
  const claim = { id, attempt: newest - one.late };
  switch (one.does) {
    case 'claim':
    case 'claim to settle again': {
      const facts = sampleFacts(id, one.stranger ? { requestDigest: 'other' } : {});
      const settleAgain = one.does === 'claim to settle again';
      return (await store.claim(facts, claimAt(now, { owner: one.owner, settleAgain }))).won;
    }
    case 'fulfil':
      return store.fulfil(claim, sampleAnswer(`answer at ${now}`), { now });
    case 'settle':
      return store.settle(claim, sampleReceipt(`settled at ${now}`), now);
    case 'release':
      return store.giveUp(claim, 'released', 'upstream_failed', now);
    case 'unsettle':
      return store.giveUp(claim, 'unsettled', 'refused', now);
    case 'lose':
      return store.giveUp(claim, 'unknown', 'no answer', now);
    case 'owe':
      return store.giveUp(claim, 'owed', 'upstream_failed', now);
    case 'paid':
      return store.resolve(id, { state: 'settled', receipt: sampleReceipt(`found at ${now}`) }, now);
    case 'unpaid':
      return store.resolve(id, { state: 'refused', reason: 'expired' }, now);
    case 'asked':
      return store.resolve(id, { state: 'unknown', reason: `no answer at ${now}` }, now);
    case 'take':
      return store.takeUnknown(claim, { owner: one.owner, now, leaseUntil: now + 15 });
    case 'let go':
      return store.resolve(id, { state: 'unknown', reason: `not ended at ${now}` }, now, now - one.pause + 15);
    case 'free':
      return store.resolve(id, { state: 'released', reason: `nobody’s at ${now}` }, now, now - one.pause + 15);
    case 'renew':
      await store.renew(one.owner, [claim], now + 15);
      return true;
  }
}

function compare(before: Payment | undefined, after: Payment | undefined, one: Event, accepted: boolean, now: number) {
  if (before === undefined) {
    // The first event may be a stranger's: then the payment is the stranger's.
    const isClaim = one.does.startsWith('claim');
    assert.equal(accepted, isClaim || one.does === 'renew');
    assert.equal(after !== undefined, isClaim);
    return;
  }
  assert.ok(after, 'a payment never disappears');
  const claimed = one.does.startsWith('claim') && accepted;
  if (one.does === 'settle') assert.ok(after.receipt, 'money that moved is written down, whoever has the claim');
  else if (!accepted) assert.deepEqual(after, before, 'what was refused changed nothing');
  assert.equal(after.attempt, before.attempt + (claimed ? 1 : 0), 'each claim that is won adds one attempt');
  if (claimed) {
    assert.equal(before.requestDigest, one.stranger ? 'other' : `digest of ${after.id}`, 'only the same request wins');
    assert.ok(before.leaseUntil <= now, 'nobody loses a payment before the lease runs out');
    assert.notEqual(before.state, 'unsettled');
    if (before.state === 'unknown') assert.equal(one.does, 'claim to settle again');
    assert.ok(before.attempt < 5, 'nothing is tried without end');
  }
  if (before.receipt) assert.deepEqual(after.receipt, before.receipt, 'a receipt is never lost or changed');
  if (before.receipt && before.answer) {
    assert.deepEqual(after.answer, before.answer, 'an answer that was paid for never changes');
    assert.equal(claimed, false, 'what is finished is never worked on again');
  }
  assert.equal(
    after.receipt !== undefined,
    after.state === 'settled' || after.state === 'owed',
    'paid means a receipt',
  );
  if (after.state === 'fulfilled') assert.ok(after.answer);
  if (after.state === 'owed') assert.equal(after.answer, undefined);
  if (after.state === 'settled' && !after.answer) assert.notEqual(after.owner, '', 'somebody works on the answer');
}
