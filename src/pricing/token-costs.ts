/**
 * What the estimator of tokens knows of a vocabulary: how many tokens each character is by itself, and which
 * neighbours words of the vocabulary hold. `token-costs.json` is distilled from the published ranks of o200k_base by
 * `codegen/token-costs.ts`.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

/** The one range beyond the first plane that has costs of its own. */
export const EMOJI = { first: 0x1f000, size: 0xc00 } as const;

/**
 * Neighbours by how many words of the vocabulary hold them, and what the later of the two adds, in hundredths of a
 * token: as the second character of a piece of text, as the third, and further in. Measured on walks that take nothing
 * but neighbours of one level, in words of 2 to 40 letters: scripts differ little, so no text of such neighbours costs
 * much more.
 */
export const JOIN_LEVELS = [
  { words: 4, second: 45, third: 68, later: 68 },
  { words: 8, second: 35, third: 62, later: 62 },
  { words: 64, second: 15, third: 57, later: 57 },
  { words: 256, second: 5, third: 50, later: 50 },
  { words: 1024, second: 5, third: 20, later: 42 },
  { words: 4096, second: 0, third: 10, later: 32 },
] as const;

const packed: { characters: string; joins: string[] } = JSON.parse(
  readFileSync(new URL('token-costs.json', import.meta.url), 'utf8'),
);
const inflated = (base64: string): Buffer => inflateRawSync(Buffer.from(base64, 'base64'));

/** For the first plane, then for EMOJI: how many tokens a character is, and times 4 what a space before it adds. */
const characters: Uint8Array = unpacked(inflated(packed.characters));

function unpacked(halves: Buffer): Uint8Array {
  const costs = new Uint8Array(halves.length * 2);
  for (let index = 0; index < costs.length; index++)
    costs[index] = ((halves[index >> 1] ?? 0) >> ((index & 1) * 4)) & 15;
  return costs;
}

/** Tokens of a character of the first plane by itself, 1 to 3. */
export const characterTokens = (code: number): number => (characters[code] ?? 3) & 3;

/** Tokens that a space before a character of the first plane adds, 0 to 2. */
export const spaceTokens = (code: number): number => (characters[code] ?? 4) >> 2;

/** Tokens of a character beyond the first plane. Mathematical letters apart, the rest costs a token a byte. */
export function furtherTokens(code: number): number {
  const emoji = code - EMOJI.first;
  if (emoji >= 0 && emoji < EMOJI.size) return characterTokens(0x10000 + emoji);
  return code >= 0x1d400 && code < 0x1d800 ? 3 : 4;
}

const SLOTS = 1 << 15;
/** Open addressing: pairs as first * 65536 + second, 0 where a slot is free. */
const pairs = new Uint32Array(SLOTS);
const levels = new Uint8Array(SLOTS);
/** The same for ASCII, at first * 128 + second. */
const asciiLevels = new Uint8Array(128 * 128);

const slotOf = (pair: number): number => Math.imul(pair, 0x9e3779b1) >>> 17;

function remember(pair: number, level: number): void {
  let slot = slotOf(pair);
  while (pairs[slot] !== 0) slot = (slot + 1) % SLOTS;
  pairs[slot] = pair;
  levels[slot] = level;
  const [first, second] = [pair >>> 16, pair & 0xffff];
  if (first < 128 && second < 128) asciiLevels[first * 128 + second] = level;
}

function rememberAll(gaps: Buffer, level: number): void {
  let pair = 0;
  let gap = 0;
  let scale = 1;
  for (const byte of gaps) {
    gap += (byte % 128) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    pair += gap;
    remember(pair, level);
    gap = 0;
    scale = 1;
  }
}

packed.joins.forEach((gaps, index) => {
  rememberAll(inflated(gaps), index + 1);
});

/** The level of two neighbours, from 1, in JOIN_LEVELS; 0 where they are held by too few words, or by none. */
export function joinLevel(first: number, second: number): number {
  if (first < 128 && second < 128) return asciiLevels[first * 128 + second] ?? 0;
  const pair = ((first << 16) | second) >>> 0;
  for (let slot = slotOf(pair); pairs[slot] !== 0; slot = (slot + 1) % SLOTS) {
    if (pairs[slot] === pair) return levels[slot] ?? 0;
  }
  return 0;
}
