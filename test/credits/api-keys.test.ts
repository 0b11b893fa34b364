import t, { type Test } from 'tap';
import { hashOf, isKeyText, newKey } from '../../src/credits/api-key.ts';
import { openApiKeys } from '../../src/credits/api-keys.ts';
import { toDecimal, usd } from '../../src/money.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { buyCredits } from '../../src/upstream/recipes/buy-credits.ts';
import { fulfilledPayment, ledgerSum } from '../store/credit-samples.ts';
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

t.test('sells nothing to a key that is unknown or disabled', async (t) => {
  const { store, apiKeys, buy } = open(t);
  const { apiKey, id } = await apiKeys.create({ label: 'mine' });
  await store.credits.disableKey(id, 1);
  for (const api_key of [apiKey, newKey('live').apiKey]) {
    await t.rejects(buy({ amount_usd: '1', api_key }, 'payment'), {
      code: 'invalid_request',
      details: [{ path: '/api_key', message: 'is unknown or disabled' }],
    });
  }
});
