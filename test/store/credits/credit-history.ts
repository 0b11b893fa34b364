import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Store } from '../../../src/store/store.ts';
import { keyOf, ledgerSum, sampleHold, sampleKey } from './credit-samples.ts';

/** One call under one of two keys: its hold, and how it ends. */
const call = fc.record({
  where: fc.constantFrom('here', 'there'),
  key: fc.constantFrom('a', 'b'),
  amount: fc.bigInt(0n, 400n),
  price: fc.bigInt(0n, 500n),
  ends: fc.constantFrom('settle', 'settle', 'release', 'dies', 'tops up', 'twice'),
});
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;

/** Calls that run all at the same time on two instances leave every amount explained. Throws if not. */
export async function creditHistoryProperty(here: Store, there: Store): Promise<void> {
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 30 }), async (calls) => {
      histories += 1;
      const name = (key: string) => `${key}-${histories}`;
      for (const key of ['a', 'b']) {
        const grant = { amount: 1_000n, reference: `start ${name(key)}`, note: 'to start with' };
        await here.credits.addKey(sampleKey(name(key)), grant, 1);
      }
      const results = await Promise.all(
        calls.map(async (one, index) => ({ ...one, ...(await run(one, `${histories}-${index}`, name(one.key))) })),
      );
      for (const key of ['a', 'b']) {
        const mine = results.filter((result) => result.key === key);
        const { balance, held } = await keyOf(there, name(key));
        assert.equal(balance, await ledgerSum(here, name(key)), 'the balance is the sum of the ledger');
        assert.equal(
          held,
          mine.reduce((sum, result) => sum + result.stillHeld, 0n),
        );
        const spent = mine.reduce((sum, result) => sum + result.charged - result.added, 0n);
        assert.equal(balance + held, 1_000n - spent, 'what is not charged is there or held');
        assert.ok(balance >= 0n);
      }
      await there.credits.releaseExpired(2_000);
      for (const key of ['a', 'b']) {
        const { balance, held } = await keyOf(here, name(key));
        assert.equal(held, 0n);
        assert.equal(balance, await ledgerSum(there, name(key)), 'and still is when the dead are cleared away');
      }
    }),
    { numRuns: 60 },
  );

  async function run({ where, amount, price, ends }: Call, id: string, keyId: string) {
    const { credits } = where === 'here' ? here : there;
    const nothing = { charged: 0n, added: 0n, stillHeld: 0n };
    if (ends === 'tops up') {
      await credits.grant(keyId, { amount, reference: id, note: 'more' }, 1_000);
      return { ...nothing, added: amount };
    }
    const { held } = await credits.hold(sampleHold(id, amount, { keyId }));
    if (!held) return nothing;
    switch (ends) {
      case 'settle':
        return { ...nothing, charged: (await credits.settle(id, { price, note: 'used' }, 1_500)) ?? 0n };
      case 'release':
        await credits.release(id, 'failed', 1_500);
        return nothing;
      case 'dies':
        return { ...nothing, stillHeld: amount };
      case 'twice': {
        const [settled] = await Promise.all([
          here.credits.settle(id, { price, note: 'used' }, 1_500),
          there.credits.release(id, 'failed', 1_500),
        ]);
        return { ...nothing, charged: settled ?? 0n };
      }
    }
  }
}
