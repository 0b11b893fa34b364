import type { Row, Statement } from './statement.ts';

/** What a statement did: the rows it returned, or how many it changed. */
export interface Outcome {
  readonly rows: readonly Row[];
  readonly changes: number;
}

/**
 * The steps of one transaction, written once for an engine that runs them at once and one that waits for each:
 * `const { rows } = yield statement`.
 */
export type Steps<Result> = Generator<Statement, Result, Outcome>;

/**
 * A step whose outcome nobody looks at: an engine that would have to wait for it may go on, and answer that it did
 * nothing. Where it fails, the transaction does.
 */
export const unwatched = (statement: Statement): Statement => ({ ...statement, isUnwatched: true });
