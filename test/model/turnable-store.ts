/** The store's own statements on SQLite in memory, where what was written can be turned back to any mark. */
import Database from 'libsql';
import type { Engine } from '../../src/store/engines/engine.ts';
import type { Row, Statement } from '../../src/store/engines/statement.ts';
import type { Outcome, Steps } from '../../src/store/engines/steps.ts';
import { migrationsFrom, sqliteDialect } from '../../src/store/migrations/migrations.ts';
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
  const prepared = new Map<string, { readonly statement: Database.Statement; readonly isReader: boolean }>();
  /** Answers since something was written last: a search looks at everything after each of its steps. */
  const read = new Map<string, readonly Row[]>();

  function prepare(text: string) {
    const known = prepared.get(text);
    if (known) return known;
    const statement = database.prepare(text);
    const made = { statement, isReader: statement.reader };
    prepared.set(text, made);
    return made;
  }

  const run = (text: string) => prepare(text).statement.run();

  function step({ text, values }: Statement): Outcome {
    read.clear();
    const { statement, isReader } = prepare(text);
    return isReader
      ? { rows: statement.all([...values]) as Row[], changes: 0 }
      : { rows: [], changes: statement.run([...values]).changes };
  }

  function rowsOf({ text, values }: Statement): readonly Row[] {
    const question = `${text} ${JSON.stringify(values)}`;
    const rows = read.get(question) ?? (prepare(text).statement.all([...values]) as Row[]);
    read.set(question, rows);
    return rows;
  }

  function transact<Result>(steps: Steps<Result>): Result {
    run('SAVEPOINT steps');
    try {
      let next = steps.next();
      while (!next.done) next = steps.next(step(next.value));
      return next.value;
    } catch (error) {
      run('ROLLBACK TO steps');
      throw error;
    } finally {
      run('RELEASE steps');
    }
  }

  for (const migration of migrationsFrom(0, sqliteDialect)) {
    if (typeof migration === 'string') database.exec(migration);
    else transact(migration());
  }
  const engine: Engine = {
    rowLock: '',
    among: (place) => `IN (SELECT value FROM json_each(${place}))`,
    read: async (statement) => rowsOf(statement),
    now: () => 0,
    check: async () => undefined,
    write: async (statement) => step(statement),
    transact: async (steps) => transact(steps()),
    close: async () => {
      database.close();
    },
  };
  return {
    store: storeOn(engine),
    mark: (place) => run(`SAVEPOINT mark_${place}`),
    turnBack(place) {
      read.clear();
      run(`ROLLBACK TO mark_${place}`);
    },
  };
}
