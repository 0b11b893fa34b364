import { join } from 'node:path';
import Database from 'libsql';
import t from 'tap';
import { createLog } from '../../src/log.ts';
import type { Settlement } from '../../src/on-chain/settlement.ts';
import { endAbandoned } from '../../src/payment/abandoned.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { reconcile } from '../../src/payment/reconcile.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const log = createLog('silent');

/** Long after every lease of these tests. */
const LATER = 10_000_000;

/** A chain that says this of every payment. */
const railThatSays = (settlement: Settlement) =>
  new Map([['x402', { recover: async () => settlement, receipt: () => sampleReceipt('0xfound') } as unknown as Rail]]);

const settled: Settlement = { state: 'settled', transaction: '0xfound', amount: 1n };
const refused: Settlement = { state: 'refused', reason: 'it expired' };
const unknown: Settlement = { state: 'unknown', reason: 'no answer' };

/** A store with one payment that its instance left behind, brought as far as `progress`. */
async function abandoned(progress: 'claimed' | 'settling first' | 'fulfilled' | 'settled first' | 'unknown') {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  const settleUpfront = progress === 'settling first' || progress === 'settled first';
  const outcome = await store.claim(sampleFacts('p', { settleUpfront }), claimAt(1));
  if (!outcome.won) throw new Error('a new payment was not won');
  if (progress === 'fulfilled' || progress === 'unknown') await store.fulfil(outcome.claim, sampleAnswer(), { now: 2 });
  if (progress === 'settled first') await store.settle(outcome.claim, sampleReceipt(), 2);
  if (progress === 'unknown') await store.giveUp(outcome.claim, 'unknown', 'a time-out', 3);
  return store;
}

for (const [progress, chain, state, ended] of [
  ['unknown', settled, 'settled', 1],
  ['unknown', refused, 'unsettled', 1],
  ['unknown', unknown, 'unknown', 0],
  ['fulfilled', settled, 'settled', 1],
  ['fulfilled', refused, 'unsettled', 1],
  ['fulfilled', unknown, 'unknown', 1],
  ['settling first', settled, 'owed', 1],
  ['settling first', unknown, 'unknown', 1],
  ['settled first', unknown, 'owed', 1],
  ['claimed', unknown, 'released', 1],
] as const) {
  t.test(`a payment left behind as ${progress} is ${state} where the chain says ${chain.state}`, async (t) => {
    const store = await abandoned(progress);
    const parts = { store, rails: railThatSays(chain), owner: 'another', log, now: () => LATER };
    t.equal(await reconcile(parts), ended, 'and counts where it went on from there');
    const payment = await store.find('p');
    t.equal(payment?.state, state);
    t.equal(payment?.receipt !== undefined, state === 'settled' || state === 'owed', 'a receipt where money moved');
    t.equal(payment?.owner, '', 'and nobody holds it');
  });
}

for (const [progress, state] of [
  ['unknown', 'unknown'],
  ['fulfilled', 'unknown'],
  ['settling first', 'unknown'],
  ['settled first', 'owed'],
  ['claimed', 'released'],
] as const) {
  t.test(`a payment left behind as ${progress} is ${state} where its way to pay is not offered any more`, async (t) => {
    const store = await abandoned(progress);
    await reconcile({ store, rails: new Map(), owner: 'another', log, now: () => LATER });
    const reason = state === 'unknown' ? { reason: /knows this way to pay/ } : {};
    t.match(await store.find('p'), { state, owner: '', ...reason });
  });
}

t.test('for a minute after a lease ran out, a payment waits for its payer', async (t) => {
  for (const progress of ['claimed', 'fulfilled', 'settling first', 'settled first'] as const) {
    const store = await abandoned(progress);
    const before = await store.find('p');
    const leaseUntil = before?.leaseUntil ?? 0;
    const adopt = (now: number) =>
      reconcile({ store, rails: railThatSays(settled), owner: 'another', log, now: () => now });
    t.equal(await adopt(leaseUntil + 60_000), 0, progress);
    t.same(await store.find('p'), before);
    t.equal(await adopt(leaseUntil + 60_001), 1, progress);
  }
});

t.test('work that is under way is left alone', async (t) => {
  const store = await abandoned('claimed');
  await reconcile({ store, rails: railThatSays(settled), owner: 'another', log, now: () => 5 });
  t.equal((await store.find('p'))?.state, 'claimed');
});

/** Settlements without an answer. */
async function unknownPayments(...payments: { id: string; network?: string; recoveryQuery?: string }[]) {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  for (const { id, ...facts } of payments) {
    const outcome = await store.claim(sampleFacts(id, facts), claimAt(1));
    if (!outcome.won) throw new Error('a new payment was not won');
    await store.giveUp(outcome.claim, 'unknown', 'a time-out', 2);
  }
  return store;
}

t.test('a payment that cannot be read stops nobody', async (t) => {
  const store = await unknownPayments({ id: 'broken', recoveryQuery: '{' }, { id: 'sound' });
  const recover = async (query: string) => (JSON.parse(query) ? settled : unknown);
  const rails = new Map([['x402', { recover, receipt: () => sampleReceipt('0xfound') } as unknown as Rail]]);
  t.equal(await reconcile({ store, rails, owner: 'another', log, now: () => LATER }), 1);
  t.match(await store.find('broken'), { state: 'unknown', updatedAt: LATER });
  t.match(await store.find('sound'), { state: 'owed' });
});

t.test('a row that is damaged stops nobody', async (t) => {
  const file = join(t.testdir({}), 'damaged.sqlite');
  const store = openSqliteStore(file);
  t.teardown(() => store.close());
  const claimed = async (id: string) => {
    const outcome = await store.claim(sampleFacts(id), claimAt(1));
    if (!outcome.won) throw new Error('a new payment was not won');
    return outcome.claim;
  };
  for (const id of ['damaged', 'sound']) {
    await store.giveUp(await claimed(`${id} unknown`), 'unknown', 'a time-out', 2);
    await claimed(`${id} claimed`);
  }
  const database = new Database(file);
  database.exec(`UPDATE payments SET answer = '{' WHERE id LIKE 'damaged%'`);
  database.close();
  const parts = { store, rails: railThatSays(settled), owner: 'another', log, now: () => LATER };
  t.equal(await reconcile(parts), 2);
  t.match(await store.find('sound unknown'), { state: 'owed' });
  t.match(await store.find('sound claimed'), { state: 'released' });
});

t.test('a payment that is taken over while it is ended is left to whoever has it', async (t) => {
  const store = await abandoned('settling first');
  const recover = async (): Promise<Settlement> => {
    const payment = await store.find('p');
    if (payment) await store.claim(payment, claimAt(LATER * 2, { owner: 'third' }));
    return settled;
  };
  const rails = new Map([['x402', { recover, receipt: () => sampleReceipt('0xfound') } as unknown as Rail]]);
  t.equal(await reconcile({ store, rails, owner: 'another', log, now: () => LATER }), 0);
  t.match(await store.find('p'), { state: 'settled', owner: 'third', receipt: sampleReceipt('0xfound') });
});

t.test('a payment that the store refuses to end stops nobody', async (t) => {
  const store = await unknownPayments({ id: 'stuck' }, { id: 'sound' });
  const resolve: typeof store.resolve = async (id, ...rest) => {
    if (id === 'stuck') throw new Error('the row is locked');
    return store.resolve(id, ...rest);
  };
  const rails = railThatSays(settled);
  const parts = { store: { ...store, resolve }, rails, owner: 'another', log, now: () => LATER };
  t.equal(await reconcile(parts), 1);
  t.match(await store.find('sound'), { state: 'owed' });
});

t.test('a network that takes its time ends its round, and keeps no other waiting', async (t) => {
  const slow = ['slow-1', 'slow-2', 'slow-3'].map((id) => ({ id, network: 'slow', recoveryQuery: '"slow"' }));
  const store = await unknownPayments(...slow, { id: 'quick', network: 'quick', recoveryQuery: '"quick"' });
  let time = LATER;
  const asked: string[] = [];
  const recover = async (query: string): Promise<Settlement> => {
    asked.push(query);
    if (query === '"quick"') return settled;
    await Promise.resolve();
    time += 20_000;
    return unknown;
  };
  const rails = new Map([['x402', { recover, receipt: () => sampleReceipt('0xfound') } as unknown as Rail]]);
  await reconcile({ store, rails, owner: 'another', log, now: () => time });
  t.match(await store.find('quick'), { state: 'owed' });
  t.equal(asked.filter((query) => query === '"slow"').length, 2, 'after 40 seconds no more is begun');
  await reconcile({ store, rails, owner: 'another', log, now: () => time + 10_000 });
  t.equal(asked.filter((query) => query === '"slow"').length, 3, 'the next round goes on with who was not asked');
});

t.test('a hundred payments of a network whose node is dead keep those of no other waiting', async (t) => {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  const open = async (id: string, network: string, now: number) => {
    for (const state of ['unknown', 'claimed'] as const) {
      const facts = sampleFacts(`${state} ${id}`, { network, recoveryQuery: network, settleUpfront: true });
      const outcome = await store.claim(facts, claimAt(now));
      if (!outcome.won) throw new Error('a new payment was not won');
      if (state === 'unknown') await store.giveUp(outcome.claim, 'unknown', 'a time-out', now);
    }
  };
  for (let number = 0; number < 100; number += 1) await open(`dead ${number}`, 'dead', 1);
  await open('sound', 'sound', 2);
  let time = LATER;
  const recover = async (network: string): Promise<Settlement> => {
    if (network === 'sound') return settled;
    await Promise.resolve();
    time += 20_000;
    return unknown;
  };
  const rails = new Map([['x402', { recover, receipt: () => sampleReceipt('0xfound') } as unknown as Rail]]);
  await reconcile({ store, rails, owner: 'another', log, now: () => time });
  t.match(await store.find('unknown sound'), { state: 'owed' });
  t.match(await store.find('claimed sound'), { state: 'owed' });
});

t.test('what is unknown and what was left behind count together', async (t) => {
  const store = await unknownPayments({ id: 'unknown' });
  const left = await store.claim(sampleFacts('left', { settleUpfront: true }), claimAt(1));
  t.ok(left.won);
  t.equal(await reconcile({ store, rails: railThatSays(settled), owner: 'another', log, now: () => LATER }), 2);
});

t.test('whoever ends a payment has it for a lease meanwhile, and who has it keeps it', async (t) => {
  const store = await abandoned('settling first');
  const seen: unknown[] = [];
  const recover = async (): Promise<Settlement> => {
    seen.push(await store.find('p'));
    return settled;
  };
  const rail = { recover, receipt: () => sampleReceipt('0xfound') } as unknown as Rail;
  const parts = (owner: string, now: number) => ({ store, owner, now: () => now });
  const payment = await store.find('p');
  if (!payment) throw new Error('there is no payment');
  t.equal(await endAbandoned(parts('another', payment.leaseUntil - 1), payment, rail), false, 'it is under way still');
  t.same(seen, []);
  t.equal(await endAbandoned(parts('another', payment.leaseUntil), payment, rail), true);
  t.match(seen, [{ owner: 'another', attempt: 2, leaseUntil: payment.leaseUntil + 30_000 }]);
  t.match(await store.find('p'), { state: 'owed', owner: '' });
  t.equal(
    await endAbandoned(parts('third', LATER), payment, undefined),
    true,
    'what is owed stays so for who asks late',
  );
  t.match(await store.find('p'), { state: 'owed', owner: '' });
});

t.test('money that lies locked is taken for an answer, and given back without one', async (t) => {
  const held: Settlement = { state: 'unknown', reason: 'it is locked', held: true };
  const ended: boolean[] = [];
  const rails = (became: Settlement | undefined) => {
    const endHold = async (_query: string, isDone: boolean) => {
      ended.push(isDone);
      return became;
    };
    const rail = { recover: async () => held, endHold, receipt: () => sampleReceipt('0xtaken') };
    return new Map([['x402', rail as unknown as Rail]]);
  };
  for (const [progress, became, state] of [
    ['fulfilled', settled, 'settled'],
    ['unknown', settled, 'settled'],
    ['settling first', refused, 'unsettled'],
    ['settling first', undefined, 'released'],
    ['unknown', undefined, 'released'],
    ['unknown', unknown, 'unknown'],
  ] as const) {
    const store = await abandoned(progress);
    const before = await store.find('p');
    const parts = { store, rails: rails(became), owner: 'another', log, now: () => LATER };
    t.equal(await reconcile(parts), state === 'unknown' ? 0 : 1);
    t.match(await store.find('p'), { state, owner: '' });
    const lookedAt = { ...before, reason: 'no answer', updatedAt: LATER };
    if (state === 'unknown') t.same(await store.find('p'), lookedAt);
    if (became === undefined) t.match(await store.claim(sampleFacts('p'), claimAt(LATER)), { won: true }, 'it is free');
  }
  t.same(ended, [true, true, false, false, true, true]);

  const store = await abandoned('unknown');
  const payment = await store.find('p');
  if (!payment) throw new Error('there is no payment');
  const rail = rails(undefined).get('x402');
  t.equal(await endAbandoned({ store, owner: 'another', now: () => LATER }, payment, rail), true);
});

/** A rail that locks, whose chain says that the money is. */
const lockingRail = (endHold: NonNullable<Rail['endHold']>, before: () => Promise<unknown> = async () => undefined) => {
  const recover = async (): Promise<Settlement> => {
    await before();
    return { state: 'unknown', reason: 'it is locked', held: true };
  };
  return { recover, endHold, receipt: () => sampleReceipt('0xtaken') } as unknown as Rail;
};

t.test('a hold is not given back while its payer’s retry works on it', async (t) => {
  const store = await unknownPayments({ id: 'p' });
  const ended: string[] = [];
  // The chain is asked in the order of a list: until it is this payment's turn its payer may be back.
  const returns = async () => {
    const payment = await store.find('p');
    if (payment) await store.claim(payment, claimAt(LATER, { owner: 'third', settleAgain: true }));
  };
  const endHold = async (query: string) => {
    ended.push(query);
    return refused;
  };
  const rails = new Map([['x402', lockingRail(endHold, returns)]]);
  t.equal(await reconcile({ store, rails, owner: 'another', log, now: () => LATER }), 0);
  t.same(ended, []);
  t.match(await store.find('p'), { state: 'claimed', owner: 'third' });
});

t.test('a hold is nobody’s to work for while it is ended, and its payer’s again where it is not', async (t) => {
  for (const [ended, state] of [
    [unknown, 'unknown'],
    [undefined, 'released'],
  ] as const) {
    const store = await unknownPayments({ id: 'p' });
    const claims: unknown[] = [];
    const returns = async () => {
      const payment = await store.find('p');
      if (!payment) throw new Error('there is no payment');
      claims.push((await store.claim(payment, claimAt(LATER, { owner: 'third', settleAgain: true }))).won);
      claims.push(await endAbandoned(parts, payment, rail));
    };
    const rail = lockingRail(async () => {
      await returns();
      return ended;
    });
    const parts = { store, owner: 'another', now: () => LATER };
    const rails = new Map([['x402', rail]]);
    t.equal(await reconcile({ ...parts, rails, log }), state === 'unknown' ? 0 : 1);
    t.same(claims, [false, false], 'neither its payer’s retry has it nor another round');
    t.match(await store.find('p'), { state, attempt: 1, owner: '', leaseUntil: 0, updatedAt: LATER });
    const payment = await store.find('p');
    if (payment) t.match(await store.claim(payment, claimAt(LATER, { settleAgain: true })), { won: true });
  }
});

t.test('a hold that cannot be ended for long takes none of its payer’s attempts', async (t) => {
  const store = await unknownPayments({ id: 'p' });
  let time = LATER;
  let ended = 0;
  const rails = new Map([
    [
      'x402',
      lockingRail(async () => {
        ended += 1;
        return unknown;
      }),
    ],
  ]);
  for (let round = 0; round < 30; round += 1) {
    await reconcile({ store, rails, owner: 'another', log, now: () => time });
    time += 600_000;
  }
  t.equal(ended, 30);
  t.match(await store.find('p'), { state: 'unknown', attempt: 1 });
});

t.test('a hold that waits is told of, with the reason, and once for each reason', async (t) => {
  const lines: unknown[] = [];
  const heard = { ...log, warn: (details: object, message: string) => void lines.push({ ...details, message }) };
  for (const progress of ['unknown', 'settling first'] as const) {
    const store = await abandoned(progress);
    let time = LATER;
    for (const reason of ['gas is dear', 'gas is dear', 'the node is behind']) {
      const rail = lockingRail(async () => ({ state: 'unknown', reason, held: true }));
      const rails = new Map([['x402', rail]]);
      await reconcile({ store, rails, owner: 'another', log: heard as typeof log, now: () => time });
      t.match(await store.find('p'), { state: 'unknown', reason });
      time += 1_000_000;
    }
  }
  const told = ['gas is dear', 'the node is behind'].map((reason) => ({ payment: 'p', network: 'chain-a', reason }));
  t.match(lines, [...told, ...told]);
  t.equal(lines.length, 4);
});

t.test('a network has thirty seconds of a round, the last of them included', async (t) => {
  const store = await unknownPayments({ id: 'one' }, { id: 'two' }, { id: 'three' });
  let time = LATER;
  const asked: number[] = [];
  const recover = async (): Promise<Settlement> => {
    asked.push(time - LATER);
    time += 30_000;
    return unknown;
  };
  const rails = new Map([['x402', { recover } as unknown as Rail]]);
  await reconcile({ store, rails, owner: 'another', log, now: () => time });
  t.same(asked, [0, 30_000]);
});

t.test('of more than a round has room for, those come first that waited longest', async (t) => {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  for (const state of ['unknown', 'claimed'] as const) {
    for (let number = 0; number <= 100; number += 1) {
      const facts = sampleFacts(`${state} ${number}`, { recoveryQuery: `${number}` });
      const outcome = await store.claim(facts, claimAt(number + 1));
      if (!outcome.won) throw new Error('a new payment was not won');
      if (state === 'unknown') await store.giveUp(outcome.claim, 'unknown', 'a time-out', number + 1);
    }
  }
  t.equal(await reconcile({ store, rails: railThatSays(settled), owner: 'another', log, now: () => LATER }), 200);
  t.match(await store.find('unknown 100'), { state: 'unknown' });
  t.match(await store.find('claimed 100'), { state: 'claimed' });
});
