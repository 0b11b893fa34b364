/** What the estimate makes of single characters, neighbours and texts, to a hundredth of a token. */
import * as fc from 'fast-check';
import t from 'tap';
import { characterTokens, furtherTokens, joinLevel, spaceTokens } from '../../src/pricing/token-costs.ts';
import { heaviestText, tokensOf, tokenWeight } from '../../src/pricing/token-estimate.ts';

/** Hundredths of tokens. */
const WEIGHTS: readonly (readonly [text: string, weight: number])[] = [
  ['', 0],
  ['a', 100],
  ['th', 140],
  ['the', 140],
  ['there', 189],
  ['Hello world', 432],
  // Blanks: alone, in a row, before a word, a line's end, a tab, an emoji and nothing.
  [' ', 100],
  ['   ', 202],
  ['a  b', 300],
  ['a   b', 302],
  ['a  ', 300],
  ['end   ', 322],
  ['   \n', 204],
  [' \t', 200],
  ['  \t', 202],
  [' \n\t', 300],
  ['  👍', 300],
  ['\tif', 205],
  ['\t\t\tif', 247],
  ['\n\n\n\n', 121],
  ['a\n', 200],
  ['a\t', 200],
  ['a\r\nb', 330],
  ['\r\r', 150],
  ['\n\r', 200],
  ['\t\r', 200],
  ['\r\t', 200],
  ['\r\n\r\n', 225],
  ['\r\n\n', 200],
  // Signs take a line feed behind them, but no tab and no carriage return.
  ['};\n', 145],
  ['};\r\n', 265],
  [';\n\n', 140],
  [';\t', 200],
  [';\r', 240],
  // Before some characters a space is a token of its own.
  [' 7', 200],
  [' \u0ac0', 300],
  // Digits, runs of one character, pieces that are no words.
  ['1', 100],
  ['000', 100],
  ['999', 100],
  ['0909', 200],
  ['1234567', 300],
  ['12a34', 300],
  ['x86_64', 400],
  ['aaaaaaaa', 450],
  ['aaaaaaaaaaaa', 650],
  ['AAAA', 250],
  ['aa a', 250],
  ['QQ', 200],
  ['========', 300],
  ['@@@', 240],
  ['{{{{', 280],
  ['\u0001\u0001\u0001', 300],
  ['qwrtpsdfghjklzxcvbnm', 1400],
  ['antidisestablishmentarianism', 1542],
  ['достопримечательность', 1107],
  ['3f7a9c2e51d0b846', 1300],
  ['TG9yZW0gaXBzdW0=', 1385],
  // Other scripts, pairs of units and halves of them.
  ['漢漢漢', 300],
  ['привет, мир', 591],
  ['नमस्ते', 440],
  ['สวัสดี', 480],
  ['naïve café', 580],
  ['e\u0301', 200],
  ['ﷺ', 200],
  ['\ue000', 200],
  ['——', 150],
  ['———————', 650],
  ['👍👍', 200],
  ['👩‍🚀', 500],
  ['𝒜', 300],
  ['𐀀', 400],
  ['\ud800', 300],
  ['a\ud83d', 400],
  ['\ud83da', 400],
  ['{"a":[1,2]}', 880],
];

t.test('a text weighs what it weighed before: prices do not change by accident', async (t) => {
  for (const [text, weight] of WEIGHTS) t.equal(tokenWeight(text), weight, JSON.stringify(text));
});

t.test('no text weighs more than its bytes, whole texts no less than their parts need', async (t) => {
  const texts = fc.string({ unit: 'binary', maxLength: 60 });
  const spaced = fc.array(fc.constantFrom(' ', '1', 'a', '\n', '\r', '漢', '\u0b40', '😀'), { maxLength: 60 });
  t.doesNotThrow(() => {
    const isWithin = (text: string) => tokenWeight(text) <= heaviestText(Buffer.byteLength(text));
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          spaced.map((units) => units.join('')),
        ),
        isWithin,
      ),
      { numRuns: 300 },
    );
  });
});

t.test('a byte weighs a token at most, and a part of a token is rounded up', async (t) => {
  t.equal(heaviestText(7), 700);
  t.strictSame([0, 1, 100, 101].map(tokensOf), [0, 1, 1, 2]);
});

t.test('a character is one to three tokens, and a space before it none, one or two', async (t) => {
  const counts = (of: (code: number) => number, values: readonly number[]): number[] => {
    const found = Array.from({ length: 0x10000 }, (_, code) => of(code));
    return values.map((value) => found.filter((one) => one === value).length);
  };
  t.strictSame(counts(characterTokens, [1, 2, 3]), [7291, 31_552, 26_693]);
  t.strictSame(counts(spaceTokens, [0, 1, 2]), [41_627, 23_699, 210]);
  const known: readonly (readonly [character: string, tokens: number, space: number])[] = [
    ['\0', 1, 1],
    ['7', 1, 1],
    ['a', 1, 0],
    ['é', 1, 0],
    ['\u0082', 2, 0],
    ['\u0801', 3, 0],
    ['\u0ac0', 1, 2],
    ['漢', 1, 1],
    ['\uffff', 2, 1],
  ];
  for (const [character, tokens, space] of known) {
    const code = character.charCodeAt(0);
    t.strictSame([characterTokens(code), spaceTokens(code)], [tokens, space], `U+${code.toString(16)}`);
  }
});

t.test('beyond the first plane a character is a token a byte, but for emoji and mathematical letters', async (t) => {
  const costs = (...codes: readonly number[]) => codes.map(furtherTokens);
  t.strictSame(costs(0x10000, 0x13000, 0x20000), [4, 4, 4]);
  t.strictSame(costs(0x1d3ff, 0x1d400, 0x1d7ff, 0x1d800), [4, 3, 3, 4]);
  t.strictSame(costs(0x1efff, 0x1f000, 0x1f44d, 0x1fbff, 0x1fc00), [4, 3, 1, 3, 4]);
});

t.test('neighbours are known at the level at which words hold them', async (t) => {
  const levels = (...pairs: readonly string[]) => pairs.map((two) => joinLevel(two.charCodeAt(0), two.charCodeAt(1)));
  t.strictSame(levels('zq', 'Th', '""', 'az', 'th', 'in'), [1, 3, 3, 4, 5, 6]);
  t.strictSame(levels('aé', 'éa', 'ой', 'ри', '人的', 'ます'), [1, 2, 3, 4, 1, 2]);
  // Held by no word, or with a blank between two words.
  t.strictSame(levels('qx', 'tH', 'e ', '  ', '\n\n', '的人'), [0, 0, 0, 0, 0, 0]);
});

/** Of all pairs of a block, so many at each level, from 0. */
const NEIGHBOURS: readonly (readonly [name: string, first: number, last: number, levels: readonly number[]])[] = [
  ['ASCII', 0, 0x7f, [14_045, 525, 1041, 443, 174, 127, 29]],
  ['accents', 0xc0, 0x17f, [36_837, 14, 12, 1, 0, 0, 0]],
  ['Greek', 0x370, 0x3ff, [20_501, 99, 136, 0, 0, 0, 0]],
  ['Cyrillic', 0x400, 0x45f, [8541, 145, 349, 134, 47, 0, 0]],
  ['Arabic', 0x620, 0x64f, [1724, 154, 365, 58, 2, 1, 0]],
  ['Devanagari', 0x900, 0x97f, [15_830, 232, 299, 23, 0, 0, 0]],
  ['Georgian', 0x10d0, 0x10ff, [2005, 100, 180, 19, 0, 0, 0]],
];

t.test('no neighbours of a script are forgotten, and none are made up', async (t) => {
  for (const [name, first, last, levels] of NEIGHBOURS) {
    const counts = levels.map(() => 0);
    for (let one = first; one <= last; one++) {
      for (let other = first; other <= last; other++) {
        const level = joinLevel(one, other);
        counts[level] = (counts[level] ?? 0) + 1;
      }
    }
    t.strictSame(counts, levels, name);
  }
});
