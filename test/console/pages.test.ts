/** Payments page by page, as the console lists them. */
import t from 'tap';
import { payments } from '../../src/console/payments.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { loadSound } from '../load-catalogue.ts';
import { claimAt, sampleFacts } from '../store/samples.ts';

const sold = loadSound();
const endpoint = sold.endpoints.find(({ routes }) => routes.length > 1);
const routes = endpoint?.routes.map(({ id }) => id) ?? [];
const caip2 = sold.networks.get('chain-c')?.sandbox.caip2 ?? '';

t.test(
  'every payment of an endpoint is listed once, the newest first, whichever route and name of a network it has',
  async (t) => {
    const store = openSqliteStore(':memory:');
    t.teardown(() => store.close());
    const made: string[] = [];
    for (let each = 0; each < 120; each += 1) {
      const id = `payment-${String(each).padStart(3, '0')}`;
      const facts = { route: routes[each % routes.length] ?? '', network: each % 3 === 0 ? caip2 : 'chain-c' };
      // Several are of one moment.
      await store.claim(sampleFacts(id, facts), claimAt(Math.floor(each / 7)));
      await store.claim(sampleFacts(`other-${each}`, { route: 'another' }), claimAt(each));
      made.unshift(id);
    }
    const parts = { store, mode: 'sandbox', catalogue: () => sold } as const;
    t.ok(routes.length > 1);
    for (const filter of [{}, { network: 'chain-c' }, { network: caip2 }, { state: 'claimed' }]) {
      const listed: string[] = [];
      let after: string | undefined;
      do {
        const query = { ...filter, endpoint: endpoint?.id, ...(after !== undefined && { after }) };
        const page = await payments(parts, query);
        t.ok(page.payments.length <= 50);
        t.ok(page.payments.every((row) => row.endpoint === endpoint?.id && row.network === 'chain-c'));
        listed.push(...page.payments.map(({ id }) => id));
        after = page.after;
      } while (after !== undefined);
      t.same(listed, made);
    }
  },
);
