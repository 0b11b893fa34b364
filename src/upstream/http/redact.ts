/** Keeps keys out of logs and errors: providers like to quote the key they refuse, and not always as it was sent. */

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', apos: "'", lt: '<', gt: '>' };

/** Fewer letters of base64 could stand in any text. */
const SHORTEST_BASE64 = 8;

/** In characters. User names, and keys that are meant for trying a service, are words such as `demo`. */
const SHORTEST_IN_ANSWERS = 8;

/** Longer than any key, however it is written. */
const LONGEST_QUOTE = 2048;
const SNIPPET_BYTES = 16_384;

/** How URLs, JSON and HTML write a character otherwise; URLs and JSON also more than once. */
const ESCAPES =
  /\\+u([0-9a-f]{4})|\\+|((?:%(?:25)*[89a-f][0-9a-f])+)|%(?:25)*([0-7][0-9a-f])|&(?:#(\d{1,9})|#x([0-9a-f]{1,9})|(quot|amp|apos|lt|gt));/gi;

const MOST_KNOWN = 1000;
const known = new Map<string, readonly string[]>();

/** What base64 makes of the secret wherever it stands in what is encoded, without the letters that others share in. */
function base64Of(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const written = [0, 1, 2].map((before) => {
    const letters = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return letters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  return written.filter(({ length }) => length >= SHORTEST_BASE64);
}

const forUrls = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

const longestRun = (text: string): string =>
  (text.match(/[\w.-]+/g) ?? []).reduce((longest, run) => (run.length > longest.length ? run : longest), '');

/**
 * One of these stands in whatever quotes a secret: the longest part of it, or of what base64 makes of it, that URLs, JSON
 * and HTML leave as it is. Missed is only who writes a secret in other letters, or plain letters as escapes.
 */
const hintsOf = (secrets: readonly string[]): readonly string[] => {
  const written = secrets.flatMap((secret) => [secret, ...base64Of(secret)]);
  return [...new Set(written.map(longestRun))];
};

/** What nobody is to read. */
export interface Hidden {
  /** In logs and in what is told of a failure. */
  readonly texts: readonly string[];
  /** In what is sold: without the short ones, which would be taken for a part of it wherever their letters stand. */
  readonly inAnswers: readonly string[];
  /** Of `inAnswers`: see `hintsOf`. */
  readonly hints: readonly string[];
}

export function hiddenOf(given: readonly string[]): Hidden {
  const texts = given.filter((text) => text !== '');
  const inAnswers = texts.filter(({ length }) => length >= SHORTEST_IN_ANSWERS);
  return { texts, inAnswers, hints: hintsOf(inAnswers) };
}

const ofPoint = (point: number): string => (point <= 0x10ffff ? String.fromCodePoint(point) : '');

/** The character that an escape stands for; of backslashes before another character, nothing. */
function unescaped([, unit, bytes, byte, decimal, hexadecimal, entity]: RegExpMatchArray): string {
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
  if (bytes !== undefined) return Buffer.from(bytes.replaceAll(/%(?:25)*/g, ''), 'hex').toString('utf8');
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  if (decimal !== undefined) return ofPoint(Number(decimal));
  if (hexadecimal !== undefined) return ofPoint(Number.parseInt(hexadecimal, 16));
  return ENTITIES[entity?.toLowerCase() ?? ''] ?? '';
}

/** What every spelling has in common, as long as it was: forms write a space as +, JSON a line's end as n. */
const alike = (text: string): string =>
  text
    // The only letter that grows longer when it is written small.
    .replaceAll('İ', 'i')
    .toLowerCase()
    .replaceAll('+', ' ')
    .replaceAll('\n', 'n')
    .replaceAll('\r', 'r')
    .replaceAll('\t', 't');

interface Piece {
  /** Its place in what was made of the text. */
  readonly at: number;
  /** Where it stands in the text. */
  readonly from: number;
  readonly to: number;
  /** An escape has no places within it. */
  readonly isEscape: boolean;
}

/** The text with all that is escaped in it as it was before, and where in the text its pieces stand. */
function unfold(text: string): { readonly plain: string; readonly pieces: readonly Piece[] } {
  const pieces: Piece[] = [];
  let plain = '';
  const add = (from: number, to: number, made: string, isEscape: boolean) => {
    pieces.push({ at: plain.length, from, to, isEscape });
    plain += alike(made);
  };
  let end = 0;
  for (const match of text.matchAll(ESCAPES)) {
    add(end, match.index, text.slice(end, match.index), false);
    end = match.index + match[0].length;
    add(match.index, end, unescaped(match).replaceAll('\\', ''), true);
  }
  add(end, text.length, text.slice(end), false);
  return { plain, pieces };
}

/** What to look for in a text that is unfolded. What looks like an escape in a secret may be escaped itself. */
function traces(secrets: readonly string[]): readonly string[] {
  const name = secrets.join('\0');
  let found = known.get(name);
  if (!found) {
    const written = secrets.flatMap((secret) => [secret, ...base64Of(secret), ...base64Of(secret).map(forUrls)]);
    found = [...new Set(written.flatMap((one) => [unfold(one).plain, alike(one.replaceAll('\\', ''))]))];
    found = found.filter((one) => one !== '');
    // Tokens come and go.
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(name, found);
  }
  return found;
}

function placesOf(wanted: readonly string[], plain: string): [start: number, end: number][] {
  const places: [number, number][] = [];
  for (const one of wanted) {
    for (let at = plain.indexOf(one); at !== -1; at = plain.indexOf(one, at + one.length))
      places.push([at, at + one.length]);
  }
  return places.sort(([one], [other]) => one - other);
}

/** Takes secrets out of a text, however they are written there. */
export function redact(text: string, secrets: readonly string[]): string {
  const kept = secrets.filter((secret) => secret !== '');
  if (kept.length === 0) return text;
  const { plain, pieces } = unfold(text);
  const places = placesOf(traces(kept), plain);

  const pieceAt = (place: number, from: number): number => {
    let found = from;
    while ((pieces[found + 1]?.at ?? Number.POSITIVE_INFINITY) <= place) found += 1;
    return found;
  };
  let clean = '';
  let shown = 0;
  let reached = 0;
  for (const [start, end] of places) {
    // Never from the beginning: an answer may be nothing but quotes of a key, and all others wait meanwhile.
    reached = pieceAt(start, reached);
    const [first, last] = [pieces[reached], pieces[pieceAt(end - 1, reached)]];
    if (!first || !last) continue;
    const from = first.isEscape ? first.from : first.from + start - first.at;
    const to = last.isEscape ? last.to : last.from + end - last.at;
    // One secret may be a part of another.
    if (from >= shown) clean += `${text.slice(shown, from)}[secret]`;
    shown = Math.max(shown, to);
  }
  return clean + text.slice(shown);
}

/** The start of an answer, on one line, without secrets. */
export function snippet(body: Buffer, secrets: readonly string[]): string {
  const text = redact(body.subarray(0, SNIPPET_BYTES).toString('utf8'), secrets);
  // Where the answer goes on, its cut may have made two of a secret.
  const whole = body.length > SNIPPET_BYTES ? text.slice(0, -LONGEST_QUOTE) : text;
  return whole.replaceAll(/\s+/g, ' ').trim();
}
