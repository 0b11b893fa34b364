/** What the store asks of a database whose transactions run side by side, as those of Postgres do. */
import t from 'tap';
import type { Engine } from '../../../src/store/engines/engine.ts';
import type { Row, Statement } from '../../../src/store/engines/statement.ts';
import type { Outcome } from '../../../src/store/engines/steps.ts';
import { storeOn } from '../../../src/store/store-on.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../samples.ts';

/**
 * Stands for a database server: writes down what it is asked for, finds nothing but the rows of the tables named, and
 * takes every write, or with `changes: 0` none.
 */
function openSideBySide({ found = {}, changes = 1 }: { found?: Record<string, Row>; changes?: number } = {}) {
  const asked: Statement[] = [];
  const reads = { ofClock: 0 };
  const answer = (statement: Statement): Outcome => {
    asked.push(statement);
    const [, read, written] =
      /^(?:SELECT .*|DELETE) FROM (\w+)|^UPDATE (\w+)[\s\S]* RETURNING /.exec(statement.text) ?? [];
    const row = found[read ?? written ?? ''];
    return { rows: row === undefined ? [] : [row], changes };
  };
  const engine: Engine = {
    rowLock: 'FOR UPDATE',
    among: (place) => `IN (${place})`,
    now: () => 5,
    async check() {
      reads.ofClock += 1;
    },
    read: async (statement) => answer(statement).rows,
    write: async (statement) => answer(statement),
    async transact(steps) {
      const running = steps();
      let next = running.next();
      while (!next.done) next = running.next(answer(next.value));
      return next.value;
    },
    close: async () => {},
  };
  return { store: storeOn(engine), asked, reads };
}

t.test('reads the clock of its database again whenever it is checked', async (t) => {
  const { store, asked, reads } = openSideBySide();
  t.equal(reads.ofClock, 0);
  await store.check();
  await store.check();
  t.equal(reads.ofClock, 2);
  t.equal(asked.length, 2, 'and writes each time');
});

t.test('takes allowances in one order everywhere, so that no two who want the same wait for each other', async (t) => {
  const { store, asked } = openSideBySide();
  const spent = ['b', 'c', 'a'].map((name) => ({ name, milliseconds: 1, longestMs: 1_000 }));
  await store.spendAllowances(spent, 1);
  await store.spendAllowances([...spent].reverse(), 1);
  t.same(
    asked.map(({ values }) => values[0]),
    ['a', 'b', 'c', 'a', 'b', 'c'],
  );
});

t.test('locks a payer before it counts what that one has under way', async (t) => {
  const { store, asked } = openSideBySide();
  const exposure = { perPayer: 10n, unproven: 10n, failures: 1, failuresSince: 0 };
  t.match(await store.claim(sampleFacts('one', { amount: '5' }), claimAt(1, { exposure })), { won: true, open: 0n });
  const [lock, count, claim, ...others] = asked;
  t.match(lock, { text: /^INSERT INTO payers/, values: ['payer-1', 1] });
  t.match(count, { text: /^SELECT CASE WHEN network/ });
  t.match(claim, { text: /^INSERT INTO payments/ });
  t.same(others, []);
});

t.test('locks a channel before it looks at what its calls have cost', async (t) => {
  const { store, asked } = openSideBySide();
  t.same(await store.channels.take(['b', 'a'], 'claim', 20, 10), []);
  t.same(
    asked.map(({ text, values }) => [text.split(' ').slice(-2).join(' '), values[0]]),
    [
      ['FOR UPDATE', 'a'],
      ['FOR UPDATE', 'b'],
    ],
  );
});

const draw = {
  facts: { id: 'channel', network: 'chain-a', payer: 'payer-1', config: '{}' },
  voucher: { max: '100', signature: 'signed' },
  amount: '100',
  deposit: '0',
  found: { balance: '1000', totalClaimed: '0', withdrawRequestedAt: 0, refundNonce: '0' },
};

t.test('has planned once what is asked for with every paid call, where there is one way to do it', async (t) => {
  const known = { id: 'channel', charged: '0', voucher_max: '0', balance: '1000' };
  const channel: Row = { ...known, pending_payment: null, refunding_until: 0 };
  const { store, asked } = openSideBySide({ found: { channels: channel, payments: { attempt: 1 } } });
  const claim = { id: 'one', attempt: 1 };
  const exposure = { perPayer: 10n, unproven: 10n, failures: 1, failuresSince: 0 };
  await store.claim(sampleFacts('one', { amount: '5' }), claimAt(1, { exposure }));
  t.equal(await store.channels.reserve(claim, draw, 2), 'reserved');
  await store.fulfil(claim, sampleAnswer(), { now: 3 });
  await store.settle(claim, { ...sampleReceipt(), channel: { id: 'channel', charged: '100' } }, 4);
  const named = asked.map(({ text, isPlannedOnce }) => [
    text.split(/\s+/).slice(0, 3).join(' '),
    isPlannedOnce ? 'once' : 'each time',
  ]);
  t.same(named, [
    ['INSERT INTO payers', 'once'],
    ['SELECT CASE WHEN', 'once'],
    ['INSERT INTO payments', 'once'],
    ['SELECT * FROM', 'each time'],
    ['SELECT attempt FROM', 'once'],
    ['UPDATE channels SET', 'once'],
    ['UPDATE payments SET', 'once'],
    ['UPDATE channels SET', 'once'],
    ['UPDATE payments SET', 'once'],
  ]);
});

t.test('says what is gone where somebody has removed it from the database meanwhile', async (t) => {
  const payments = openSideBySide({ changes: 0 }).store;
  await t.rejects(payments.claim(sampleFacts('one'), claimAt(1)), { message: /^Payment one was removed/ });
  const channels = openSideBySide().store.channels;
  await t.rejects(channels.reserve({ id: 'one', attempt: 1 }, draw, 2), { message: /^Channel channel was removed/ });
  const hold = { id: 'call', key_id: 'key', amount: '5', day: 0, route: 'r', model: 'm', lease_until: 9 };
  const credits = openSideBySide({ found: { holds: hold } }).store.credits;
  await t.rejects(credits.release('call', 'failed', 2), { message: /^The API key key was removed/ });
});
