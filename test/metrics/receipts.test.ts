import t from 'tap';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { countReceipts } from '../../src/metrics/receipts.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { reconcile } from '../../src/payment/reconcile.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { won } from '../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

/** Long after every lease of these tests. */
const LATER = 10_000_000;

const rails = new Map([
  [
    'x402',
    {
      recover: async () => ({ state: 'settled', transaction: '0xfound', amount: 1n }),
      receipt: () => sampleReceipt('0xfound'),
    } as unknown as Rail,
  ],
]);

for (const [progress, state] of [
  ['settled first', 'owed'],
  ['fulfilled', 'settled'],
] as const) {
  t.test(`what its instance left behind as ${progress} is revenue once`, async (t) => {
    const opened = openSqliteStore(':memory:');
    t.teardown(() => opened.close());
    const metrics = createMetrics();
    const store = countReceipts(opened, metrics, { worth: () => 60_000n, idOf: (network) => network });
    const claim = await won(store, sampleFacts('p', { settleUpfront: progress === 'settled first' }), claimAt(1));
    if (progress === 'settled first') await store.settle(claim, sampleReceipt(), 2);
    else await store.fulfil(claim, sampleAnswer(), { now: 2 });
    t.equal(await reconcile({ store, rails, owner: 'another', log: createLog('silent'), now: () => LATER }), 1);
    t.match(await store.find('p'), { state });
    const line = /^turnpike_revenue_usd_total\{endpoint="image\/sample",rail="x402",network="chain-a"\} (.*)$/m;
    t.equal(line.exec(await metrics.text())?.[1], '0.06');
  });
}
