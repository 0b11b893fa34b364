/**
 * A depth-first search over everything that can happen. A run cannot be turned back, so each is repeated from its
 * beginning with the choices made so far; a state that was seen before is not entered again, for what follows from it is
 * known.
 */

/** Something that must not happen, with the steps that led to it. */
export class Violation extends Error {
  readonly steps: readonly string[];
  constructor(message: string, steps: readonly string[]) {
    super(message);
    this.name = 'Violation';
    this.steps = steps;
  }
}

export interface Guide {
  /** Picks one of the steps that can come next. `state` tells all that decides what can follow. */
  choose(steps: readonly string[], state: () => Promise<string>): Promise<number>;
  /** True while the run does what the one before it did. */
  isRepeating(): boolean;
}

/** One run from its beginning. Throws Violation. */
export type Run = (guide: Guide) => Promise<unknown>;

export interface FoundViolation {
  readonly message: string;
  readonly steps: readonly string[];
  /** For `replay`. */
  readonly choices: readonly number[];
}

export interface Explored {
  /** Ways through from the beginning to an end, each different in what happens or in which order. */
  readonly interleavings: bigint;
  readonly states: number;
  readonly runs: number;
  /** Choices of a few runs that came to an end, for `replay`. */
  readonly samples: readonly (readonly number[])[];
  /** One for each message, with as few choices as were found. */
  readonly violations: readonly FoundViolation[];
}

interface Branching {
  readonly state: string;
  readonly steps: readonly string[];
  chosen: number;
  interleavings: bigint;
}

/** Thrown to end a run that came to a state whose continuations are known. Not an Error: it is thrown too often for that. */
class Seen {
  readonly interleavings: bigint;
  constructor(interleavings: bigint) {
    this.interleavings = interleavings;
  }
}

/** What a run writes, and what can be undone so that the next need not write it again. */
export interface Undo {
  mark(place: number): void;
  /** Also forgets later marks. */
  turnBack(place: number): void;
}

const MOST_SAMPLES = 8;

/** Throws where a run does not do the same again for the same choices. `isEnough`: whether to stop at a violation. */
export async function explore(run: Run, { mark, turnBack }: Undo, isEnough = () => false): Promise<Explored> {
  const path: Branching[] = [];
  /** State -> ways from it to an end; undefined while they are being counted. */
  const seen = new Map<string, bigint | undefined>();
  const violations = new Map<string, FoundViolation>();
  const samples: number[][] = [];
  let ends = 0;
  let runs = 0;
  let interleavings = 0n;

  const choicesSoFar = () => path.map(({ chosen }) => chosen);

  async function once(): Promise<bigint> {
    let depth = 0;
    const choose: Guide['choose'] = async (steps, state) => {
      const known = path[depth++];
      if (known) {
        const [before, now] = [known.steps[known.chosen], steps[known.chosen]];
        if (before !== now) throw new Error(`The same choices led elsewhere: to ${now}, and to ${before} before`);
        return known.chosen;
      }
      const here = await state();
      if (seen.has(here)) {
        const ways = seen.get(here);
        if (ways === undefined) throw new Error(`The model goes round in a circle, at ${steps[0]}`);
        throw new Seen(ways);
      }
      seen.set(here, undefined);
      path.push({ state: here, steps, chosen: 0, interleavings: 0n });
      mark(path.length);
      return 0;
    };
    try {
      await run({ choose, isRepeating: () => depth < path.length });
      ends += 1;
      // Of the many that differ in their last steps only, ever fewer.
      if (samples.length < MOST_SAMPLES && Number.isInteger(Math.log2(ends))) samples.push(choicesSoFar());
    } catch (error) {
      if (error instanceof Seen) return error.interleavings;
      if (!(error instanceof Violation)) throw error;
      const choices = choicesSoFar();
      const { message, steps } = error;
      const shortest = violations.get(message)?.choices.length ?? Number.POSITIVE_INFINITY;
      if (choices.length < shortest) violations.set(message, { message, steps, choices });
    }
    return 1n;
  }

  /** On to the next choice that was not made yet; false when there is none. */
  function turn(ways: bigint): boolean {
    let found = ways;
    for (let last = path.at(-1); last; last = path.at(-1)) {
      last.interleavings += found;
      last.chosen += 1;
      turnBack(path.length);
      if (last.chosen < last.steps.length) return true;
      seen.set(last.state, last.interleavings);
      found = last.interleavings;
      path.pop();
    }
    interleavings = found;
    return false;
  }

  mark(0);
  for (let goesOn = true; goesOn; runs += 1) {
    goesOn = turn(await once()) && !(violations.size > 0 && isEnough());
  }
  turnBack(0);
  return { interleavings, states: seen.size, runs, samples, violations: [...violations.values()] };
}

/** One run with these choices; those that are not given are the first. Throws Violation. */
export async function replay<Result>(run: (guide: Guide) => Promise<Result>, choices: readonly number[]) {
  let depth = 0;
  return run({ choose: async () => choices[depth++] ?? 0, isRepeating: () => false });
}
