import { randomFrom } from '../random.ts';

/** Seeded choices. Each part of a campaign has dice of its own, so that one more throw here changes nothing there. */
export interface Dice {
  /** From `from` up to `to`, a whole number. */
  between(from: number, to: number): number;
  /** True in so many of a hundred throws. */
  percent(share: number): boolean;
  /** One of the names, each as often as its share says. */
  pick<Name extends string>(shares: Readonly<Record<Name, number>>): Name;
  oneOf<Item>(items: readonly Item[]): Item | undefined;
}

export function openDice(seed: number, purpose: string): Dice {
  const mixed = [...purpose].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed);
  const random = randomFrom(mixed);
  const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  return {
    between: (from, to) => from + Math.floor(random() * (to - from + 1)),
    percent: (share) => random() * 100 < share,
    oneOf,
    pick<Name extends string>(shares: Readonly<Record<Name, number>>): Name {
      const entries = Object.entries(shares) as [Name, number][];
      let left = random() * entries.reduce((sum, [, share]) => sum + share, 0);
      for (const [name, share] of entries) {
        left -= share;
        if (left < 0) return name;
      }
      throw new Error('there is nothing to choose from');
    },
  };
}
