/** How long an instance may go on with its work, and how it learns that another has taken it over. */
import t from 'tap';
import { createLeases } from '../../src/payment/leases.ts';

const LEASE_MS = 30_000;
const START = 1_000_000;

/** Leases of one instance, which others leave this work. */
function open(...kept: string[]) {
  const clock = { now: START };
  const asked: [readonly string[], number][] = [];
  const leases = createLeases<string>({
    leaseMs: LEASE_MS,
    async prolong(work, leaseUntil) {
      asked.push([work, leaseUntil]);
      return work.filter((name) => kept.includes(name));
    },
    nameOf: (work) => work,
    now: () => clock.now,
  });
  return {
    clock,
    asked,
    leases,
    take: (name: string) => leases.take(name, START + LEASE_MS),
    lose: () => kept.splice(0),
  };
}

t.test('a lease is fresh while more than a third of it is left', async (t) => {
  const { take, clock, asked } = open('ours');
  const lease = take('ours');
  for (const [passed, isFresh] of [
    [0, true],
    [19_999, true],
    [20_000, false],
    [30_000, false],
  ] as const) {
    clock.now = START + passed;
    t.equal(lease.isFresh(), isFresh, `${passed} ms after its beginning`);
  }
  t.same(asked, [], 'by the clock alone');
});

t.test('fresh work is ours, and of other work the store is asked, which prolongs it', async (t) => {
  const { take, clock, asked } = open('ours');
  const lease = take('ours');
  take('another');
  t.equal(await lease.confirm(), true);
  t.same(asked, []);
  clock.now = START + 25_000;
  t.equal(await lease.confirm(), true);
  t.same(asked, [[['ours'], START + 55_000]], 'for a whole lease from now on');
  t.equal(lease.isFresh(), true);
  clock.now = START + 44_999;
  t.equal(lease.isFresh(), true);
  clock.now = START + 45_000;
  t.equal(lease.isFresh(), false);
});

t.test('work that another has is lost for good', async (t) => {
  const { take, clock, asked } = open();
  const lease = take('lost');
  t.equal(lease.lost.aborted, false);
  clock.now = START + 25_000;
  t.equal(await lease.confirm(), false);
  t.equal(lease.lost.aborted, true);
  clock.now = START;
  t.equal(lease.isFresh(), false);
  t.equal(await lease.confirm(), false);
  t.equal(asked.length, 1, 'and nobody asks again');
});

t.test('all work is prolonged at once, until it is over', async (t) => {
  const { take, clock, asked, leases, lose } = open('one', 'two');
  const one = take('one');
  const two = take('two');
  const three = take('three');
  clock.now = START + 10_000;
  await leases.renew();
  t.same(asked.splice(0), [[['one', 'two', 'three'], START + 40_000]]);
  t.same(
    [one, two, three].map(({ lost }) => lost.aborted),
    [false, false, true],
  );
  clock.now = START + 29_999;
  t.same(
    [one, two, three].map((lease) => lease.isFresh()),
    [true, true, false],
  );
  one.end();
  three.end();
  lose();
  await leases.renew();
  t.same(asked, [[['two'], START + 59_999]]);
  t.same(
    [one, two].map(({ lost }) => lost.aborted),
    [false, true],
    'what is over cannot be lost',
  );
});
