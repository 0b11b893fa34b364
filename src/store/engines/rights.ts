/** What a Postgres user may do with the tables: those of a dump belong to whoever restored it. */
import { tables } from '../migrations/migrations.ts';
import { StoreProblem } from '../problem.ts';
import type { Row, Statement } from './statement.ts';

type Ask = (statement: Statement) => Promise<{ readonly rows: readonly Row[] }>;

/** To read what is kept, and to sell. */
export const READING = ['SELECT'] as const;
export const SELLING = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;

/** Of tables that are there. */
const LACKING = `
  SELECT format('GRANT %s ON %I TO %I', string_agg(wanted, ', ' ORDER BY wanted), name, current_user) AS grant_it
  FROM json_array_elements_text(?1::json) AS name, json_array_elements_text(?2::json) AS wanted
  WHERE NOT has_table_privilege(to_regclass(name), wanted)
  GROUP BY name ORDER BY name`;

/** Throws StoreProblem with what is to be granted where the user of the connection lacks one of these rights on a table. */
export async function demandRights(ask: Ask, rights: typeof READING | typeof SELLING): Promise<void> {
  const { rows } = await ask({ text: LACKING, values: [JSON.stringify(tables), JSON.stringify(rights)] });
  if (rows.length === 0) return;
  const grants = rows.map(({ grant_it: grant }) => grant).join('; ');
  const wanted = rights === READING ? 'read all that is kept there' : 'do all that a gateway does there';
  throw new StoreProblem(
    `The Postgres database cannot be used: its user may not ${wanted}. Let the owner of its tables say: ${grants}`,
  );
}
