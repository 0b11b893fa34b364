/** What goes wrong in the world, by seed: so many of a hundred requests each. */
import { type Dice, openDice } from './dice.ts';

const settling = {
  none: 52,
  slow: 8,
  /** The money has moved in these two. */
  'answer lost after settling': 8,
  '500 after settling': 8,
  /** It moves after the answer in these two. */
  'settles seconds after a 500': 6,
  'settles seconds later, without an answer': 4,
  /** It does not move in these. */
  refused: 5,
  '500': 5,
  'connection lost': 4,
};

const verifying = { none: 90, slow: 4, '500': 2, refused: 2, 'connection lost': 2 };

const providing = { none: 70, slow: 12, '500': 5, malformed: 4, 'broken off': 4, busy: 2, hanging: 3 };

const asking = { none: 92, slow: 4, '500': 2, 'connection lost': 2 };

/** Blocks are replaced that a settlement lies in. */
const reorganising = { none: 84, 'taken back for a while': 8, 'taken back for good': 8 };

export type SettlingFault = keyof typeof settling;
export type VerifyingFault = keyof typeof verifying;
export type ProvidingFault = keyof typeof providing;
export type AskingFault = keyof typeof asking;
export type Reorganisation = keyof typeof reorganising;

export interface Faults {
  settling(): SettlingFault;
  verifying(): VerifyingFault;
  providing(): ProvidingFault;
  asking(): AskingFault;
  reorganising(): Reorganisation;
  readonly dice: Dice;
  /** From now on nothing goes wrong any more. */
  end(): void;
  /** How often each was given. */
  readonly given: ReadonlyMap<string, number>;
}

/** One provider's call in so many begins a time in which all of them fail, as long as this. */
const FLAPS_PERCENT = 1;
const FLAP_MS = 250;

export function openFaults(seed: number): Faults {
  const dice = openDice(seed, 'faults');
  const given = new Map<string, number>();
  let isOver = false;
  let flapsUntil = 0;

  function draw<Name extends string>(of: string, shares: Readonly<Record<Name, number>>, none: Name): Name {
    const drawn = isOver ? none : dice.pick(shares);
    if (drawn !== none) given.set(`${of}: ${drawn}`, (given.get(`${of}: ${drawn}`) ?? 0) + 1);
    return drawn;
  }

  return {
    dice,
    given,
    settling: () => draw('settling', settling, 'none'),
    verifying: () => draw('verifying', verifying, 'none'),
    asking: () => draw('node', asking, 'none'),
    reorganising: () => draw('chain', reorganising, 'none'),
    providing() {
      if (!isOver && dice.percent(FLAPS_PERCENT)) flapsUntil = performance.now() + FLAP_MS;
      if (!isOver && performance.now() < flapsUntil) return '500';
      return draw('provider', providing, 'none');
    },
    end() {
      isOver = true;
    },
  };
}
