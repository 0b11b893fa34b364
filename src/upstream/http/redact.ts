/** Keeps keys out of logs and errors: providers like to quote the key they refuse, and not always as it was sent. */

const ENTITIES: Readonly<Record<string, string>> = { '"': 'quot', '&': 'amp', "'": 'apos', '<': 'lt', '>': 'gt' };
const ESCAPES: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't' };

/** Fewer letters of base64 could stand in any text. */
const SHORTEST_BASE64 = 8;

/** Longer than any key, however it is written. */
const LONGEST_QUOTE = 2048;
const SNIPPET_BYTES = 16_384;

const patterns = new Map<string, RegExp>();

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');

/** One character: as it is, or escaped for a URL, for JSON or for HTML; for URLs and JSON also more than once. */
function spellings(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return `(?:${[
    `\\\\{0,8}${character.replace(/[\^$\\.*+?()[\]{}|/]/, '\\$&')}`,
    [...Buffer.from(character)].map((byte) => `%(?:25){0,3}${hex(byte, 2)}`).join(''),
    units.map((unit) => `\\\\{1,8}u${hex(unit, 4)}`).join(''),
    `&(?:#0{0,6}${point}|#x0{0,6}${hex(point, 1)}${character in ENTITIES ? `|${ENTITIES[character]}` : ''});`,
    ...(character in ESCAPES ? [`\\\\{1,8}${ESCAPES[character]}`] : []),
    ...(character === ' ' ? ['\\+'] : []),
  ].join('|')})`;
}

/** What base64 makes of the secret wherever it stands in what is encoded, without the letters that others share in. */
function base64Of(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const standard = [0, 1, 2].map((before) => {
    const letters = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return letters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const urlSafe = standard.map((letters) => letters.replaceAll('+', '-').replaceAll('/', '_'));
  return [...standard, ...urlSafe].filter(({ length }) => length >= SHORTEST_BASE64);
}

function patternOf(secrets: readonly string[]): RegExp {
  const known = secrets.join('\0');
  let pattern = patterns.get(known);
  if (!pattern) {
    // The longest first: of two secrets, one may be the beginning of the other.
    const written = [...new Set(secrets.flatMap((secret) => [secret, ...base64Of(secret)]))];
    written.sort((one, other) => other.length - one.length);
    pattern = new RegExp(written.map((one) => [...one].map(spellings).join('')).join('|'), 'giu');
    patterns.set(known, pattern);
  }
  return pattern;
}

/** Takes secrets out of a text, however they are written there. */
export function redact(text: string, secrets: readonly string[]): string {
  const kept = secrets.filter((secret) => secret !== '');
  return kept.length === 0 ? text : text.replace(patternOf(kept), '[secret]');
}

/** The start of an answer, on one line, without secrets. */
export function snippet(body: Buffer, secrets: readonly string[]): string {
  const text = redact(body.subarray(0, SNIPPET_BYTES).toString('utf8'), secrets);
  // Where the answer goes on, its cut may have made two of a secret.
  const whole = body.length > SNIPPET_BYTES ? text.slice(0, -LONGEST_QUOTE) : text;
  return whole.replaceAll(/\s+/g, ' ').trim();
}
