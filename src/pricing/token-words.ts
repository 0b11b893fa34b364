/**
 * The words of a vocabulary, of two to eight characters: `token-words.json` is distilled from the published ranks of
 * o200k_base by `codegen/token-costs.ts`. Kept as hashes, so that looking for one makes no text of it.
 */
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

/** Longer ones are few, and count as the two that they are made of. */
export const LONGEST_WORD = 8;

const SLOTS = 1 << 19;
const SPACE = 32;

/** Open addressing: a hash of the word, 0 where a slot is free. */
const hashes = new Int32Array(SLOTS);
/** Another one, for words that are made to have the first. */
const checks = new Int32Array(SLOTS);

/** A bit for the hash of each beginning of a word: most of what is looked for ends at once. */
const beginnings = new Uint8Array(1 << 19);

const next = (hash: number, code: number): number => Math.imul(hash ^ code, 0x5bd1e995) ^ (hash >>> 13);
const slotOf = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 13;

function checkOf(text: string, start: number, end: number): number {
  let check = 1;
  for (let index = start; index < end; index++)
    check = Math.imul((check << 7) ^ check ^ text.charCodeAt(index), 0x01000193);
  return check;
}

function remember(word: string): void {
  let hash = 1;
  for (let index = 0; index < word.length; index++) {
    hash = next(hash, word.charCodeAt(index));
    beginnings[hash >>> 13] = (beginnings[hash >>> 13] ?? 0) | (1 << ((hash >>> 10) & 7));
  }
  let slot = slotOf(hash);
  while (hashes[slot] !== 0) slot = (slot + 1) % SLOTS;
  hashes[slot] = hash;
  checks[slot] = checkOf(word, 0, word.length);
}

/** Sorted words: what each has in common with the one before, as a character, and the rest of it. */
function rememberAll(packed: string): void {
  let word = '';
  for (const line of packed.split('\0')) {
    word = word.slice(0, line.charCodeAt(0) - 1) + line.slice(1);
    remember(word);
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
