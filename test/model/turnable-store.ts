/** The store's own statements on SQLite in memory, where what was written can be turned back to any mark. */
import Database from 'libsql';
import type { Engine } from '../../src/store/engine.ts';
import { migrationsFrom, sqliteDialect } from '../../src/store/migrations.ts';
import type { Row, Statement } from '../../src/store/statement.ts';
import type { Outcome, Steps } from '../../src/store/steps.ts';
import type { Store } from '../../src/store/store.ts';
import { storeOn } from '../../src/store/store-on.ts';

export interface TurnableStore {
  readonly store: Store;
  /** Marks what is written by now. */
  mark(place: number): void;
  /** Undoes what was written since the mark, and forgets later marks. */
  turnBack(place: number): void;
}

export function openTurnableStore(): TurnableStore {
  const database = new Database(':memory:');
  // What is undone is copied by the page.
  database.exec('PRAGMA page_size = 512');
  const prepared = new Map<string, Database.Statement>();

  function prepare(text: string): Database.Statement {
    const statement = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, statement);
    return statement;
  }

  function step({ text, values }: Statement): Outcome {
    const statement = prepare(text);
    return statement.reader
      ? { rows: statement.all([...values]) as Row[], changes: 0 }
      : { rows: [], changes: statement.run([...values]).changes };
  }

  function transact<Result>(steps: Steps<Result>): Result {
    prepare('SAVEPOINT steps').run();
    try {
      let next = steps.next();
      while (!next.done) next = steps.next(step(next.value));
      return next.value;
    } catch (error) {
      prepare('ROLLBACK TO steps').run();
      throw error;
    } finally {
      prepare('RELEASE steps').run();
    }
  }

  for (const migration of migrationsFrom(0, sqliteDialect)) {
    if (typeof migration === 'string') database.exec(migration);
    else transact(migration());
  }
  const engine: Engine = {
    rowLock: '',
    among: (place) => `IN (SELECT value FROM json_each(${place}))`,
    read: async (statement) => step(statement).rows,
    now: () => 0,
    readClock: async () => undefined,
    write: async (statement) => step(statement),
    transact: async (steps) => transact(steps()),
    close: async () => {
      database.close();
    },
  };
  return {
    store: storeOn(engine),
    mark: (place) => prepare(`SAVEPOINT mark_${place}`).run(),
    turnBack: (place) => prepare(`ROLLBACK TO mark_${place}`).run(),
  };
}
