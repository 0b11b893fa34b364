/** Texts that fit a regular expression. */
import type { Seeded } from './seed.ts';

const MOST_REPEATS = 4;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const PLAIN = `${LETTERS}${DIGITS}${LETTERS.toUpperCase()}`;
const PRINTABLE = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join('');

const KNOWN: Readonly<Record<string, string>> = { '\\d': DIGITS, '\\w': LETTERS, '\\s': ' ', '.': 'abc' };

/** A set, an escape or a letter: what stands for one character. */
const CHARACTER =
  /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)|[^\\[\](){}|*+?^$]/y;
const GROUP = /\((\?(?:<?[=!])|\?:|\?<[^>]*>)?/y;
const PLACE = /\^|\$|\\[bB]/y;
const QUANTIFIER = /(?:\{(\d+)(?:(,)(\d*))?\}|([*+?]))\??/y;

/** A text for a piece of a pattern, another one each time. */
type Make = () => string;

/** What the pattern says is not known here, or too long. */
class Unmade extends Error {}

export interface TextLength {
  readonly longest: number;
  /** What may be repeated without end is repeated until it is as long by itself. */
  readonly filledTo?: number;
}

/**
 * A text that fits a regular expression. Undefined for one with back references and the like, and where the text turns out
 * not to fit, as what looks ahead is not heeded, or to be longer than `longest`.
 */
export function textForPattern(pattern: string, random: Seeded, { longest, filledTo }: TextLength): string | undefined {
  let at = 0;

  function take(expected: RegExp): RegExpExecArray | null {
    expected.lastIndex = at;
    const found = expected.exec(pattern);
    at += found?.[0].length ?? 0;
    return found;
  }

  function alternatives(): Make {
    const all: [Make, ...Make[]] = [sequence()];
    while (pattern[at] === '|') {
      at += 1;
      all.push(sequence());
    }
    const [first, ...others] = all;
    return others.length === 0 ? first : () => random.pick(all)();
  }

  function sequence(): Make {
    const parts: Make[] = [];
    while (at < pattern.length && !'|)'.includes(pattern.charAt(at))) {
      if (!take(PLACE)) parts.push(repeated(group() ?? character()));
    }
    return () => parts.reduce((text, make) => bounded(text + make()), '');
  }

  function group(): Make | undefined {
    const found = take(GROUP);
    if (!found) return undefined;
    const inside = alternatives();
    if (pattern[at] !== ')') throw new Unmade();
    at += 1;
    return /[=!]$/.test(found[1] ?? '') ? () => '' : inside;
  }

  function character(): Make {
    const [source] = take(CHARACTER) ?? [];
    if (source === undefined) throw new Unmade();
    const characters = charactersOf(source);
    return () => characters.charAt(random.integer(0, characters.length - 1));
  }

  function repeated(make: Make): Make {
    const quantifier = take(QUANTIFIER);
    if (!quantifier) return make;
    const [, least, comma, most, sign] = quantifier;
    const from = least !== undefined ? Number(least) : sign === '+' ? 1 : 0;
    const to = sign === '?' ? 1 : (comma ?? sign) === undefined ? from : most ? Number(most) : Number.POSITIVE_INFINITY;
    return () => {
      let text = '';
      for (let left = countFrom(from, to); left > 0; left -= 1) {
        const more = make();
        // However often it stands there.
        if (more === '') break;
        text = bounded(text + more);
      }
      return text;
    };
  }

  function countFrom(from: number, to: number): number {
    if (from === to) return from;
    if (filledTo !== undefined) return Math.min(to, Math.max(from, filledTo));
    return from + random.integer(0, Math.min(MOST_REPEATS, to - from));
  }

  function bounded(text: string): string {
    if (text.length > longest) throw new Unmade();
    return text;
  }

  try {
    const make = alternatives();
    const text = at === pattern.length ? make() : undefined;
    return text !== undefined && expressionOf(pattern).test(text) ? text : undefined;
  } catch (error) {
    // The engine knows less, or less deep.
    if (error instanceof Unmade || error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** As JSON Schema reads it, by code points; else as many a document has it, with escapes that these do not take. */
function expressionOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

function charactersOf(source: string): string {
  const known = KNOWN[source];
  if (known !== undefined) return known;
  if (source.length === 1) return source;
  if (/^\\[^A-Za-z0-9]$/.test(source)) return source.slice(1);
  if (/^\[[^\\^]*\]$/.test(source)) return expand(source.slice(1, -1));
  const one = new RegExp(`^${source}$`, 'u');
  const fitting = (characters: string): string => [...characters].filter((character) => one.test(character)).join('');
  return fitting(PLAIN) || fitting(PRINTABLE) || firstFitting(one);
}

/** Of those that one unit of UTF-16 holds. */
function firstFitting(one: RegExp): string {
  for (let code = 0; code < 0xd800; code += 1) {
    const character = String.fromCharCode(code);
    if (one.test(character)) return character;
  }
  throw new Unmade();
}

/** `A-Z0-9_` as all its characters. */
function expand(set: string): string {
  return set.replaceAll(/(.)-(.)/g, (_, first: string, last: string) => {
    const [from, to] = [first.charCodeAt(0), last.charCodeAt(0)];
    return Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)).join('');
  });
}
