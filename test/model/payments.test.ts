/**
 * Everything that can happen to a payment, in every order: requests side by side, instances that die or sleep through
 * their leases at any step, whatever facilitator, chain and provider answer. `rules.ts` says what must hold.
 */
import t from 'tap';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { scenarios } from './scenarios.ts';
import { again, inWords, search, violationInWords } from './search.ts';
import { openTurnableStore } from './turnable-store.ts';

for (const scenario of scenarios) {
  t.test(scenario.name, async (t) => {
    const found = await search(scenario);
    t.comment(inWords(scenario, found));
    for (const violation of found.violations) t.fail(violationInWords(scenario, violation));
    t.ok(found.interleavings >= scenario.least, `at least ${scenario.least} interleavings`);
    for (const choices of found.samples) {
      const store = openSqliteStore(':memory:');
      const turnable = openTurnableStore();
      const { payments } = await again(scenario, store, choices);
      t.same(
        payments,
        (await again(scenario, turnable.store, choices)).payments,
        "the same on the gateway's own SQLite",
      );
      await store.close();
      await turnable.store.close();
    }
  });
}
