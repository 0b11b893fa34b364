/** What waits for webhooks: who is told first, and who waits for whom. */
import t from 'tap';
import type { Delivery } from '../../src/alerts/deliver.ts';
import { openSending } from '../../src/alerts/send.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';

const [A, B] = ['https://a.example/hook', 'https://b.example/hook'];
const settings = { webhooks: [{ url: A }, { url: B }] };

type Answer = (alert: Parameters<Delivery['deliver']>[0]) => Promise<string | undefined>;

/** An outbox, and receivers that answer as they are told. */
function open(t: { teardown(end: () => unknown): void }, answer: Answer) {
  const store = openSqliteStore(':memory:');
  const write = () => {};
  const sending = openSending({
    store,
    delivery: { deliver: answer, close: async () => {} },
    log: { error: write, warn: write, debug: write },
    now: () => 1_000,
  });
  t.teardown(() => store.close());
  const add = (type: string, about: string, receiver: string) =>
    store.alerts.add({ occurrence: `${type}:${about}`, type, body: '{}', receivers: [receiver] }, 1_000);
  return { store, sending, add };
}

t.test('a receiver that does not answer keeps no other waiting, however much waits for it', async (t) => {
  let release = () => {};
  const hangs = new Promise<undefined>((resolve) => {
    release = () => resolve(undefined);
  });
  let told = () => {};
  const isTold = new Promise<void>((resolve) => {
    told = resolve;
  });
  const { sending, add } = open(t, async ({ receiver, occurrence }) => {
    if (receiver === A) return hangs;
    t.equal(occurrence, 'facilitator.down:x');
    told();
    return undefined;
  });
  for (let sale = 0; sale < 500; sale += 1) await add('payment.settled', String(sale), A);
  await sending.round(settings);
  await add('facilitator.down', 'x', B);
  await sending.round(settings);
  await isTold;
  release();
  await sending.close();
});

t.test('all that waits is sent in one round, and what is urgent before the sales', async (t) => {
  const order: string[] = [];
  let told = () => {};
  const isTold = new Promise<void>((resolve) => {
    told = resolve;
  });
  const { store, sending, add } = open(t, async ({ occurrence }) => {
    order.push(occurrence);
    if (order.length === 101) told();
    return undefined;
  });
  for (let sale = 0; sale < 100; sale += 1) await add('payment.settled', String(sale), A);
  await add('facilitator.down', 'x', A);
  await sending.round(settings);
  await isTold;
  await sending.close();
  t.ok(order.slice(0, 20).includes('facilitator.down:x'), 'among the first');
  t.equal(new Set(order).size, 101);
  t.equal((await store.alerts.list({ states: ['waiting'], limit: 200 })).length, 0);
});
