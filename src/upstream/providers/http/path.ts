/** Values in a path: none of them may lead to another place of the provider, where the operator's key opens as much. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { typesOf } from '../../../catalogue/endpoints/request-reads.ts';
import type { JsonSchema } from '../../../catalogue/types.ts';
import { isJsonObject } from '../../../json.ts';
import { UpstreamProblem } from '../../problem.ts';
import { firstTaken } from './first-taken.ts';

const PLACES = /\{([^{}]+)\}/g;

export const placesIn = (path: string): string[] => [...path.matchAll(PLACES)].map(([, name = '']) => name);

/** The place that a text is, and nothing else; undefined for any other text. */
export const placeAlone = (text: string): string | undefined => /^\{([^{}]+)\}$/.exec(text)?.[1];

/** Those of all texts in a value that are a place alone: others, such as GraphQL's, have braces of their own. */
export function placesInTexts(value: unknown): string[] {
  if (typeof value === 'string') return [placeAlone(value) ?? []].flat();
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(placesInTexts) : [];
}

/** The value with what is found for each text that is a place alone. */
export function filledTexts(value: unknown, find: (name: string) => string | number): unknown {
  if (typeof value === 'string') {
    const place = placeAlone(value);
    return place === undefined ? value : find(place);
  }
  if (Array.isArray(value)) return value.map((item) => filledTexts(item, find));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, filledTexts(part, find)]));
}

/** Servers undo the escapes of `..%2F` before they look at a path, so what would climb is refused and not escaped. */
const climbs = (text: string): boolean => text.split(/[/\\]/).some((step) => /^\.{0,2}$/.test(step));

/** JSON can say one; UTF-8 cannot. */
const HALF_CHARACTER = /\p{Surrogate}/u;

/**
 * The path with its places filled. Throws UpstreamProblem for a value that would lead elsewhere, or nowhere: `invalid-input`
 * where a caller gave it, `malformed` where the provider did, which may name several steps at once.
 */
export function filledPath(
  path: string,
  find: (name: string) => unknown,
  upstream: string,
  givenBy: 'caller' | 'provider' = 'caller',
): string {
  return path.replaceAll(PLACES, (_whole, name: string) => {
    const value = String(find(name) ?? '');
    if (!climbs(value) && !HALF_CHARACTER.test(value)) {
      return givenBy === 'caller' ? encodeURIComponent(value) : value.split('/').map(encodeURIComponent).join('/');
    }
    const publicMessage = `${name} cannot be empty, or hold half a character, or an empty part, . or .. between slashes`;
    const wrong = `a value of ${name} leads to another path`;
    if (givenBy === 'provider') throw new UpstreamProblem('malformed', upstream, wrong);
    throw new UpstreamProblem('invalid-input', upstream, wrong, { publicMessage });
  });
}

/** Paths on the wire are ASCII without spaces; a fragment is never sent, and braces that are left name nothing. */
const NO_PATH = /[^!-~]|[{}#]/u;

/** What stands in a path and cannot: no call could be made, or it would go elsewhere. `name` is for the message. */
export function textFaults(path: string, name: readonly string[]): OptionFault[] {
  const [wrong] = NO_PATH.exec(path.replaceAll(PLACES, '')) ?? [];
  if (wrong === undefined) return [];
  const message = `${name.join('.')} holds ${JSON.stringify(wrong)}, which no path can`;
  const expected = HALF_CHARACTER.test(wrong) ? 'leave it out' : `write ${encodeURIComponent(wrong)}`;
  return [{ path: name, message, expected }];
}

const LONGEST_TRIED = 10_000;

const CLIMBING = ['', '.', '..', 'a/', '../a', 'a/../b', '..\\a'];

/** Places whose fields take what `filledPath` refuses: callers would learn of it after they paid. */
export function pathFaults(path: string, request: JsonSchema): OptionFault[] {
  const properties = isJsonObject(request.properties) ? request.properties : {};
  return placesIn(path).flatMap((field) => {
    const schema = properties[field];
    if (!isJsonObject(schema) || schema.format === 'path-segment' || Array.isArray(schema.enum)) return [];
    if (!typesOf(schema)?.includes('string')) return [];
    const least = typeof schema.minLength === 'number' ? Math.min(Math.max(schema.minLength, 0), LONGEST_TRIED) : 0;
    const taken = firstTaken(schema, [...CLIMBING, `a/../${'b'.repeat(least)}`]);
    if (taken === undefined) return [];
    const message = `path takes ${field}, which may be ${JSON.stringify(taken)}: that leads to another path`;
    return [{ path: ['path'], message, expected: `format: path-segment for ${field}, an enum or a pattern` }];
  });
}
