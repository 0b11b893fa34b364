/** Counts that the database has added, and whose word of it never comes. */
import t from 'tap';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { openTally } from '../../src/metrics/tally.ts';
import { Visit } from '../../src/request/visit.ts';
import { openPostgresStore } from '../../src/store/engines/postgres.ts';
import { startLossyRelay } from '../lossy-relay.ts';
import { startPostgres } from '../postgres.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);

const FIVE_CENTS = 50_000_000_000n;
let sold = 0;

for (const [what, table] of [
  ['calls', 'call_totals'],
  ['what providers were asked and charged', 'exchange_totals'],
] as const) {
  t.test(`${what}: what was added, and nobody heard of it, is added once`, async (t) => {
    const relay = await startLossyRelay(t, url);
    const store = await openPostgresStore(relay.url);
    t.teardown(() => store.close());
    const tally = openTally(store);
    const metrics = tally.with(createMetrics());
    const sell = () => {
      tally.ended(
        Object.assign(new Visit('POST', () => {}), { endpoint: 'image/sample', isPaying: true, status: 200 }),
      );
      metrics.exchange('pictures', 200, 7);
      metrics.cost({ endpoint: 'image/sample', upstream: 'pictures' }, '0.05');
      sold += 1;
    };

    sell();
    relay.loseNext(table);
    await t.rejects(tally.flush(), { code: 'store_unavailable' });
    sell();
    await tally.flush();
    await tally.flush();

    const always = { span: 'day', from: 0, to: store.now() + 86_400_000 } as const;
    const [calls, exchanges] = [await store.figures.calls(always), await store.figures.exchanges(always)];
    const sum = (counts: readonly { readonly calls: number }[]) => counts.reduce((all, each) => all + each.calls, 0);
    t.equal(sum(calls), sold);
    t.equal(sum(exchanges), sold);
    t.equal(
      exchanges.reduce((all, { spend }) => all + spend, 0n),
      BigInt(sold) * FIVE_CENTS,
    );
  });
}
