import type { Test } from 'tap';
import type { PaymentFilter } from '../../src/store/store.ts';
import { alerts } from './alerts.ts';
import { claimable, finished, unclaimable, won } from './arrivals.ts';
import { channels } from './channels/channels.ts';
import { figures } from './figures/figures.ts';
import { leases } from './leases.ts';
import { numbering } from './numbering.ts';
import { books } from './payments/books.ts';
import { claiming } from './payments/claiming.ts';
import { forgetting } from './payments/forgetting.ts';
import { payers } from './payments/payers.ts';
import { states } from './payments/states.ts';
import { type EmptyDatabase, type Promised, promisedOn } from './promised.ts';
import { refunds } from './refunds.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from './samples.ts';

/** What every engine promises; see `src/store/store.ts`. */
export function storeContract(t: Test, emptyDatabase: EmptyDatabase): void {
  const promise = promisedOn(t, emptyDatabase);
  claiming(promise);
  states(promise);
  forgetting(promise);
  numbering(promise);
  payers(promise);
  refunds(promise);
  books(promise);
  figures(promise);
  alerts(promise);
  channels(promise);
  leases(promise);
  keeping(promise);
  opening(promise);
}

/** What is kept of payments, and of what instances share. */
export function keeping(promise: Promised): void {
  promise('remembers nothing of a payment that nobody claimed', async (t, store) => {
    t.equal(await store.find('never'), undefined);
    t.same(await store.list({ limit: 10 }), []);
  });

  promise('keeps every fact of a payment as it was first claimed', async (t, store) => {
    const facts = sampleFacts('first', { settleUpfront: true });
    const outcome = await store.claim(facts, claimAt(1_700_000_000_000));
    t.same(outcome, {
      won: true,
      claim: { id: 'first', attempt: 1 },
      before: undefined,
      open: 0n,
      settleUpfront: true,
      exceeds: undefined,
      isUnproven: false,
    });
    t.same(await store.find('first'), {
      ...facts,
      state: 'claimed',
      attempt: 1,
      owner: 'instance-1',
      leaseUntil: 1_700_000_000_010,
      answer: undefined,
      receipt: undefined,
      cost: undefined,
      reason: undefined,
      createdAt: 1_700_000_000_000,
      updatedAt: 1_700_000_000_000,
    });
  });

  promise('lists the newest first, filtered by state and age', async (t, store) => {
    const times: [id: string, now: number][] = [
      ['b', 10],
      ['B', 10],
      ['a', 10],
      ['old', 5],
      ['new', 20],
    ];
    for (const [id, now] of times) await won(store, sampleFacts(id), claimAt(now));
    await store.giveUp({ id: 'B', attempt: 1 }, 'released', 'none', 30);
    const ids = async (filter: PaymentFilter) => (await store.list(filter)).map(({ id }) => id);
    t.same(await ids({ limit: 10 }), ['new', 'b', 'a', 'B', 'old']);
    t.same(await ids({ limit: 2 }), ['new', 'b']);
    t.same(await ids({ limit: 10, since: 10 }), ['new', 'b', 'a', 'B']);
    t.same(await ids({ limit: 10, states: ['released', 'owed'] }), ['B']);
    t.same(await ids({ limit: 2, states: ['claimed', 'released'], since: 6 }), ['new', 'b']);
    t.same(await ids({ limit: 10, states: [] }), []);
    t.same(await store.list({ limit: 1, states: ['released'] }), [await store.find('B')]);
  });

  promise(
    'lists as many of each network, for whom one network’s payments are not to hide another’s',
    async (t, store) => {
      for (const [id, network, now] of [
        ['a', 'chain-a', 1],
        ['b', 'chain-a', 2],
        ['c', 'chain-a', 3],
        ['other', 'chain-b', 4],
      ] as const) {
        await won(store, sampleFacts(id, { network }), claimAt(now));
      }
      const ids = async (filter: Partial<PaymentFilter>) =>
        (await store.list({ ofEachNetwork: true, limit: 2, ...filter })).map(({ id }) => id);
      t.same(await ids({ oldest: true }), ['a', 'b', 'other']);
      t.same(await ids({}), ['other', 'c', 'b']);
      t.same(await ids({ leaseBefore: 13, oldest: true, states: ['claimed'], limit: 1 }), ['a']);
      await store.giveUp({ id: 'a', attempt: 1 }, 'unknown', 'none', 5);
      await store.giveUp({ id: 'other', attempt: 1 }, 'unknown', 'none', 6);
      t.same(await ids({ states: ['unknown'], oldest: true, limit: 1 }), ['a', 'other']);
    },
  );

  promise('finds what a dead instance left behind, least recently touched first', async (t, store) => {
    for (const [id, arrive] of Object.entries({ ...claimable, ...unclaimable })) await arrive(store, id);
    await won(store, sampleFacts('alive'), claimAt(100));
    const ids = async (filter: Partial<PaymentFilter>) =>
      (await store.list({ leaseBefore: 50, oldest: true, limit: 10, ...filter })).map(({ id }) => id);
    t.same(await ids({}), ['claimed', 'fulfilled', 'settled']);
    t.same(await ids({ states: ['claimed', 'fulfilled', 'settled'] }), ['claimed', 'fulfilled', 'settled']);
    t.same(await ids({ states: ['settled'], limit: 1 }), ['settled']);
    t.same(await ids({ limit: 1 }), ['claimed']);
    t.same(await ids({ leaseBefore: 11 }), []);
    t.same(await ids({ leaseBefore: 200 }), ['claimed', 'fulfilled', 'settled', 'alive']);
  });

  promise('tells what was sold, page by page, and nothing that was not settled', async (t, store) => {
    for (const id of ['c', 'a', 'b']) await finished(store, id);
    await won(store, sampleFacts('open'), claimAt(1));
    await won(store, sampleFacts('old'), claimAt(0));
    const all = await store.sales({ since: 1, after: undefined, limit: 10 });
    t.same(all[0], {
      id: 'a',
      rail: 'x402',
      route: 'image/sample',
      asset: 'asset-1',
      amount: '123456789012345678901234567890',
      cost: '7',
      createdAt: 1,
    });
    t.same(
      all.map(({ id }) => id),
      ['a', 'b', 'c'],
    );
    t.same(await store.sales({ since: 1, after: all[0], limit: 1 }), [all[1]]);
    t.same(await store.sales({ since: 1, after: all[2], limit: 1 }), []);
    t.same(await store.sales({ since: 2, after: undefined, limit: 1 }), []);
  });

  promise('tells what was sold in the order in which it was claimed, whatever it is named', async (t, store) => {
    const times = { z: 1, b: 2, a: 2, c: 3 };
    for (const [id, now] of Object.entries(times)) {
      const claim = await won(store, sampleFacts(id), claimAt(now));
      await store.fulfil(claim, sampleAnswer(), { now });
      await store.settle(claim, sampleReceipt(), now);
    }
    const ids: string[] = [];
    for (let page = await store.sales({ since: 0, after: undefined, limit: 1 }); page.length > 0; ) {
      ids.push(...page.map(({ id }) => id));
      page = await store.sales({ since: 0, after: page.at(-1), limit: 1 });
    }
    t.same(ids, ['z', 'a', 'b', 'c'], 'each once');
    const after = (await store.sales({ since: 0, after: undefined, limit: 2 })).at(-1);
    const next = await store.sales({ since: 0, after, limit: 10 });
    t.same(
      next.map(({ id }) => id),
      ['b', 'c'],
    );
  });

  promise('can be asked whether it can be written', async (t, store) => {
    await store.check();
    t.same(await store.list({ limit: 10 }), [], 'which leaves nothing to be seen');
    await store.close();
    await t.rejects(store.check());
  });

  promise('keeps values until they are too old or replaced', async (t, store, open) => {
    const other = await open();
    t.equal(await store.cached('price', 0), undefined);
    await store.keep('price', '{"usd":"1.00"}', 100);
    t.same(await other.cached('price', 99), { value: '{"usd":"1.00"}', storedAt: 100 });
    t.equal(await other.cached('price', 100), undefined);
    await other.keep('price', '{"usd":"2.00"}', 200);
    t.same(await store.cached('price', 100), { value: '{"usd":"2.00"}', storedAt: 200 });
    await store.keep('age', '1', 150);
    await store.forget({ values: 200, answers: 0, payments: undefined });
    t.equal(await store.cached('age', 0), undefined);
    t.match(await store.cached('price', 0), { storedAt: 200 });
  });

  promise('counts what callers take of their allowances over all instances', async (t, store, open) => {
    const other = await open();
    t.same(
      await store.spendAllowances(
        [
          { name: 'b', milliseconds: 5, longestMs: 1_000 },
          { name: 'a', milliseconds: 7, longestMs: 1_000 },
        ],
        100,
      ),
      [105, 107],
    );
    t.same(
      await other.spendAllowances([{ name: 'b', milliseconds: 10, longestMs: 1_000 }], 101),
      [115],
      'what is not whole yet adds up',
    );
    t.same(
      await store.spendAllowances([{ name: 'b', milliseconds: 10, longestMs: 1_000 }], 200),
      [210],
      'what is whole begins anew',
    );
    const many = Array.from({ length: 20 }, () => [store, other]).flat();
    await Promise.all(
      many.map((each, at) => {
        const both = [
          { name: 'c', milliseconds: 1, longestMs: 1_000 },
          { name: 'd', milliseconds: 2, longestMs: 1_000 },
        ];
        return each.spendAllowances(at % 2 === 0 ? both : both.reverse(), 1_000);
      }),
    );
    t.same(
      await store.spendAllowances(
        [
          { name: 'c', milliseconds: 0, longestMs: 1_000 },
          { name: 'd', milliseconds: 0, longestMs: 1_000 },
        ],
        1_000,
      ),
      [1_040, 1_080],
    );
    await store.forget({ values: 1_050, answers: 0, payments: undefined });
    t.same(
      await store.spendAllowances(
        [
          { name: 'c', milliseconds: 1, longestMs: 1_000 },
          { name: 'd', milliseconds: 1, longestMs: 1_000 },
        ],
        1_000,
      ),
      [1_001, 1_081],
    );
    const afterwards = await store.spendAllowances([{ name: 'd', milliseconds: 1, longestMs: 1_000 }], 10);
    t.same(afterwards, [1_010], 'a clock that was set back makes nobody wait for longer');
    const gives = (milliseconds: number) =>
      store.spendAllowances([{ name: 'e', milliseconds, longestMs: 1_000 }], 2_000);
    await gives(500);
    t.same(await gives(-200), [2_300], 'what is given back is there at once');
    await gives(-900);
    t.same(await gives(10), [2_010], 'and nobody has more back than was gone');
  });

  promise('asks the database nothing for who asks for nothing', async (t, store) => {
    await store.close();
    t.same(await store.renew('instance-1', [], 900), [], 'who works on nothing has nothing to lose with the database');
    t.same(await store.credits.renew('instance-1', [], 900), []);
    t.same(await store.list({ states: [], limit: 10 }), []);
    await t.rejects(store.list({ limit: 10 }), 'all else needs it');
  });

  promise('shows every resolved write at once, to this store and to another', async (t, store, open) => {
    const other = await open();
    for (let index = 0; index < 20; index += 1) {
      await won(store, sampleFacts(`p${index}`), claimAt(index));
      t.match(await store.find(`p${index}`), { state: 'claimed' });
      t.match(await other.find(`p${index}`), { state: 'claimed' });
    }
  });
}

/** Whoever opens a database, and when. */
function opening(promise: Promised): void {
  promise('remembers everything after it was closed and opened again', async (t, store, open) => {
    await finished(store, 'kept');
    await store.keep('price', '1', 1);
    const before = await store.list({ limit: 10 });
    await store.close();
    const again = await open();
    t.same(await again.list({ limit: 10 }), before);
    t.match(await again.cached('price', 0), { value: '1' });
  });

  promise('finishes what it was asked before it closes, and refuses what comes after', async (t, store, open) => {
    const claims = ['a', 'b', 'c'].map((id) => store.claim(sampleFacts(id), claimAt(1)));
    await store.close();
    t.ok((await Promise.all(claims)).every((outcome) => outcome.won));
    await t.rejects(store.claim(sampleFacts('d'), claimAt(1)));
    t.same(
      (await (await open()).list({ limit: 10 })).map(({ id }) => id),
      ['c', 'b', 'a'],
    );
    await store.close();
  });

  promise('opens for several instances that start at the same time', async (t, first, open) => {
    const stores = await Promise.all([open(), open(), open(), open()]);
    await first.claim(sampleFacts('seen'), claimAt(1));
    for (const store of stores) t.match(await store.find('seen'), { id: 'seen' });
  });
}
