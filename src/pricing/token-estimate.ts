/**
 * How many tokens a text is, within some milliseconds for a megabyte and without a tokenizer. One walk over the
 * characters: a piece of text begins where the vocabulary does not know two neighbours, with what the character costs
 * by itself, and each further character of the piece adds a part of a token. Digits, blanks and runs of one character
 * have rules of their own. It leans to too many: what a text made to look cheap costs is billed by the provider. Where
 * neighbours are common and the words that they make are not, the words of the vocabulary say more, and more of both counts.
 */
import { characterTokens, furtherTokens, JOIN_LEVELS, joinLevel, spaceTokens } from './token-costs.ts';
import { cutWeight } from './token-cuts.ts';

/** Weights are in hundredths of a token, so that texts are added up before they are rounded. */
const TOKEN = 100;

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, BACKSLASH, CARET] = [9, 10, 13, 32, 92, 94] as const;

/** Digits are cut in groups of three by most vocabularies, and take no space in front. */
export const DIGITS_PER_TOKEN = 3;

/** Vocabularies hold long runs of spaces, and runs of sixteen tabs or line feeds. */
const SPACE_AGAIN = 2;
const BLANK_AGAIN = 7;
/** Tabs, spaces and line feeds in turn: every other one begins a token. */
const OTHER_BLANK = 50;
/** Signs take the line feed behind them into their token. */
const LINE_FEED_AFTER_SIGN = 10;
const LINE_FEED_AFTER_RETURN = 30;
const RETURN_AFTER_LINE_FEED = 65;
/** Carriage returns, letters and some signs are held twice in a token, not more often. */
const HELD_TWICE = 50;
/** Words end sooner: a longer piece of ASCII may be a few letters in an order that no word has. */
const LONG_PIECE = 10;
const PART_OF_LONG_PIECE = 66;
/** Rulers and borders: of the other signs, four in a token at least. */
const SIGN_AGAIN = 25;

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const isSign = Uint8Array.from(ascii, (character) => (/[\p{P}\p{S}]/u.test(character) ? 1 : 0));

/** What an ASCII character adds to a run of at least two of it. */
const again = Uint8Array.from(ascii, (character, code) => {
  if (code === TAB || code === LINE_FEED) return BLANK_AGAIN;
  if (/[a-z\r&[\]`{}]/i.test(character)) return HELD_TWICE;
  return isSign[code] ? SIGN_AGAIN : TOKEN;
});

const second = Uint8Array.from([TOKEN, ...JOIN_LEVELS.map((level) => level.second)]);
const third = Uint8Array.from([TOKEN, ...JOIN_LEVELS.map((level) => level.third)]);
const later = Uint8Array.from([TOKEN, ...JOIN_LEVELS.map((level) => level.later)]);
/** By the place in a piece of text. */
const joined = [later, second, third, later] as const;

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xe000;
const isBreakOrTab = (code: number): boolean => code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;

/** Spaces before `next`, -1 for the end of the text: the last of them belongs to a word that follows. */
function spacesWeight(count: number, next: number): number {
  if (next === LINE_FEED || next === TAB) return OTHER_BLANK + (count - 1) * SPACE_AGAIN;
  const last = next < 0 || isSurrogate(next) ? TOKEN : spaceTokens(next) * TOKEN;
  return count === 1 ? last : TOKEN + (count - 2) * SPACE_AGAIN + last;
}

/** Two signs leave their line feed alone: a caret always, a backslash where another line feed follows. */
const isLeftAlone = (sign: number, next: number): boolean =>
  sign === CARET || (sign === BACKSLASH && next === LINE_FEED);

/** A tab, line feed or carriage return between two other characters. */
function blankWeight(code: number, before: number, next: number): number {
  if (code === LINE_FEED) {
    if (before === CARRIAGE_RETURN) return LINE_FEED_AFTER_RETURN;
    if (isSign[before]) return isLeftAlone(before, next) ? TOKEN : LINE_FEED_AFTER_SIGN;
  }
  if (code === before) return again[code] ?? TOKEN;
  if (code === CARRIAGE_RETURN) return before === LINE_FEED ? RETURN_AFTER_LINE_FEED : TOKEN;
  return before === SPACE || isBreakOrTab(before) ? OTHER_BLANK : TOKEN;
}

/** What a text weighs, in hundredths of a token: at most 100 for each of its bytes in UTF-8. Linear in its length. */
export const tokenWeight = (text: string, digitsPerToken: number = DIGITS_PER_TOKEN): number =>
  Math.max(neighboursWeight(text, digitsPerToken), cutWeight(text, digitsPerToken));

/** By what neighbours the vocabulary holds. */
function neighboursWeight(text: string, digitsPerToken: number): number {
  const { length } = text;
  let weight = 0;
  let before = -1;
  /** Characters of the piece so far; of a run of digits, those behind its first. */
  let place = 0;
  /** How often the character before stood in front of itself. */
  let equals = 0;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code === SPACE) {
      const first = index;
      while (text.charCodeAt(index + 1) === SPACE) index++;
      weight += spacesWeight(index - first + 1, index + 1 < length ? text.charCodeAt(index + 1) : -1);
    } else if (isDigit(code)) {
      place = isDigit(before) ? place + 1 : 0;
      if (place % digitsPerToken === 0) weight += TOKEN;
    } else if (isBreakOrTab(code)) {
      weight += blankWeight(code, before, text.charCodeAt(index + 1));
    } else if (isSurrogate(code)) {
      const full = text.codePointAt(index) ?? code;
      // Half a pair is sent as a replacement character or as an escape.
      weight += TOKEN * (full > 0xffff ? furtherTokens(full) : 3);
      if (full > 0xffff) index++;
    } else {
      equals = code === before ? equals + 1 : 0;
      // Words that hold a caret behind another sign go on behind it.
      const isLast = code === CARET && text.charCodeAt(index + 1) === LINE_FEED;
      const level = equals > 1 || isLast ? 0 : joinLevel(before, code);
      if (level > 0) {
        const part = joined[Math.min(place, 3)]?.[level] ?? TOKEN;
        const least = place >= LONG_PIECE && code < 128 ? PART_OF_LONG_PIECE : equals > 0 ? HELD_TWICE : 0;
        weight += Math.max(part, least);
        place++;
      } else if (equals > 1 && code < 128) {
        weight += again[code] ?? TOKEN;
        // Part of the piece that it stands in: what comes behind it is no beginning.
        place++;
      } else {
        weight += TOKEN * characterTokens(code);
        place = 1;
      }
    }
    before = code;
  }
  return weight;
}

/** Whole tokens of a weight, rounded up. */
export const tokensOf = (weight: number): number => Math.ceil(weight / TOKEN);

/** The weight of the densest text of so many bytes of UTF-8. */
export const heaviestText = (bytes: number): number => bytes * TOKEN;
