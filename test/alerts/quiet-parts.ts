import type { Test } from 'tap';
import type { AlertsParts } from '../../src/alerts/alerts.ts';
import type { AlertsFile } from '../../src/catalogue/types.ts';
import { createLog } from '../../src/log.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';

/** A gateway of which nothing is to be told but what its store says, which is in memory. */
export function quietParts(t: Test, now: () => number, settings: Omit<AlertsFile, 'webhooks'> = {}): AlertsParts {
  const store = openSqliteStore(':memory:', { now });
  t.teardown(() => store.close());
  return {
    settings: () => ({ webhooks: [{ url: 'https://ops.example/' }], ...settings }),
    delivery: undefined,
    store,
    worth: () => 70_000n,
    idOf: (network) => network,
    facilitators: () => new Map(),
    circuits: () => new Map(),
    gas: async () => new Map(),
    everyMs: 1_000,
    log: createLog('silent'),
    now,
  };
}
