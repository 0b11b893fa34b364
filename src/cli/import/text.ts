/** Texts of a document as names and descriptions of a catalogue. */

/** As clouds name the parts of the world that their services are in: `eu-west-1`. */
export const REGION = '[a-z]+(?:-[a-z]+)+-\\d+';

/** `getWeather_byCity` is `get-weather-by-city`. */
export const kebab = (text: string): string =>
  text
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');

/** The name of a request field: `X-Trace-Id` is `X_Trace_Id`, `filter[name]` is `filter_name`. */
export const fieldName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9_]+/g, '_').replaceAll(/^_+(?=.)|(?<=.)_+$/g, '') || 'value';

/** `list-open-pets` is `List open pets`. */
export const words = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');

/** The first sentence of a text, without Markdown's stars and links; a bracket ends where another begins, so that each is looked at once. */
export const firstSentence = (text: string): string => {
  const [plain = ''] = text.replaceAll(/\*\*?|\[([^[\]]*)\]\([^()]*\)/g, '$1').split(/\n\s*\n/);
  return /^.*?\.(?=\s|$)/s.exec(plain.trim())?.[0].replace(/\.$/, '') ?? plain;
};

const TAGS =
  /<\/?(?:a|b|br|code|div|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|table|tbody|td|th|thead|tr|ul)\b[^<>]*>/gi;

/** On one line without HTML's tags, and cut after a sentence, or a word, where it is longer. */
export function shortened(text: string, longest: number): string {
  const line = text.replaceAll(TAGS, ' ').replaceAll(/\s+/g, ' ').trim();
  if (line.length <= longest) return line;
  const cut = line.slice(0, longest - 3);
  const sentence = cut.lastIndexOf('. ');
  if (sentence > longest / 2) return cut.slice(0, sentence + 1);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), longest / 2))}...`;
}

/** A name that is not taken: `pet`, `pet-2`, `pet-3`. Takes it. */
export function untaken(name: string, taken: Set<string>, separator: string): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) free = `${name}${separator}${count}`;
  taken.add(free);
  return free;
}
