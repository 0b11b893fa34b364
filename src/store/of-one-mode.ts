/**
 * A database is of the mode that it was begun in: what was paid for with play money must not be had in live mode, nor be given
 * back there in real money.
 */
import { StoreProblem } from './problem.ts';
import type { Store } from './store.ts';

interface Place {
  readonly databaseUrl: string | undefined;
  readonly dataDirectory: string;
}

type Mode = 'live' | 'sandbox';

const MODE = 'mode';

/** The first gateway that opens a database decides. Throws StoreProblem for one of the other mode. */
export async function demandMode(
  { credits }: Pick<Store, 'credits'>,
  mode: Mode,
  { databaseUrl, dataDirectory }: Place,
): Promise<void> {
  const begun = await credits.secret(MODE, mode);
  if (begun === mode) return;
  const [which, variable] =
    databaseUrl === undefined ? [`in ${dataDirectory}`, 'TURNPIKE_DATA'] : ['of DATABASE_URL', 'DATABASE_URL'];
  throw new StoreProblem(
    `The database ${which} was begun in ${begun} mode, and this gateway is in ${mode} mode: set TURNPIKE_MODE to ${begun}, or ${variable} to a place of its own`,
  );
}

/** What the database was begun in; undefined where no gateway has opened it. */
export const modeOf = ({ credits }: Pick<Store, 'credits'>): Promise<Mode | undefined> =>
  credits.knownSecret(MODE) as Promise<Mode | undefined>;
