import type { Seeded } from './seed.ts';

const MOST_REPEATS = 4;

const classes: Readonly<Record<string, string>> = {
  d: '0123456789',
  w: 'abcdefghijklmnopqrstuvwxyz',
  s: ' ',
};

/**
 * A text that fits a plain regular expression: literals, `[...]`, `\d`, `\w`, `\s`, `.` and the quantifiers. Undefined
 * for anything else, and where the text turns out not to fit, or to be longer than `longest`.
 */
export function textForPattern(pattern: string, random: Seeded, longest: number): string | undefined {
  const body = pattern.replace(/^\^/, '').replace(/\$$/, '');
  const atom = /(?:\[([^\]^][^\]]*)\]|\\(.)|([^\\[\](){}|*+?^$]))(?:\{(\d+)(?:(,)(\d*))?\}|([*+?]))?/y;
  let text = '';
  while (atom.lastIndex < body.length) {
    const match = atom.exec(body);
    if (match === null) return undefined;
    const [, set, escaped, literal, least, comma, most, sign] = match;
    const characters =
      set !== undefined ? expand(set) : escaped !== undefined ? (classes[escaped] ?? escaped) : literal;
    const from = least !== undefined ? Number(least) : sign === undefined || sign === '+' ? 1 : 0;
    const repeats = from + (comma !== undefined || sign !== undefined ? random.integer(0, spare(from, most, sign)) : 0);
    if (text.length + repeats > longest) return undefined;
    for (let count = 0; count < repeats; count += 1)
      text += oneOf(characters === '.' ? 'abc' : (characters ?? ''), random);
  }
  return new RegExp(pattern).test(text) ? text : undefined;
}

function spare(from: number, most: string | undefined, sign: string | undefined): number {
  if (sign === '?') return 1;
  return most ? Math.min(MOST_REPEATS, Number(most) - from) : MOST_REPEATS;
}

const oneOf = (characters: string, random: Seeded): string =>
  characters.charAt(random.integer(0, characters.length - 1));

/** `A-Z0-9_` as all its characters. */
function expand(set: string): string {
  const plain = set.replaceAll(/\\([dws])/g, (_, name: string) => classes[name] ?? '').replaceAll('\\', '');
  return plain.replaceAll(/(.)-(.)/g, (_, first: string, last: string) => {
    const [from, to] = [first.charCodeAt(0), last.charCodeAt(0)];
    return Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index)).join('');
  });
}
