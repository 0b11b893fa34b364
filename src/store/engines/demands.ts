/** What a Postgres database has to be, and to let its user do, to keep what is sold. Everything here throws StoreProblem. */
import { tables } from '../migrations/migrations.ts';
import { StoreProblem } from '../problem.ts';
import type { Row, Statement } from './statement.ts';

type Ask = (statement: Statement) => Promise<{ readonly rows: readonly Row[] }>;

const READING = ['SELECT'];
const SELLING = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** SQL_ASCII looks at no byte, and so keeps them all: https://www.postgresql.org/docs/current/multibyte.html */
const KEEP_EVERY_LETTER: ReadonlySet<unknown> = new Set(['UTF8', 'SQL_ASCII']);

/** Of tables that are there. */
const LACKING = `
  SELECT format('GRANT %s ON %I TO %I', string_agg(wanted, ', ' ORDER BY wanted), name, current_user) AS grant_it
  FROM json_array_elements_text(?1::json) AS name, json_array_elements_text(?2::json) AS wanted
  WHERE NOT has_table_privilege(to_regclass(name), wanted)
  GROUP BY name ORDER BY name`;

const setting = async (ask: Ask, name: string): Promise<unknown> =>
  (await ask({ text: 'SELECT current_setting(?1) AS value', values: [name] })).rows[0]?.value;

const unusable = (why: string) => new StoreProblem(`The Postgres database cannot be used: ${why}`);

/** An answer with a letter that it does not have could not be written down: whoever paid for it would never have it. */
export async function demandEncoding(ask: Ask): Promise<void> {
  const encoding = await setting(ask, 'server_encoding');
  if (KEEP_EVERY_LETTER.has(encoding)) return;
  throw unusable(
    `its encoding is ${encoding}, which does not have every letter that an answer may ` +
      "have. Make another with CREATE DATABASE <name> ENCODING 'UTF8' TEMPLATE template0, and name that in DATABASE_URL; " +
      'what is kept in this one is moved there by pg_dump',
  );
}

export async function demandWrites(ask: Ask): Promise<void> {
  if ((await setting(ask, 'transaction_read_only')) !== 'on') return;
  throw unusable('it takes no writes: it is a standby, or default_transaction_read_only is on. Check DATABASE_URL');
}

/**
 * That the user of the connection may do on each table what a gateway does that `sells`, or who only looks; else the message
 * says what is to be granted.
 */
export async function demandRights(ask: Ask, sells: boolean): Promise<void> {
  const rights = sells ? SELLING : READING;
  const { rows } = await ask({ text: LACKING, values: [JSON.stringify(tables), JSON.stringify(rights)] });
  if (rows.length === 0) return;
  const grants = rows.map(({ grant_it: grant }) => grant).join('; ');
  const wanted = sells ? 'do all that a gateway does there' : 'read all that is kept there';
  throw unusable(`its user may not ${wanted}. Let the owner of its tables say: ${grants}`);
}
