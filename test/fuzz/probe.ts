/** One sort of input, tried again and again until the time is over; what breaks a promise is made as small as it gets. */
import * as fc from 'fast-check';
import { Violation } from './violation.ts';

export interface Found {
  readonly probe: string;
  /** Of the round: with it, the first inputs of a run are those that found it. */
  readonly seed: number;
  readonly what: string;
  readonly reproduction: string;
}

export interface Probe {
  readonly name: string;
  /** Ends by `until`, in milliseconds since the epoch. Rejects for what is no violation: a fault of the fuzz itself. */
  run(seed: number, until: number, report: (found: Found) => void): Promise<{ inputs: number }>;
}

/** A round is short enough to be repeated by hand. */
const ROUND = 200;
/** So often the same is reported. */
const MOST_REPORTS = 3;

/** Without what differs from one time to the next. */
const kindOf = (what: string): string => what.slice(0, 80).replaceAll(/[0-9a-f-]{6,}|\d+/g, '#');

export function probe<Input>(
  name: string,
  inputs: fc.Arbitrary<Input>,
  attempt: (input: Input) => Promise<void>,
): Probe {
  return {
    name,
    async run(seed, until, report) {
      const reported = new Map<string, number>();
      let tried = 0;
      let last: Promise<void> | undefined;
      for (let round = 0; Date.now() < until; round += 1) {
        const property = fc.asyncProperty(inputs, async (input) => {
          tried += 1;
          last = attempt(input);
          await last;
        });
        const { failed, errorInstance } = await fc.check(property, {
          seed: seed + round,
          numRuns: ROUND,
          interruptAfterTimeLimit: Math.max(1, until - Date.now()),
          markInterruptAsFailure: false,
        });
        // A round that time ended before its first input failed at nothing.
        if (!failed || errorInstance === null) continue;
        if (!(errorInstance instanceof Violation)) throw errorInstance;
        const { message: what, reproduction } = errorInstance;
        const times = reported.get(kindOf(what)) ?? 0;
        reported.set(kindOf(what), times + 1);
        if (times < MOST_REPORTS) report({ probe: name, seed: seed + round, what, reproduction });
      }
      // The end of the time interrupts the round, not what it waits for.
      await last?.catch(() => {});
      return { inputs: tried };
    },
  };
}
