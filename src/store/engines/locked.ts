/** Tables that somebody keeps locked in Postgres, as VACUUM FULL, CREATE INDEX or a migration of another's does. */
import { reasonOf, storeUnavailable } from '../problem.ts';
import { type Steps, unwatched } from './steps.ts';

/** What paid calls and calls with API keys are written to. */
const WRITTEN_BY_CALLS = ['payments', 'payers', 'api_keys', 'holds', 'ledger'];

/** Shorter than a database that works may take to answer, so that the reason is told. */
const PATIENCE_MS = 4_000;

const asked = (text: string) => unwatched({ text, values: [] });

function* lockToWrite(table: string): Steps<void> {
  yield asked(`SET LOCAL lock_timeout TO ${PATIENCE_MS}`);
  yield asked(`LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`);
}

/**
 * One at a time, for who holds one and waits for another may be waited for. Throws Problem `store_unavailable`, which names the
 * table.
 */
export async function demandUnlocked(transact: (steps: () => Steps<void>) => Promise<void>): Promise<void> {
  for (const table of WRITTEN_BY_CALLS) {
    try {
      await transact(() => lockToWrite(table));
    } catch (error) {
      throw storeUnavailable(`the table ${table} cannot be written: ${reasonOf(error)}`);
    }
  }
}
