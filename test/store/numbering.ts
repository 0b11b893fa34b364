import { atOnce } from './at-once.ts';
import type { Promised } from './promised.ts';

const ACCOUNT = 'eip155:1:0xSigner';
const take = (atLeast: number, now = 100, forgottenBefore = 0, account = ACCOUNT) => ({
  account,
  atLeast,
  now,
  forgottenBefore,
});

/** What every engine promises of the numbers of an account's transactions. */
export function numbering(promise: Promised): void {
  promise(
    "hands out the numbers of an account one after the other, from the chain's count on",
    async (t, store, open) => {
      const other = await open();
      t.equal(await store.takeNonce(take(7)), 7);
      t.equal(await other.takeNonce(take(7)), 8, 'a chain that does not know it yet changes nothing');
      t.equal(await store.takeNonce(take(0)), 9);
      t.equal(await other.takeNonce(take(20)), 20, 'numbers that the chain has used are passed over');
      t.equal(await store.takeNonce(take(0, 100, 0, 'eip155:2:0xSigner')), 0, 'every account has its own');
    },
  );

  promise('gives no number to two instances that ask at once', async (t, store, open) => {
    const stores = [store, await open(), await open()];
    const taken = await atOnce(60, async (index) => stores[index % stores.length]?.takeNonce(take(3)));
    t.same(
      taken.map(Number).sort((left, right) => left - right),
      Array.from({ length: 60 }, (_, index) => index + 3),
    );
  });

  promise('takes an unused number back, unless a later one is taken', async (t, store) => {
    t.equal(await store.takeNonce(take(4)), 4);
    await store.returnNonce(ACCOUNT, 4);
    t.equal(await store.takeNonce(take(0)), 4);
    t.equal(await store.takeNonce(take(0)), 5);
    await store.returnNonce(ACCOUNT, 4);
    t.equal(await store.takeNonce(take(0)), 6);
  });

  promise("begins again at the chain's count once the numbers it handed out are forgotten", async (t, store) => {
    t.equal(await store.takeNonce(take(4, 100)), 4);
    t.equal(await store.takeNonce(take(4, 150, 100)), 5);
    t.equal(await store.takeNonce(take(4, 200, 151)), 4);
    t.equal(await store.takeNonce(take(0, 201, 151)), 5);
  });
}
