/** What the commands about keys and payments share: the environment's store, periods, and how they end. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogueErrors } from '../catalogue/diagnostic.ts';
import { type KeptConfig, readKeptConfig } from '../config.ts';
import { ConfigProblem } from '../environment.ts';
import { createLog } from '../log.ts';
import { AmountProblem, type Money, usd } from '../money.ts';
import { openStore } from '../store/open.ts';
import { StoreProblem } from '../store/problem.ts';
import type { Store } from '../store/store.ts';
import { UsageProblem } from './command-line.ts';

/**
 * Calls the command with the store that the gateway uses in this environment. One that only reads makes no database where
 * there is none: it reads an empty one.
 */
export async function onStore(
  use: 'reads' | 'writes',
  command: (store: Store, config: KeptConfig) => Promise<void>,
): Promise<void> {
  const config = readKeptConfig(process.env);
  const kept = join(config.dataDirectory, 'turnpike.sqlite');
  const file = use === 'reads' && !existsSync(kept) ? ':memory:' : kept;
  const log = createLog(config.logLevel);
  const store = await openStore({ file, log, ...(config.databaseUrl && { databaseUrl: config.databaseUrl }) });
  try {
    await command(store, config);
  } finally {
    await store.close();
  }
}

/** Which store a command has read, for answers that have nothing in them. A password is not shown. */
export function storeName({ databaseUrl, dataDirectory }: Pick<KeptConfig, 'databaseUrl' | 'dataDirectory'>): string {
  if (databaseUrl === undefined) return dataDirectory;
  const { host, pathname } = new URL(databaseUrl);
  return `the Postgres database ${host}${pathname}`;
}

/** Runs a command. A fault of the user's is printed in one line, and the process ends with `failure`. */
export async function run(command: () => Promise<void>, failure = 1): Promise<void> {
  try {
    await command();
  } catch (error) {
    const isKnown = [UsageProblem, ConfigProblem, StoreProblem, CatalogueErrors].some(
      (known) => error instanceof known,
    );
    process.stderr.write(`${isKnown && error instanceof Error ? error.message : reasonOf(error)}\n`);
    process.exitCode = failure;
  }
}

const reasonOf = (error: unknown): string => `the command failed: ${error instanceof Error ? error.message : error}`;

/** Dollars. Throws UsageProblem that names the option. */
export function dollars(option: string, text: string): Money {
  try {
    return usd(text);
  } catch (error) {
    if (error instanceof AmountProblem)
      throw new UsageProblem(`${option}: ${error.message}; it takes ${error.expected}`);
    throw error;
  }
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `24h` or `30d` in milliseconds. Throws UsageProblem. */
export function period(option: string, text: string): number {
  const [, count, unit] = /^([1-9][0-9]{0,5})([mhd])$/.exec(text) ?? [];
  const milliseconds = UNITS[unit ?? ''];
  if (milliseconds === undefined) throw new UsageProblem(`${option} is a period such as 30m, 24h or 7d: got ${text}`);
  return Number(count) * milliseconds;
}
