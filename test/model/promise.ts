/** Searches scenarios as a test file does, and goes through samples of them on the gateway's own SQLite. */
import t from 'tap';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Scenario } from './scenario.ts';
import { again, inWords, search, violationInWords } from './search.ts';
import { openTurnableStore } from './turnable-store.ts';

export async function promise(scenarios: readonly Scenario[]): Promise<void> {
  const searched: [Scenario, Awaited<ReturnType<typeof search>>][] = [];
  for (const scenario of scenarios) searched.push([scenario, await search(scenario)]);

  for (const [scenario, found] of searched) {
    t.test(scenario.name, async (t) => {
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
}
