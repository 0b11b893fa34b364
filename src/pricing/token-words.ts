/**
 * The words of a vocabulary, of two to eight characters: `token-words.json` is distilled from the published ranks of
 * o200k_base by `codegen/token-costs.ts`. Kept as hashes, so that looking for one makes no text of it.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

/** Longer ones are few, and count as the two that they are made of. */
export const LONGEST_WORD = 8;

const SLOTS = 1 << 18;
const SPACE = 32;

/** Open addressing: a hash of the word, 0 where a slot is free. */
const hashes = new Int32Array(SLOTS);
/** Another one, for words that are made to have the first. */
const checks = new Int32Array(SLOTS);

/** A bit for the hash of each beginning of a word: most of what is looked for ends at once. */
const beginnings = new Uint8Array(1 << 19);

const next = (hash: number, code: number): number => Math.imul(hash ^ code, 0x5bd1e995) ^ (hash >>> 13);
const slotOf = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 14;

const nextCheck = (check: number, code: number): number => Math.imul((check << 7) ^ check ^ code, 0x01000193);

function checkOf(text: string, start: number, end: number): number {
  let check = 1;
  for (let index = start; index < end; index++) check = nextCheck(check, text.charCodeAt(index));
  return check;
}

/** The word's characters, of which there are so many. */
function remember(codes: Uint16Array, length: number): void {
  let hash = 1;
  let check = 1;
  for (let index = 0; index < length; index++) {
    const code = codes[index] ?? 0;
    hash = next(hash, code);
    check = nextCheck(check, code);
    beginnings[hash >>> 13] = (beginnings[hash >>> 13] ?? 0) | (1 << ((hash >>> 10) & 7));
  }
  let slot = slotOf(hash);
  while (hashes[slot] !== 0) slot = (slot + 1) % SLOTS;
  hashes[slot] = hash;
  checks[slot] = check;
}

/**
 * Sorted words: what each has in common with the one before, as a character, and the rest of it. No text is made of any:
 * that would be 20 MB, which the heap keeps.
 */
function rememberAll(packed: string): void {
  const codes = new Uint16Array(LONGEST_WORD);
  for (let index = 0; index < packed.length; index++) {
    let length = packed.charCodeAt(index) - 1;
    for (index++; index < packed.length && packed.charCodeAt(index) !== 0; index++) {
      codes[length] = packed.charCodeAt(index);
      length++;
    }
    remember(codes, length);
  }
}

const file: { words: string } = JSON.parse(readFileSync(new URL('token-words.json', import.meta.url), 'utf8'));
rememberAll(inflateRawSync(Buffer.from(file.words, 'base64')).toString('utf8'));

function isWord(hash: number, text: string, start: number, end: number): boolean {
  for (let slot = slotOf(hash); hashes[slot] !== 0; slot = (slot + 1) % SLOTS) {
    if (hashes[slot] === hash && checks[slot] === checkOf(text, start, end)) return true;
  }
  return false;
}

/** Characters of the longest word that begins at `start` and ends at `end` at the latest; 0 where there is none. */
export function longestWord(text: string, start: number, end: number): number {
  const last = Math.min(end, start + LONGEST_WORD);
  let longest = 0;
  let hash = next(1, text.charCodeAt(start));
  for (let index = start + 1; index < last; index++) {
    const code = text.charCodeAt(index);
    // Blanks aside, which are counted by themselves, no word has a space further in.
    if (code === SPACE) break;
    hash = next(hash, code);
    if ((((beginnings[hash >>> 13] ?? 0) >>> ((hash >>> 10) & 7)) & 1) === 0) break;
    if (isWord(hash, text, start, index + 1)) longest = index - start + 1;
  }
  return longest;
}
