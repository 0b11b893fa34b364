/** What the commands about keys and payments share: the environment's store, periods, and how they end. */
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { ConfigProblem } from '../environment.ts';
import { AmountProblem, type Money, usd } from '../money.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';

/** A fault in the command line; the message says what would be right. */
export class UsageProblem extends Error {}

/** Runs the command on the store that the gateway uses in this environment. A fault of the user's is printed in one line. */
export async function onStore(command: (store: Store, config: Config) => Promise<void>): Promise<void> {
  try {
    const config = readConfig(process.env);
    const file = join(config.dataDirectory, 'turnpike.sqlite');
    const store = await openStore({ file, ...(config.databaseUrl && { databaseUrl: config.databaseUrl }) });
    try {
      await command(store, config);
    } finally {
      await store.close();
    }
  } catch (error) {
    const isKnown = error instanceof UsageProblem || error instanceof ConfigProblem;
    process.stderr.write(`${isKnown ? error.message : reasonOf(error)}\n`);
    process.exitCode = 1;
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
