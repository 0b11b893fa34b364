/**
 * Distils the published ranks of the tokenizer o200k_base (`js-tiktoken`) into `src/pricing/token-costs.json`, which
 * the estimator of input tokens reads, and its words into `token-words.json`. Run it with `node --import=tsx codegen/token-costs.ts` for other ranks.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';
import { EMOJI, JOIN_LEVELS } from '../src/pricing/token-costs.ts';
import { LONGEST_WORD } from '../src/pricing/token-words.ts';

/** The tokens of the vocabulary that are text by themselves. */
function vocabulary(): Set<string> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const words = new Set<string>();
  for (const line of ranks.bpe_ranks.split('\n')) {
    // A line is a mark, the rank of its first token, and tokens in base64.
    for (const token of line.split(' ').slice(2)) {
      try {
        words.add(utf8.decode(Buffer.from(token, 'base64')));
      } catch {
        // A part of a character.
      }
    }
  }
  return words;
}

/** Four bits a character: its tokens by itself, and times 4 what a space before it adds. */
function packedCharacters(tokenizer: Tiktoken): Buffer {
  const tokens = (text: string): number => tokenizer.encode(text, [], []).length;
  const codes = [...Array(0x10000).keys(), ...Array.from({ length: EMOJI.size }, (_, index) => EMOJI.first + index)];
  const packed = Buffer.alloc(codes.length / 2);
  for (const [index, code] of codes.entries()) {
    const character = String.fromCodePoint(code);
    const alone = Math.min(3, tokens(character));
    const space = Math.max(0, Math.min(2, tokens(` ${character}`) - alone));
    packed[index >> 1] = (packed[index >> 1] ?? 0) | ((alone + 4 * space) << ((index & 1) * 4));
  }
  return packed;
}

/** Neighbours of the first plane by the number of words that hold them, blanks aside. */
function neighbours(words: ReadonlySet<string>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) {
    for (let index = 1; index < word.length; index++) {
      const pair = word.slice(index - 1, index + 1);
      if (/[\s\p{Cs}]/u.test(pair)) continue;
      const key = pair.charCodeAt(0) * 0x10000 + pair.charCodeAt(1);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
}

/** Sorted numbers as the gaps between them, seven bits a byte, the lowest first. */
function packedNumbers(numbers: readonly number[]): Buffer {
  const bytes: number[] = [];
  let last = 0;
  for (const number of numbers) {
    let gap = number - last;
    for (; gap >= 128; gap = Math.floor(gap / 128)) bytes.push((gap % 128) + 128);
    bytes.push(gap);
    last = number;
  }
  return Buffer.from(bytes);
}

/** Sorted words: what each has in common with the one before, as a character, and the rest of it. */
function packedWords(words: readonly string[]): Buffer {
  let last = '';
  const lines = words.map((word) => {
    let common = 0;
    while (common < last.length && word[common] === last[common]) common++;
    last = word;
    return String.fromCharCode(common + 1) + word.slice(common);
  });
  return Buffer.from(lines.join('\0'));
}

const compressed = (bytes: Buffer): string => deflateRawSync(bytes, { level: 9 }).toString('base64');

/** What `token-costs.json` holds. */
export function tokenCosts(tokenizer: Tiktoken): { characters: string; joins: string[] } {
  const words = vocabulary();
  const counts = [...neighbours(words)].sort(([one], [other]) => one - other);
  const joins = JOIN_LEVELS.map(({ words: least }, index) => {
    const next = JOIN_LEVELS[index + 1]?.words ?? Number.POSITIVE_INFINITY;
    return compressed(packedNumbers(counts.filter(([, count]) => count >= least && count < next).map(([key]) => key)));
  });
  return { characters: compressed(packedCharacters(tokenizer)), joins };
}

/** What `token-words.json` holds. */
export function tokenWords(): { words: string } {
  const words = [...vocabulary()].filter(({ length }) => length > 1 && length <= LONGEST_WORD);
  // By UTF-16, whatever the machine's language; a character beyond the first plane is never cut by what is in common.
  const whole = words.filter((word) => !/[\0\p{Cs}\u{10000}-\u{10ffff}]/u.test(word));
  return { words: compressed(packedWords(whole.sort())) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync('src/pricing/token-costs.json', `${JSON.stringify(tokenCosts(new Tiktoken(ranks)), null, 2)}\n`);
  writeFileSync('src/pricing/token-words.json', `${JSON.stringify(tokenWords(), null, 2)}\n`);
}
