/** What `npm run reconcile` tells of a campaign's books and chains. */
import { startProgram } from '../started.ts';
import { wordsFor } from '../words-for.ts';

export interface Reconciled {
  /** Payments of which it says that their chain does not have them, as the store names them. */
  readonly missing: ReadonlySet<string>;
  /** Everything else that does not agree, in its words. */
  readonly others: readonly string[];
}

const HOUR_MS = 3_600_000;
const MISSING = /^ {2}payment (\S+): .*, the chain has no such payment$/;
const AGREES = /: they agree$|: \d+ differences?$/;

/** `environment`: of the gateways. Payments of the last hour. */
export async function reconciled(environment: Readonly<Record<string, string>>): Promise<Reconciled> {
  const [from = '', to = ''] = [-HOUR_MS, HOUR_MS].map((away) => new Date(Date.now() + away).toISOString());
  const words = [...wordsFor('src/cli/reconcile.ts'), '--from', from, '--to', to];
  const run = startProgram(process.execPath, words, environment);
  await run.ended;
  const lines = run.output().split('\n').filter(Boolean);
  const missing = lines.flatMap((line) => MISSING.exec(line)?.[1] ?? []);
  return { missing: new Set(missing), others: lines.filter((line) => !MISSING.test(line) && !AGREES.test(line)) };
}
