import t, { type Test } from 'tap';
import { derivedKey, hashOf, isKeyText, newKey, shownOf } from '../../src/credits/api-key.ts';
import { openApiKeys } from '../../src/credits/api-keys.ts';
import { toDecimal, usd } from '../../src/money.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { buyCredits } from '../../src/upstream/recipes/buy-credits.ts';
import { addFunded, fulfilledPayment, ledgerSum, sampleHold } from '../store/credits/credit-samples.ts';
import { openCallContext } from '../upstream/call-context.ts';

function open(t: Test, store = openSqliteStore(':memory:')) {
  t.teardown(() => store.close());
  const apiKeys = openApiKeys({ store: store.credits, mode: 'live', now: () => 1_000 });
  const buy = (request: { amount_usd: string; api_key?: string }, paymentId: string) =>
    buyCredits.call(request, {}, { ...openCallContext(t), credits: apiKeys, paymentId }, {});
  return { store, apiKeys, buy };
}

t.test('makes keys that nobody can guess and that look alike', async (t) => {
  const keys = Array.from({ length: 500 }, () => newKey('live'));
  for (const { apiKey, id } of keys) {
    t.match(apiKey, /^tp_live_[0-9A-Za-z]{43}$/);
    t.ok(isKeyText(apiKey));
    t.match(id, /^key_[0-9A-Za-z]{16}$/);
  }
  t.equal(new Set(keys.map(({ apiKey }) => apiKey)).size, 500);
  t.equal(new Set(keys.map(({ id }) => id)).size, 500);
});

t.test('makes of a payment the key that every release makes of it', (t) => {
  const digits = 'tghWMspya2l1L0uB0LKIbv1BUMT182UrM9LND1upgZR';
  const live = derivedKey('live', 'a secret', 'payment-1');
  t.same(live, { apiKey: `tp_live_${digits}`, id: 'key_sijlPLuVoIc756UD' });
  t.equal(derivedKey('sandbox', 'a secret', 'payment-1').apiKey, `tp_sandbox_${digits}`);
  t.same(derivedKey('live', 'a secret', 'payment-2'), {
    apiKey: 'tp_live_JBZin95NtBOnr5xFwjNUTGSr4Ii9gycw3hqjunuixNB',
    id: 'key_sEds8OajSJDz3dVN',
  });
  t.notSame(derivedKey('live', 'another', 'payment-1'), live);
  t.equal(shownOf(live.apiKey), 'tp_live_tghW');
  t.equal(
    hashOf('tp_live_x'),
    'cd5840813f824bd553b8d8b1c376c71c4f9e931ab116ca0d794ca1ac2cbe9b47',
    'nor may this change',
  );
  t.end();
});

t.test('a key has the limits that it was given, and no entry where no credit came with it', async (t) => {
  const { store, apiKeys } = open(t);
  const limits = { perDay: usd('3'), models: ['sage'] };
  const bounded = await apiKeys.create({ label: 'bounded', limits, expiresAt: 2_000 });
  t.match(await apiKeys.find(bounded.apiKey), { limits, expiresAt: 2_000, balance: 0n, createdAt: 1_000 });
  t.same(await store.credits.entries(bounded.id, 10), []);
  const funded = await apiKeys.create({ label: 'funded', credit: usd('5') });
  t.match(await apiKeys.find(funded.apiKey), { limits: {}, expiresAt: undefined, balance: usd('5') });
  t.match(await store.credits.entries(funded.id, 10), [
    { kind: 'grant', amount: usd('5'), note: 'given with the key' },
  ]);
});

t.test('what was bought waits for confirmations where it is told to, and nowhere else', async (t) => {
  const { store, apiKeys } = open(t);
  const { apiKey, id } = await apiKeys.create({ label: 'mine' });
  const buy = async (paymentId: string, more: object = {}) => {
    const settle = await fulfilledPayment(store, paymentId);
    await apiKeys.buy({ amount: usd('1'), apiKey, paymentId, ...more });
    await settle();
  };
  await buy('at once');
  await buy('later', { awaitsConfirmations: true });
  t.match(await apiKeys.find(apiKey), { balance: usd('1') });
  t.same(await store.credits.unconfirmed(10), ['later']);
  await store.credits.confirm('later');
  t.match(await apiKeys.find(apiKey), { id, balance: usd('2') });
});

t.test('gives back what calls held whose instance died', async (t) => {
  const { store } = open(t);
  await addFunded(store, 1_000n);
  await store.credits.hold(sampleHold('dead', 600n, { now: 1, leaseUntil: 900 }));
  t.equal(await store.credits.releaseExpired(1_000), 1);
  t.equal(await store.credits.releaseExpired(1_000), 0);
});

t.test('keeps a key’s hash, and the key itself nowhere', async (t) => {
  const { store, apiKeys } = open(t);
  const { apiKey, id, shown } = await apiKeys.create({ label: 'mine', credit: usd('5') });
  t.match(await apiKeys.find(apiKey), { id, shown, hash: hashOf(apiKey), label: 'mine', balance: usd('5') });
  const kept = JSON.stringify([await store.credits.listKeys(1), await store.credits.entries(id, 10)], (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  t.notMatch(kept, new RegExp(apiKey));
  t.ok(apiKey.startsWith(shown) && shown.length === 'tp_live_'.length + 4);
});

t.test('finds nothing for what is no key', async (t) => {
  const { apiKeys } = open(t);
  for (const text of ['', 'sk-123', 'tp_live_short', `tp_live_${'x'.repeat(43)}`, `tp_live_${'x'.repeat(42)}\0`]) {
    t.equal(await apiKeys.find(text), undefined);
  }
});

t.test('gives a payment the key it made, again and again, and one key only', async (t) => {
  const { store, apiKeys, buy } = open(t);
  const settle = await fulfilledPayment(store, 'payment-1');
  const first = await buy({ amount_usd: '5' }, 'payment-1');
  t.match(first, { api_key: /^tp_live_/, credited_usd: '5', balance_usd: '5' });
  t.same(await buy({ amount_usd: '5' }, 'payment-1'), first);
  t.match(await apiKeys.find(first.api_key ?? ''), { balance: 0n }, 'nothing to spend before the payment has settled');
  await settle();
  t.match(await apiKeys.find(first.api_key ?? ''), { balance: usd('5') });
  t.same(await buy({ amount_usd: '5' }, 'payment-1'), first);
  const [key, ...others] = await store.credits.listKeys(1);
  t.equal(key?.balance, usd('5'));
  t.same(others, []);
  const other = await buy({ amount_usd: '5' }, 'payment-2');
  t.not(other.api_key, first.api_key);
});

t.test('keeps a key from being worked out from its payment: another gateway makes another key of it', async (t) => {
  const bought = async (store: Store) => (await open(t, store).buy({ amount_usd: '5' }, 'payment')).api_key ?? '';
  const stores = ['one', 'two', 'three'].map(() => openSqliteStore(':memory:'));
  const keys: string[] = [];
  for (const store of stores) keys.push(await bought(store));
  t.ok(keys.every(isKeyText));
  t.equal(new Set(keys).size, stores.length);
  for (const [index, store] of stores.entries()) {
    t.equal(await bought(store), keys[index], 'and each, started again, the one that it made before');
  }
});

t.test('tops a key up without showing it again', async (t) => {
  const { store, apiKeys, buy } = open(t);
  const { apiKey, id } = await apiKeys.create({ label: 'mine', credit: usd('1') });
  const settle = await fulfilledPayment(store, 'payment');
  const bought = await buy({ amount_usd: '2.5', api_key: apiKey }, 'payment');
  t.same(bought, { key: apiKey.slice(0, 12), credited_usd: '2.5', balance_usd: '3.5' });
  t.same(await buy({ amount_usd: '2.5', api_key: apiKey }, 'payment'), bought);
  await settle();
  t.equal(toDecimal((await apiKeys.find(apiKey))?.balance ?? 0n), '3.5');
  t.same(await buy({ amount_usd: '2.5', api_key: apiKey }, 'payment'), bought);
  t.equal(await ledgerSum(store, id), usd('3.5'));
});

t.test('what was bought for a key is bought again as before, also once nobody can use that any more', async (t) => {
  const { store, apiKeys, buy } = open(t);
  const { apiKey, id } = await apiKeys.create({ label: 'mine', credit: usd('1') });
  const settle = await fulfilledPayment(store, 'payment');
  const bought = await buy({ amount_usd: '2.5', api_key: apiKey }, 'payment');
  await settle();
  await store.credits.disableKey(id, 1);
  t.same(await buy({ amount_usd: '2.5', api_key: apiKey }, 'payment'), bought);
  t.equal((await apiKeys.find(apiKey))?.balance, usd('3.5'));
  t.equal(await ledgerSum(store, id), usd('3.5'));
});

t.test('sells nothing to a key that is unknown or disabled', async (t) => {
  const { store, apiKeys, buy } = open(t);
  const { apiKey, id } = await apiKeys.create({ label: 'mine' });
  await store.credits.disableKey(id, 1);
  for (const api_key of [apiKey, newKey('live').apiKey]) {
    await t.rejects(buy({ amount_usd: '1', api_key }, 'payment'), {
      code: 'invalid_request',
      details: [{ path: '/api_key', message: 'is unknown, disabled or expired' }],
    });
  }
});
