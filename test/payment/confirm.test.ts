/** When what a payment bought can be spent: once it lies deep enough in its chain. */
import t, { type Test } from 'tap';
import { confirmPurchase, confirmPurchases } from '../../src/payment/confirm.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { fulfilledPayment, sampleHash, sampleKey, samplePurchase } from '../store/credits/credit-samples.ts';
import { sampleReceipt } from '../store/samples.ts';

const { settledAt } = sampleReceipt();
const SEEN_BY_ALL_MS = 30_000;

/** Purchases that wait, and a chain where their transactions lie so deep; an error is thrown. */
async function open(t: Test, depth: number | Error, ids = ['paid']) {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  await store.credits.addKey(sampleKey('key'), undefined, 1);
  for (const id of ids) {
    const settle = await fulfilledPayment(store, id);
    const purchase = samplePurchase(id, { hash: sampleHash('key') });
    await store.credits.purchase({ ...purchase, awaitsConfirmations: true }, 2);
    await settle();
  }
  const clock = { now: settledAt };
  const asked: string[][] = [];
  const failed: unknown[] = [];
  const log = {
    warn: (details: object, message: string) => failed.push(['warn', details, message]),
    error: ({ payment }: { payment?: string }, message: string) => failed.push(['error', payment, message]),
  };
  const confirmations = async (...question: string[]) => {
    asked.push(question);
    if (depth instanceof Error) throw depth;
    return depth;
  };
  const parts = {
    store,
    rails: new Map([['x402', { confirmations }]]),
    wanted: (network: string) => (network === 'chain-a' ? 3 : 99),
    intervals: { seenByAllMs: SEEN_BY_ALL_MS },
    log: log as { warn(details: object, message: string): void; error(details: object, message: string): void },
    now: () => clock.now,
  };
  return { store, clock, asked, failed, parts };
}

t.test('a purchase counts from as many confirmations on as its network needs', async (t) => {
  for (const [depth, counts] of [
    [1, 0],
    [2, 0],
    [3, 1],
    [4, 1],
  ] as const) {
    const { store, parts, asked } = await open(t, depth);
    t.equal(await confirmPurchases(parts), counts, `${depth} of 3`);
    t.same(asked, [['{"nonce":"0x01"}', '0xabc']]);
    t.same(await store.credits.unconfirmed(10), counts === 1 ? [] : ['paid']);
    t.equal(await confirmPurchases(parts), 0);
  }
});

t.test('a payment that its chain does not show any more is asked about anew, once every node had time', async (t) => {
  for (const [depth, passed, isTakenBack] of [
    [0, SEEN_BY_ALL_MS, false],
    [0, SEEN_BY_ALL_MS + 1, true],
    [1, SEEN_BY_ALL_MS + 1, false],
  ] as const) {
    const { store, clock, failed, parts } = await open(t, depth);
    clock.now = settledAt + passed;
    t.equal(await confirmPurchase(parts, 'paid'), false);
    const reason = 'the chain took the settling transaction back';
    if (isTakenBack) t.match(await store.find('paid'), { state: 'unknown', reason, receipt: undefined });
    else t.match(await store.find('paid'), { state: 'settled', receipt: sampleReceipt() });
    t.equal(failed.length, isTakenBack ? 1 : 0, 'and the operator is told');
  }
});

t.test('a node that was asked too soon says nothing, however late its answer is read', async (t) => {
  const { store, clock, failed, parts } = await open(t, 0);
  const confirmations = async () => {
    clock.now += SEEN_BY_ALL_MS + 1;
    return 0;
  };
  const rails = new Map([['x402', { confirmations }]]);
  t.equal(await confirmPurchase({ ...parts, rails }, 'paid'), false);
  t.match(await store.find('paid'), { state: 'settled', receipt: sampleReceipt() });
  t.same(failed, []);
});

t.test('what cannot be asked about keeps no other purchase waiting', async (t) => {
  const { parts, failed, store } = await open(t, 3, ['broken', 'sound']);
  const confirm: typeof store.credits.confirm = async (id) => {
    if (id === 'broken') throw new Error('the row is locked');
    return store.credits.confirm(id);
  };
  const broken = { ...parts, store: { ...store, credits: { ...store.credits, confirm } } };
  t.equal(await confirmPurchases(broken), 1);
  t.same(failed, [['error', 'broken', 'the confirmations of a payment could not be counted']]);
  t.same(await store.credits.unconfirmed(10), ['broken']);

  const down = await open(t, new Error('the node is down'));
  await t.rejects(confirmPurchase(down.parts, 'paid'), { message: 'the node is down' });
});

t.test('a hundred purchases on a network whose node is dead keep those of no other waiting', async (t) => {
  const { parts, store, clock } = await open(t, 3, []);
  const ids = Array.from({ length: 100 }, (_, number) => `dead ${number}`);
  for (const id of [...ids, 'sound']) {
    const network = id === 'sound' ? 'chain-a' : 'dead-chain';
    const settle = await fulfilledPayment(store, id, { network, recoveryQuery: network });
    const purchase = samplePurchase(id, { hash: sampleHash('key') });
    await store.credits.purchase({ ...purchase, awaitsConfirmations: true }, id === 'sound' ? 3 : 2);
    await settle();
  }
  let asked = 0;
  const confirmations = async (network: string) => {
    if (network === 'chain-a') return 3;
    asked += 1;
    await Promise.resolve();
    clock.now += 10_000;
    throw new Error('the node says nothing');
  };
  t.equal(await confirmPurchases({ ...parts, rails: new Map([['x402', { confirmations }]]) }), 1);
  t.equal((await store.credits.unconfirmed(100)).includes('sound'), false);
  t.ok(asked < 10, 'and the dead one ends its round');
});

t.test(
  'nothing counts of a payment that is not known, not settled, or paid in a way that nothing here knows',
  async (t) => {
    const { store, parts, asked } = await open(t, 3);
    await fulfilledPayment(store, 'unsettled');
    t.equal(await confirmPurchase(parts, 'nobody’s'), false);
    t.equal(await confirmPurchase(parts, 'unsettled'), false);
    t.equal(await confirmPurchase({ ...parts, rails: new Map() }, 'paid'), false);
    t.same(asked, []);
    t.equal(await confirmPurchase(parts, 'paid'), true);
  },
);
