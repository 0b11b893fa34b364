import type { Test } from 'tap';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';

/** Makes an empty database, removed with the test; the function it resolves to opens one more store on it. */
export type EmptyDatabase = (t: Test) => Promise<() => Promise<Store>>;

/**
 * A promise and its check, which gets an open store on an empty database and a way to open another one on it. `long`: it
 * takes many rounds.
 */
export type Promised = (
  name: string,
  check: (t: Test, store: Store, open: () => Promise<Store>) => Promise<void>,
  length?: 'long',
) => void;

/** Each promise is checked on a database of its own. */
export function promisedOn(t: Test, emptyDatabase: EmptyDatabase): Promised {
  return (name, check) => {
    t.test(name, async (t) => {
      const openAnother = await emptyDatabase(t);
      const open = async () => {
        const store = await openAnother();
        t.teardown(() => store.close());
        return store;
      };
      await check(t, await open(), open);
    });
  };
}

/** In memory, where whoever opens the database has the same store: for what is promised of one. Leaves out what takes long. */
export function promisedInMemory(t: Test): Promised {
  return (name, check, length) => {
    if (length === 'long') return;
    t.test(name, async (t) => {
      const store = openSqliteStore(':memory:');
      t.teardown(() => store.close());
      await check(t, store, async () => store);
    });
  };
}
