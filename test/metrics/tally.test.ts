import t from 'tap';
import { bucketOf, quantile } from '../../src/metrics/buckets.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { openTally } from '../../src/metrics/tally.ts';
import { Visit } from '../../src/request/visit.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { storeUnavailable } from '../../src/store/problem.ts';

const DAY = 86_400_000;
const ALL = { span: 'day', from: 0, to: DAY } as const;

function paid(number: number): Visit {
  const visit = new Visit('POST', () => {}, undefined, `request ${number}`);
  visit.endpoint = 'image/sample';
  visit.door = 'x402';
  visit.network = 'chain-a';
  visit.isPaying = true;
  visit.paymentId = `payment ${number}`;
  visit.status = number % 2 === 0 ? 200 : 500;
  visit.note('verified', 1);
  return visit;
}

t.test('what is counted while the store refuses is added once it takes it, each call once', async (t) => {
  const store = openSqliteStore(':memory:', { now: () => 5 });
  t.teardown(() => store.close());
  let isGone = false;
  const unlessGone =
    <Given extends unknown[]>(write: (...given: Given) => Promise<void>) =>
    async (...given: Given): Promise<void> => {
      if (isGone) throw storeUnavailable('gone');
      await write(...given);
    };
  const { figures } = store;
  const tally = openTally({
    ...store,
    figures: {
      ...figures,
      addCalls: unlessGone(figures.addCalls),
      addExchanges: unlessGone(figures.addExchanges),
      addVisits: unlessGone(figures.addVisits),
    },
  });
  const metrics = tally.with(createMetrics());
  let made = 0;
  const some = () => {
    for (let each = 0; each < 300; each += 1) {
      made += 1;
      tally.ended(paid(made));
      metrics.exchange('pictures', each === 0 ? undefined : 200, 7);
      metrics.cost({ endpoint: 'image/sample', upstream: 'pictures' }, '0.000000000001');
    }
    const unpaid = new Visit('POST', () => {});
    unpaid.endpoint = 'image/sample';
    unpaid.isProbe = true;
    unpaid.status = 402;
    tally.ended(unpaid);
  };
  some();
  isGone = true;
  await t.rejects(tally.flush(), { code: 'store_unavailable' });
  some();
  await t.rejects(tally.flush(), { code: 'store_unavailable' });
  isGone = false;
  // Whoever looks and the background do so at the same time.
  await Promise.all([tally.flush(), tally.flush(), tally.flush()]);
  await tally.flush();

  const calls = await figures.calls(ALL);
  const sum = (field: 'calls' | 'failures' | 'challenges') => calls.reduce((all, each) => all + each[field], 0);
  t.same([sum('calls'), sum('failures'), sum('challenges')], [600, 300, 2]);
  const exchanges = await figures.exchanges(ALL);
  t.equal(
    exchanges.reduce((all, each) => all + each.calls, 0),
    600,
  );
  t.equal(
    exchanges.reduce((all, each) => all + each.failures, 0),
    2,
  );
  t.equal(
    exchanges.reduce((all, each) => all + each.spend, 0n),
    600n,
  );
  for (const number of [1, 200, 201, 600]) {
    const [visit, ...others] = await figures.visitsOf(`payment ${number}`);
    t.same(others, []);
    t.same(
      visit?.steps.map(({ step }) => step),
      ['verified', 'answered'],
    );
  }
});

t.test('what a payment went through says whether its caller was there for the answer', async (t) => {
  const store = openSqliteStore(':memory:', { now: () => 5 });
  t.teardown(() => store.close());
  const tally = openTally(store);
  for (const [number, isReplayed, isCut] of [
    [2, false, true],
    [4, true, false],
  ] as const) {
    tally.ended(Object.assign(paid(number), { isReplayed, isCut }));
  }
  await tally.flush();
  const answered = async (id: string) => (await store.figures.visitsOf(id))[0]?.steps.at(-1)?.detail;
  t.equal(await answered('payment 2'), '200, and its caller had left');
  t.equal(await answered('payment 4'), '200, once more');
});

t.test('a share of calls is as fast as its part of the histogram says', (t) => {
  const of = (...times: number[]) => {
    const counts = new Map<number, number>();
    for (const ms of times) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
    return counts;
  };
  t.equal(quantile(of(), 0.5), undefined);
  t.equal(quantile(of(3, 3, 3, 3), 0.5), 3, 'half of the way from 0 to 5');
  t.equal(quantile(of(60, 60, 400, 400), 0.5), 100);
  t.equal(quantile(of(60, 60, 400, 400), 1), 500);
  t.equal(quantile(of(10_000_000), 0.5), 300_000, 'what took longest took at least that');
  t.end();
});
