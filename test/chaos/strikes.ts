/** Kills and stops, placed on the road of a request: each waits for its moment, and strikes the gateway that came there. */
import type { Dice } from './dice.ts';
import type { Moment } from './moments.ts';

export interface Strike {
  readonly moment: Moment;
  /** So long after it, in milliseconds: what the gateway does next is under way then. */
  readonly delayMs: number;
  /** Only at work on the purchase that the last one struck. */
  readonly again: boolean;
}

export interface Strikes {
  /** Resolves with the place that was struck. Where its moment does not come, the first that comes is taken. */
  place(strike: Strike, hit: (slot: number) => boolean): Promise<Struck>;
  /** Told of every moment. */
  reach(moment: Moment, slot: number, mark: string | undefined): void;
}

export interface Struck {
  readonly slot: number;
  readonly moment: Moment;
}

/** The moments of which there are more come less often by themselves. */
const SHARES: Record<Moment, number> = {
  'verify asked': 6,
  'verify answered': 12,
  'upstream asked': 14,
  'upstream half answered': 8,
  'upstream answered': 16,
  'settle asked': 14,
  settled: 14,
  'settle answered': 14,
  'chain asked': 6,
};

const DELAYS_MS = [0, 0, 1, 2, 4, 8, 15, 30];
const AGAIN_PERCENT = 25;
/** So long one waits for its very moment. */
const PATIENCE_MS = 2_500;

export const planStrike = (dice: Dice): Strike => ({
  moment: dice.pick(SHARES),
  delayMs: dice.oneOf(DELAYS_MS) ?? 0,
  again: dice.percent(AGAIN_PERCENT),
});

export function openStrikes(): Strikes {
  let placed: { strike: Strike; since: number; hit(slot: number): boolean; done(struck: Struck): void } | undefined;
  let lastMark: string | undefined;

  function fits({ strike, since }: NonNullable<typeof placed>, moment: Moment, mark: string | undefined): boolean {
    if (performance.now() - since > PATIENCE_MS) return true;
    return moment === strike.moment && (!strike.again || lastMark === undefined || mark === lastMark);
  }

  return {
    place: (strike, hit) =>
      new Promise((done) => {
        placed = { strike, since: performance.now(), hit, done };
      }),
    reach(moment, slot, mark) {
      const current = placed;
      if (!current || !fits(current, moment, mark)) return;
      placed = undefined;
      const strikeNow = () => {
        if (!current.hit(slot)) {
          placed ??= current;
          return;
        }
        lastMark = mark ?? lastMark;
        current.done({ slot, moment });
      };
      if (current.strike.delayMs === 0) strikeNow();
      else setTimeout(strikeNow, current.strike.delayMs);
    },
  };
}
