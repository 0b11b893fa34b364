/** What comes back from an API that has no adapter of its own. */
import { XMLParser } from 'fast-xml-parser';
import { isJsonObject } from '../../../json.ts';
import { charsetOf } from '../../http/charset.ts';
import type { UpstreamResponse } from '../../http/upstream-http.ts';
import { evaluate, namesMembers } from '../../jmespath.ts';
import { UpstreamProblem } from '../../problem.ts';
import { numbersAsText } from './as-text.ts';
import { type Answering, resultExpression } from './options.ts';

/** `asText`: elements that stay texts although they look like numbers. */
const xmlParser = (asText: readonly string[]): XMLParser =>
  new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '',
    ignoreDeclaration: true,
    // Characters may be written as their numbers. Those named as in HTML are none without a DOCTYPE, and no harm.
    htmlEntities: true,
    // Postcodes, telephone numbers and colours are no numbers.
    numberParseOptions: { leadingZeros: false, hex: false, skipLike: /^\+/ },
    tagValueProcessor: (name, value) => (asText.includes(name) ? undefined : value),
  });

type Reading = Pick<Answering, 'asText' | 'result' | 'failed' | 'poll'>;

/**
 * The answer as a value: JSON, a text as a string, XML as an object of its elements and attributes. No answer at all is
 * null. `asText`: see `numbersAsText`; in XML, elements. Throws UpstreamProblem `malformed`.
 */
export function readAnswer(response: UpstreamResponse, upstream: string, reading: Reading): unknown {
  const { asText } = reading;
  const type = (response.headers['content-type'] ?? 'application/json').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const json = () => response.json(asText && ((text) => numbersAsText(text, asText)));
  if (response.body.length === 0) return null;
  if (/^(?:application|text)\/json$|\+json$/.test(type)) return json();
  if (/^(?:application|text)\/(?:.+\+)?xml$/.test(type)) {
    return readXml(textOf(response, upstream), upstream, asText);
  }
  if (mayBeJson(type, response.body, reading)) {
    try {
      return json();
    } catch {
      // A text that begins like it.
    }
  }
  if (type.startsWith('text/')) return textOf(response, upstream);
  throw new UpstreamProblem('malformed', upstream, `answered ${type}: a file needs result: { file: ... }`);
}

/** Many a server calls its JSON a page, a script or a file; and a plain text, which it is unless its members are asked for. */
function mayBeJson(type: string, body: Buffer, reading: Reading): boolean {
  if (!/^(?:\ufeff)?\s*[[{]/.test(body.toString('utf8', 0, 100))) return false;
  if (type !== 'text/plain') return /^text\/(?:html|(?:x-)?javascript)$|^(?!text\/)/.test(type);
  const expressions = [resultExpression(reading), reading.failed, reading.poll?.until];
  return expressions.some((expression) => expression !== undefined && namesMembers(expression));
}

/** Throws UpstreamProblem `malformed` for an answer that is compressed, which nobody asked for: its bytes would be taken for the text. */
export function demandPlain({ headers }: Pick<UpstreamResponse, 'headers'>, upstream: string): void {
  const coding = headers['content-encoding'] ?? '';
  // Some servers name characters or nothing here.
  if (!/\b(?:gzip|compress|deflate|br|zstd)\b/i.test(coding)) return;
  throw new UpstreamProblem('malformed', upstream, 'answered compressed where nobody asked for that', {
    providerMessage: coding,
  });
}

const XML_ENCODING = /^<\?xml[^>]*\sencoding=["']([^"']+)/;

/** In the characters that its type names, or that XML says itself; else UTF-8. */
function textOf(response: UpstreamResponse, upstream: string): string {
  const { body } = response;
  demandPlain(response, upstream);
  const named = charsetOf(response) ?? XML_ENCODING.exec(body.toString('latin1', 0, 200))?.[1];
  try {
    return new TextDecoder(named).decode(body);
  } catch (error) {
    throw new UpstreamProblem('malformed', upstream, 'answered in characters that nobody knows', { cause: error });
  }
}

/** More than anybody sets a tag's end in by. */
const MOST_BLANKS = 100;

/**
 * The parser looks through blanks within a tag once from each of them, where no name comes behind: what has many there is
 * read with one.
 */
const withFewBlanks = (text: string): string =>
  text.replaceAll(/\s+/g, (blanks, at: number) =>
    blanks.length > MOST_BLANKS && '=/>'.includes(text.charAt(at + blanks.length)) ? ' ' : blanks,
  );

function readXml(text: string, upstream: string, asText: readonly string[] = []): unknown {
  // Entities of a document's own can make gigabytes of a line.
  if (/<!DOCTYPE/i.test(text)) throw new UpstreamProblem('malformed', upstream, 'answered XML with a DOCTYPE');
  try {
    return xmlParser(asText).parse(withFewBlanks(text), true);
  } catch (error) {
    throw new UpstreamProblem('malformed', upstream, 'answered XML that cannot be read', { cause: error });
  }
}

/**
 * The result that an expression makes of an answer; members for which it finds nothing are left out. Throws UpstreamProblem
 * `malformed` where it finds nothing for any of them, and where the answer is a text that has nothing of it.
 */
export function mapAnswer(expression: string | undefined, answer: unknown, upstream: string): unknown {
  if (expression === undefined) return answer;
  const found = evaluate(expression, answer, upstream);
  // Whether null is a result, its schema says: but no page of maintenance makes one.
  const isResult = found === null ? typeof answer !== 'string' : !isNothing(found);
  if (isResult) return withoutNothing(found);
  throw new UpstreamProblem('malformed', upstream, `the answer holds nothing of ${expression}`);
}

/** An empty object is something: the answer has it. */
function isNothing(value: unknown): boolean {
  if (!isJsonObject(value)) return value === null;
  const members = Object.values(value);
  return members.length > 0 && members.every(isNothing);
}

function withoutNothing(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNothing);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNothing(member)]));
}
