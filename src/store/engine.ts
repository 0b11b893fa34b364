import type { Outlives } from './grouped-commit.ts';
import type { Row, Statement } from './statements.ts';
import type { Steps } from './steps.ts';

/** What a database must offer to be a store. */
export interface Engine {
  /** Appended to a SELECT inside `transact` so that nobody else changes its rows before the end: `FOR UPDATE`, or nothing. */
  readonly rowLock: string;
  /** The condition that goes after a column: its text is in the JSON array of texts at `place`. */
  among(place: string): string;
  /** Sees every write whose promise resolved. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** Rows changed. Durable once it resolves. */
  write(statement: Statement): Promise<number>;
  /** All steps or none; durable once it resolves, as `outlives` says. An error thrown by the steps undoes them and rejects. */
  transact<Result>(steps: () => Steps<Result>, outlives?: Outlives): Promise<Result>;
  close(): Promise<void>;
}
