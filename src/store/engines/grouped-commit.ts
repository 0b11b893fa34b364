import type Database from 'libsql';

/**
 * What a write outlives once its promise resolves. `power`: the disk has it. `process`: only the operating system has
 * it (of Postgres, only its server), and the disk a moment later; a power failure (a crash of that server) may forget
 * such a moment, from one point in time on.
 */
export type Outlives = 'process' | 'power';

/** How long at most the disk may lack what the operating system has. */
const BEHIND_MS = 250;

/** Runs synchronous database work in transactions that are shared by everything asked for in one event-loop turn. */
interface GroupedCommit {
  /**
   * Runs the operation in the next transaction. Resolves with its result once that is committed; rejects with what
   * the operation threw (its own changes undone, the others' kept) or with why the commit failed (all undone).
   */
  run<Result>(operation: () => Result, outlives?: Outlives): Promise<Result>;
  /** Commits now what waits. */
  flush(): void;
}

interface Waiting {
  outlives: Outlives;
  /** Runs the operation; what it returns tells the caller, once the outcome is durable. `isAlone`: in its transaction. */
  attempt(isAlone: boolean): () => void;
  reject(error: unknown): void;
}

/** One commit waits for the disk as long as a hundred do, so a turn's operations share one. */
export function groupedCommit(database: Database.Database): GroupedCommit {
  let waiting: Waiting[] = [];
  let isBehind = false;
  let awaitsDisk = true;
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const savepoint = database.prepare('SAVEPOINT operation');
  const release = database.prepare('RELEASE operation');
  const undo = database.prepare('ROLLBACK TO operation');

  function flush(): void {
    const group = waiting;
    waiting = [];
    if (group.length === 0) return;
    const isForPower = group.some(({ outlives }) => outlives === 'power');
    try {
      awaitDisk(isForPower);
      begin.run();
      const tell = group.map((operation) => operation.attempt(group.length === 1));
      commit.run();
      for (const one of tell) one();
    } catch (error) {
      for (const operation of group) operation.reject(error);
      rollBack();
    } finally {
      if (!isForPower && !isBehind) {
        isBehind = true;
        setTimeout(catchUp, BEHIND_MS).unref();
      }
    }
  }

  /** Whether commits wait for the disk. Never prepared: SQLite carries this pragma out when it is prepared, not when it is run. */
  function awaitDisk(isAwaited: boolean): void {
    if (isAwaited === awaitsDisk) return;
    database.exec(`PRAGMA synchronous = ${isAwaited ? 'FULL' : 'NORMAL'}`);
    awaitsDisk = isAwaited;
  }

  function catchUp(): void {
    isBehind = false;
    try {
      // A checkpoint waits until the disk has the log before it begins, also where readers keep it from its end.
      if (database.open) database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // A disk that fails makes the next commit fail, and that is reported.
    }
  }

  function rollBack(): void {
    try {
      if (database.inTransaction) database.exec('ROLLBACK');
    } catch {
      // Everybody got the first error; a transaction that is still open makes the next BEGIN fail loudly.
    }
  }

  /** Undone by itself where it throws. */
  function inItself<Result>(operation: () => Result): Result {
    savepoint.run();
    try {
      const result = operation();
      release.run();
      return result;
    } catch (error) {
      if (database.inTransaction) {
        undo.run();
        release.run();
      }
      throw error;
    }
  }

  function run<Result>(operation: () => Result, outlives: Outlives = 'power'): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({
        outlives,
        attempt(isAlone) {
          try {
            const result = isAlone ? operation() : inItself(operation);
            return () => resolve(result);
          } catch (error) {
            // Where SQLite gave up the whole transaction, for instance on a full disk, all are rejected.
            if (isAlone || !database.inTransaction) throw error;
            return () => reject(error);
          }
        },
        reject,
      });
    });
  }

  return { run, flush };
}
