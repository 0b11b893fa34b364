import { createHash } from 'node:crypto';

/** Numbers that are the same for the same text, so that equal requests get equal answers. */
export interface Seeded {
  /** From 0 up to, not including, 1. */
  number(): number;
  /** Both ends included. */
  integer(least: number, most: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
}

export function seeded(text: string): Seeded {
  let block = createHash('sha256').update(text).digest();
  let offset = 0;
  const number = (): number => {
    if (offset + 4 > block.length) {
      block = createHash('sha256').update(block).digest();
      offset = 0;
    }
    offset += 4;
    return block.readUInt32BE(offset - 4) / 2 ** 32;
  };
  return {
    number,
    integer: (least, most) => least + Math.floor(number() * (most - least + 1)),
    pick: (items) => items[Math.floor(number() * items.length)] ?? items[0],
  };
}

/** The first characters of the text's SHA-256, in hex. */
export const digest = (text: string, length = 26): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length);
