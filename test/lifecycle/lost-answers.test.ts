/** A database that has done what it was asked, and whose word of it never comes. */
import t from 'tap';
import { openPostgresStore } from '../../src/store/engines/postgres.ts';
import { startLossyRelay } from '../lossy-relay.ts';
import { startPostgres } from '../postgres.ts';
import { openSale } from './sale.ts';

const { url, stop } = await startPostgres();
t.teardown(stop);

for (const [how, upfront] of [
  ['first', 'above'],
  ['after the result', undefined],
] as const) {
  t.test(`who pays ${how} gets an answer that is kept, whether or not the database can say so`, async (t) => {
    const relay = await startLossyRelay(t, url);
    const store = await openPostgresStore(relay.url);
    t.teardown(() => store.close());
    let isLost = false;
    const { pay, seen } = openSale(t, {
      store,
      verified: { upfront },
      stored: (own) => ({
        ...own,
        fulfil(...kept) {
          if (!isLost) relay.loseAnswer();
          isLost = true;
          return own.fulfil(...kept);
        },
      }),
    });
    const name = `payment of who pays ${how}`;
    t.match(await pay(name), { kind: 'result', answer: { status: 200 }, receipt: { transaction: '0xmoved' } });
    t.match(await pay(name), { kind: 'result', replayed: true });
    t.match(seen, { asked: 1, settled: { length: 1 } });
  });
}
