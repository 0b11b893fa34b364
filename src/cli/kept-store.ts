/** The store that the gateway uses in this environment, for commands that read or change it. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../error-code.ts';
import { type KeptConfig, readKeptConfig } from '../gateway/config.ts';
import { createLog } from '../log.ts';
import { modeOf } from '../store/of-one-mode.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { UsageProblem } from './command-line.ts';

/**
 * Whether there is such a file. Throws UsageProblem where this user may not look: an answer with nothing in it would say that
 * nothing is owed.
 */
export function isThere(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new UsageProblem(`${path} cannot be read (${code}): run this as the user that the gateway runs as`);
  }
}

/**
 * Calls the command with it, in the mode of the database. One that only reads makes no database where there is none: it
 * reads an empty one. Rejects with StoreProblem where it is of another release.
 */
export async function onStore(
  use: 'reads' | 'writes',
  command: (store: Store, config: KeptConfig) => Promise<void>,
): Promise<void> {
  const config = readKeptConfig(process.env);
  const kept = join(config.dataDirectory, 'turnpike.sqlite');
  const file = use === 'reads' && !isThere(kept) ? ':memory:' : kept;
  const log = createLog(config.logLevel);
  const { databaseUrl } = config;
  // A gateway of an earlier release may run on it, and could not start again.
  const store = await openStore({ file, log, upgrades: false, ...(databaseUrl && { databaseUrl }) });
  try {
    // Whose database it is, the environment of a command may not say.
    await command(store, { ...config, mode: (await modeOf(store)) ?? config.mode });
  } finally {
    await store.close();
  }
}

/** Which store a command has read, for answers that have nothing in them. A password is not shown. */
export function storeName({ databaseUrl, dataDirectory }: Pick<KeptConfig, 'databaseUrl' | 'dataDirectory'>): string {
  if (databaseUrl === undefined) return dataDirectory;
  const { host, pathname, searchParams } = new URL(databaseUrl);
  return `the Postgres database ${searchParams.get('host') ?? host}${pathname}`;
}
