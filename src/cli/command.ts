/** What commands share: how they end, and what an amount or a period looks like. */
import { randomUUID } from 'node:crypto';
import { CatalogueErrors } from '../catalogue/yaml/diagnostic.ts';
import { linesWithoutControls } from '../control-characters.ts';
import { ConfigProblem } from '../environment.ts';
import { AmountProblem, type Money } from '../money.ts';
import { type Asset, usdIn } from '../payment/assets.ts';
import { isOutage, reasonOf, StoreProblem } from '../store/problem.ts';
import { isReference, REFERENCE_TAKES } from '../store/reference.ts';
import { UsageProblem } from './command-line.ts';

/** Runs a command. A fault of the user's is printed in one line, and the process ends with `failure`. */
export async function run(command: () => Promise<void>, failure = 1): Promise<void> {
  try {
    await command();
  } catch (error) {
    const isKnown = [UsageProblem, ConfigProblem, StoreProblem, CatalogueErrors].some(
      (known) => error instanceof known,
    );
    const reason = reasonOf(error);
    // A stranger's words may be in it.
    process.stderr.write(`${linesWithoutControls(isKnown ? reason : `the command failed: ${reason}`)}\n`);
    process.exitCode = failure;
  }
}

/** Dollars, of the asset where it is given. Throws UsageProblem that names the option. */
export function dollars(option: string, text: string, asset?: Pick<Asset, 'decimals'>): Money {
  try {
    return usdIn(text, asset);
  } catch (error) {
    if (error instanceof AmountProblem)
      throw new UsageProblem(`${option}: ${error.message}; it takes ${error.expected}`);
    throw error;
  }
}

/**
 * Does what is done once under a reference: the one that was given, or a new one. Throws UsageProblem, which says how to
 * repeat it where the database gave no answer.
 */
export async function once<Outcome>(
  given: string | undefined,
  act: (reference: string) => Promise<Outcome>,
): Promise<Outcome> {
  const reference = given ?? randomUUID();
  if (!isReference(reference)) {
    throw new UsageProblem(`--reference ${REFERENCE_TAKES}`);
  }
  try {
    return await act(reference);
  } catch (error) {
    if (!isOutage(error)) throw error;
    throw new UsageProblem(
      `the database gave no answer (${reasonOf(error)}): it may be done, or not. Repeat the command with --reference ${reference}, and it is done once`,
    );
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
