import type { Outlives } from './grouped-commit.ts';
import type { Row, Statement } from './statement.ts';
import type { Outcome, Steps } from './steps.ts';

/**
 * What a database must offer to be a store. Where the database itself cannot be used, everything here throws Problem
 * `store_unavailable`; what it says of a statement of ours is thrown as it is, for that is a mistake of ours.
 */
export interface Engine {
  /** Appended to a SELECT inside `transact` so that nobody else changes its rows before the end: `FOR UPDATE`, or nothing. */
  readonly rowLock: string;
  /** The condition that goes after an expression: its text is in the JSON array of texts at `place`. */
  among(place: string): string;
  /** Milliseconds since the epoch by the database's clock. */
  now(): number;
  /** Reads the database's clock again, where it is not this machine's. Throws where a right is lacking there, or a table is kept locked. */
  check(): Promise<void>;
  /** Sees every write whose promise resolved. */
  read(statement: Statement): Promise<readonly Row[]>;
  /** The rows that it returns, or how many it changed. Durable once it resolves. */
  write(statement: Statement): Promise<Outcome>;
  /** All steps or none; durable once it resolves, as `outlives` says. An error thrown by the steps undoes them and rejects. */
  transact<Result>(steps: () => Steps<Result>, outlives?: Outlives): Promise<Result>;
  close(): Promise<void>;
}
