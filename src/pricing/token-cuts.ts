/**
 * How many tokens a text is where it is cut into the longest words of a vocabulary, from its beginning on. For what
 * people write that is nearly what a tokenizer makes of it. For what nobody writes a tokenizer may find no such words,
 * for it joins from the smallest: each is taken for more than one.
 */
import { characterTokens, furtherTokens } from './token-costs.ts';
import { longestWord } from './token-words.ts';

/** Weights are in hundredths of a token. */
const TOKEN = 100;

/** What a word weighs that a tokenizer may make in pieces: of repeated words of one to four letters, what the worst need. */
const WORD = 140;
/** Letters of two bytes are joined byte by byte, with half of the one before: two that are a word come apart more often. */
const WORD_OF_TWO = 175;
/** A word and a single letter beside it are three at most: a tokenizer joins the letter to a part of the word. */
const WORD_BEHIND_LETTER = 200;
const LETTER_BEHIND_WORD = 160;
/** Blanks of several kinds in a row are in the vocabulary as programs have them: others come in pieces. */
const MIXED_BLANKS = 200;

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [9, 10, 13, 32] as const;
/** Vocabularies hold long runs of one blank. */
const BLANK_AGAIN = 7;
const SPACE_AGAIN = 2;

const isBreak = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN;
const isBlank = (code: number): boolean => code === SPACE || code === TAB || isBreak(code);
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

const isOfTwoBytes = (code: number): boolean => code >= 0x80 && code < 0x800;

/** Of alphabets; other scripts' letters stand for more, and single ones beside a word are what people write. */
const isLetter = (code: number): boolean => isOfTwoBytes(code) || /[a-z]/i.test(String.fromCharCode(code));

/** Of ASCII: a tokenizer takes the line's end behind one together with it, and cuts them anew. */
const isSign = (code: number): boolean => code > SPACE && code < 127 && !/[0-9a-z]/i.test(String.fromCharCode(code));

/** Of blanks alone. */
function blanksWeight(text: string, start: number, end: number): number {
  let weight = 0;
  for (let index = start; index < end; ) {
    const code = text.charCodeAt(index);
    let after = index + 1;
    while (after < end && text.charCodeAt(after) === code) after++;
    const length = longestWord(text, index, end);
    if (length > after - index) {
      const isLineEnd = length === 2 && code === CARRIAGE_RETURN;
      weight += isLineEnd ? TOKEN : MIXED_BLANKS;
      index += length;
    } else {
      weight += TOKEN + (after - index - 1) * (code === SPACE ? SPACE_AGAIN : BLANK_AGAIN);
      index = after;
    }
  }
  return weight;
}

/** What a text weighs, in hundredths of a token: at most 100 for each of its bytes in UTF-8. Linear in its length. */
export function cutWeight(text: string, digitsPerToken: number): number {
  const { length } = text;
  let weight = 0;
  let index = 0;
  let before: 'letter' | 'word' | undefined;
  while (index < length) {
    const code = text.charCodeAt(index);
    if (isBlank(code)) {
      before = undefined;
      // A tokenizer takes blanks up to the last line's end, then the others but the last, which belongs to what follows.
      let end = index;
      let afterBreak = index;
      while (end < length && isBlank(text.charCodeAt(end))) {
        end++;
        if (isBreak(text.charCodeAt(end - 1))) afterBreak = end;
      }
      const rest = end === length || afterBreak === end ? end : end - 1;
      const lineEnds = blanksWeight(text, index, afterBreak);
      weight += lineEnds > 0 && isSign(text.charCodeAt(index - 1)) ? Math.max(lineEnds, WORD) : lineEnds;
      weight += blanksWeight(text, afterBreak, rest);
      index = rest;
      if (rest === end) continue;
    } else if (isDigit(code)) {
      const start = index;
      while (isDigit(text.charCodeAt(index))) index++;
      weight += TOKEN * Math.ceil((index - start) / digitsPerToken);
      before = undefined;
      continue;
    } else if (code >= 0xd800 && code < 0xe000) {
      const full = text.codePointAt(index) ?? code;
      weight += TOKEN * (full > 0xffff ? furtherTokens(full) : 3);
      index += full > 0xffff ? 2 : 1;
      before = undefined;
      continue;
    }
    const word = longestWord(text, index, length);
    // A space and one character are joined first of all.
    if (word === 2 && code === SPACE) {
      weight += TOKEN;
      before = 'letter';
    } else if (word > 1) {
      const isPair = word === 2 && isOfTwoBytes(code);
      weight += isPair ? WORD_OF_TWO : before === 'letter' ? WORD_BEHIND_LETTER : WORD;
      before = isPair ? undefined : 'word';
    } else {
      const least = before === 'word' && isLetter(code) ? LETTER_BEHIND_WORD : 0;
      weight += Math.max(least, TOKEN * characterTokens(text.charCodeAt(index)));
      before = undefined;
    }
    index += Math.max(1, word);
  }
  return weight;
}
