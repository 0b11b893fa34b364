/** Which payments settle first: by price, by what was lost, and by what all payers together have under way beyond their records. */
import t from 'tap';
import type { ExposureFile } from '../../../src/catalogue/types.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { usd } from '../../../src/money.ts';
import { createExposureControl } from '../../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../../src/payment/exposure/policy.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import type { Loss } from '../../../src/store/store.ts';
import { won } from '../../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts } from '../../store/samples.ts';
import { mppRoute } from '../mpp/route.ts';

const DECIMALS = 6;
const START = 1_000_000_000;
const HOUR_MS = 3_600_000;

/** A control whose store knows these losses, each since when, and what it told of changes. */
function open(file: ExposureFile = {}) {
  const clock = { now: START };
  const losses: [number, string, string, string][] = [];
  const told: unknown[][] = [];
  const measured = createMetrics();
  const control = createExposureControl({
    policy: exposurePolicy(file),
    store: {
      async losses(since) {
        const known = losses.filter(([at]) => at >= since);
        return known.map(
          ([, network, route, amount]): Loss => ({
            network,
            route,
            amount: `${usd(amount)}`,
            payer: 'p',
            asset: 'a',
            isCertain: true,
          }),
        );
      },
    },
    idOf: (network) => (network === 'eip155:1' ? 'net' : network),
    worth: ({ amount }) => BigInt(amount),
    metrics: {
      settlesFirst(part, does) {
        measured.settlesFirst(part, does);
        told.push([does ? 'settles first' : 'settles after', part]);
      },
    },
    log: {
      debug: () => {},
      info: (details) => told.push(['info', details]),
      warn: (details) => told.push(['warn', details]),
      error: () => {},
    },
    now: () => clock.now,
  });
  const leftForOne = () => {
    const { limits, release } = control.reserve(0n, DECIMALS);
    release();
    return limits.unproven;
  };
  return {
    clock,
    control,
    told,
    leftForOne,
    upfront: (network = 'net', route = mppRoute('/a'), amount = usd('0.05')) => control.upfront(route, network, amount),
    async lose(amount: string, { network = 'net', route = 'a' } = {}) {
      losses.push([clock.now, network, route, amount]);
      await control.refresh();
    },
  };
}

t.test('payers without a record together may have no more under way than may be lost in an hour', async (t) => {
  const { control, leftForOne } = open({ new: '0.50', perHour: '1.00' });
  const first = control.reserve(usd('0.40'), DECIMALS);
  t.equal(first.limits.unproven, 500_000n, 'each alone: what a new payer may');
  const second = control.reserve(usd('0.40'), DECIMALS);
  t.equal(leftForOne(), 200_000n, 'together: what is left');
  control.reserve(usd('0.40'), DECIMALS);
  t.equal(leftForOne(), 0n);
  second.release();
  t.equal(
    leftForOne(),
    200_000n,
    'a payment that settles first, or that its payer’s record covers, takes nothing of it',
  );
  first.workEnded();
  t.equal(leftForOne(), 200_000n, 'what ended may be lost: nobody knows before losses are measured again');
  await control.refresh();
  t.equal(leftForOne(), 500_000n);
  control.reserve(usd('0.30'), DECIMALS);
  await control.refresh();
  t.equal(leftForOne(), 300_000n, 'and it is given back once');
});

t.test('what was lost within the hour is taken from what is left, and no less than nothing is left', async (t) => {
  const { control, clock, leftForOne, lose } = open({ new: '0.50', perHour: '1.00' });
  await lose('0.40');
  await lose('0.30', { network: 'other', route: 'b' });
  t.equal(leftForOne(), 300_000n);
  control.reserve(usd('0.90'), DECIMALS);
  t.equal(leftForOne(), 0n);
  clock.now += HOUR_MS + 1;
  await control.refresh();
  t.equal(leftForOne(), 100_000n);
});

t.test('work whose settlement has no answer yet counts as lost until it has one', async (t) => {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  const control = createExposureControl({
    policy: exposurePolicy({ new: '0.50', perHour: '1.00' }),
    store,
    idOf: (network) => network,
    worth: ({ amount }) => BigInt(amount),
    metrics: createMetrics(),
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    now: () => 1_000,
  });
  const claim = await won(store, sampleFacts('open', { amount: '700000' }), claimAt(1));
  await store.fulfil(claim, sampleAnswer(), { now: 2 });
  await store.giveUp(claim, 'unknown', 'no answer', 3);
  await control.refresh();
  t.equal(control.reserve(0n, DECIMALS).limits.unproven, 300_000n);
  await store.resolve('open', { state: 'refused', reason: 'taken back' }, 4);
  await control.refresh();
  t.equal(control.reserve(0n, DECIMALS).limits.unproven, 300_000n, 'lost by now');
});

t.test('a payment is bounded by what the operator says, in units of its asset', async (t) => {
  const file = { perPayer: '3.00', new: '0.25', settleUpfront: { afterFailures: 5 } };
  const { control } = open(file);
  const failuresSince = START - 86_400_000;
  t.same(control.reserve(0n, 6).limits, { perPayer: 3_000_000n, unproven: 250_000n, failures: 5, failuresSince });
  t.same(control.reserve(0n, 2).limits, { perPayer: 300n, unproven: 25n, failures: 5, failuresSince });
});

t.test('what streams and what costs more than a bound settles first', async (t) => {
  const { upfront } = open({ settleUpfront: { above: '1.00' } });
  const route = mppRoute('/a');
  t.equal(upfront('net', route, usd('1.00')), undefined);
  t.equal(upfront('net', route, usd('1.000001')), 'above');
  t.equal(upfront('net', { ...route, streams: true }, 0n), 'above');
});

t.test('once so much was lost on a network or at an endpoint, all settles first there, for an hour', async (t) => {
  const { control, clock, upfront, lose } = open({ lossLimit: '1.00', perHour: '50.00' });
  await lose('0.40');
  await lose('0.599999');
  t.equal(upfront(), undefined);
  t.equal(control.version, 0);
  await lose('0.000001');
  t.equal(upfront(), 'loss');
  t.equal(upfront('eip155:1', mppRoute('/b')), 'loss', 'at every endpoint on that network, however it is named');
  t.equal(upfront('other', mppRoute('/a')), 'loss', 'and at that endpoint on every network');
  t.equal(upfront('other', mppRoute('/b')), undefined);
  t.equal(control.version, 1, 'and challenges say so from now on');
  clock.now += HOUR_MS;
  await control.refresh();
  t.equal(upfront(), 'loss');
  t.equal(control.version, 1);
  clock.now += 1;
  await control.refresh();
  t.equal(upfront(), undefined);
  t.equal(control.version, 2);
});

t.test('where one part begins as another ends, challenges change all the same', async (t) => {
  const { control, clock, upfront, lose } = open({ lossLimit: '1.00', perHour: '50.00' });
  await lose('1.00');
  clock.now += HOUR_MS + 1;
  await lose('1.00', { network: 'other', route: 'b' });
  t.same([upfront(), upfront('other', mppRoute('/b'))], [undefined, 'loss']);
  t.equal(control.version, 2);
});

t.test('the operator is told of each part that begins or ends to settle first, once', async (t) => {
  const { control, clock, told, lose } = open({ lossLimit: '1.00', perHour: '1.50' });
  await lose('0.75');
  t.same(told.splice(0), []);
  await lose('0.75', { network: 'other' });
  const lost = '1.5';
  t.same(told.splice(0), [
    ['warn', { part: 'route a', lost }],
    ['warn', { part: 'payers without a record', lost }],
    ['settles first', 'route a'],
    ['settles first', 'payers without a record'],
  ]);
  await control.refresh();
  t.same(told.splice(0), []);
  clock.now += HOUR_MS + 1;
  await control.refresh();
  t.same(told.splice(0), [
    ['info', { part: 'route a' }],
    ['info', { part: 'payers without a record' }],
    ['settles after', 'route a'],
    ['settles after', 'payers without a record'],
  ]);
});

t.test('payers without a record settle first once all together lost too much in an hour', async (t) => {
  const { control, upfront, lose, leftForOne } = open({ new: '0.50', perHour: '1.00', lossLimit: '5.00' });
  const usual = {
    contracts: true,
    failedSettlements: 2,
    unprovenAbove: '0.5',
    unprovenTogetherAbove: '1',
    unsettledAbove: '2',
  };
  t.same(control.upfrontFor, usual);
  await lose('0.999999');
  t.same(control.upfrontFor, usual);
  await lose('0.000001');
  t.same(control.upfrontFor, { ...usual, unprovenAbove: '0' });
  t.equal(leftForOne(), 0n);
  t.equal(upfront(), undefined, 'everybody else goes on as before');
});

t.test('whoever was given a challenge before losses changed what it says was told otherwise', async (t) => {
  const { control, clock, lose } = open({ lossLimit: '1.00', perHour: '2.00' });
  const told = (reason: 'loss' | 'exposure', at: number, { isUnproven = false, network = 'net', path = '/a' } = {}) =>
    control.wasTold(reason, { at, route: mppRoute(path), network, isUnproven });
  const [first, second] = [START, START + 1_000];
  t.equal(told('loss', 0), true, 'nothing has changed');
  t.equal(told('exposure', 0, { isUnproven: true }), true);
  await lose('1.00', { network: 'net', route: 'b' });
  clock.now = second;
  await lose('1.00', { network: 'other', route: 'a' });
  for (const [reason, at, offer, wasTold] of [
    ['loss', first - 1, {}, false],
    ['loss', first, {}, true],
    ['loss', first, { network: 'eip155:1' }, true],
    ['loss', first, { network: 'third' }, false],
    ['loss', second, { network: 'third' }, true],
    ['loss', first, { network: 'third', path: '/b' }, true],
    ['loss', 0, { network: 'third', path: '/c' }, true],
    ['loss', 0, { network: 'third', path: '/c', isUnproven: true }, true],
    ['exposure', first, { isUnproven: true }, false],
    ['exposure', second - 1, { isUnproven: true, network: 'third', path: '/c' }, false],
    ['exposure', second, { isUnproven: true }, true],
    ['exposure', 0, { isUnproven: false }, true],
  ] as const) {
    t.equal(told(reason, at, offer), wasTold, JSON.stringify([reason, at - START, offer]));
  }
  clock.now += 1_000;
  await control.refresh();
  t.equal(told('loss', first), true, 'it has been so since then');
  t.equal(told('exposure', second, { isUnproven: true }), true);
});

t.test('an operator who says nothing of it risks two dollars', (t) => {
  const usual = {
    perPayer: usd('2'),
    unproven: usd('0.5'),
    perHour: usd('2'),
    lossLimit: usd('5'),
    hold: false,
    channels: false,
    settleUpfront: { above: usd('1'), contracts: true, afterFailures: 2 },
  };
  t.same(exposurePolicy(), usual);
  const changed = exposurePolicy({ hold: true, channels: true, settleUpfront: { contracts: false } });
  t.same(changed, {
    ...usual,
    hold: true,
    channels: true,
    settleUpfront: { ...usual.settleUpfront, contracts: false },
  });
  t.end();
});
