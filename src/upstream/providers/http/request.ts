/** A caller's request as the provider wants it. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { typesOf } from '../../../catalogue/endpoints/request-reads.ts';
import type { Input, JsonSchema } from '../../../catalogue/types.ts';
import { fieldsTaken } from '../../../catalogue/upstreams/mapped-field.ts';
import { isJsonObject } from '../../../json.ts';
import type { UpstreamRequest } from '../../http/upstream-http.ts';
import { mapInput } from '../../input-mapping.ts';
import { UpstreamProblem } from '../../problem.ts';
import { bodyFor } from './body.ts';
import { firstTaken } from './first-taken.ts';
import { constantsOf } from './flat-fields.ts';
import type { HttpOptions } from './options.ts';
import { filledPath } from './path.ts';

type Prepared = Pick<UpstreamRequest, 'method' | 'path' | 'query' | 'headers' | 'json' | 'form' | 'parts' | 'accept'>;

/** Throws UpstreamProblem `invalid-input` for a value that cannot stand in a path or a header. */
export function requestFor(options: HttpOptions, input: Input, upstream: string): Prepared {
  const { method = 'POST', path, query, headers, status } = options;
  return {
    method,
    path: filledPath(path, (field) => input[field], upstream),
    ...(query && { query: mapInput(query, input) as NonNullable<Prepared['query']> }),
    ...(headers && { headers: headersFor(mapInput(headers, input), upstream) }),
    ...bodyFor(options, input),
    ...(status && { accept: Object.keys(status).map(Number) }),
  };
}

const HEADER_VALUE = /^[\t -~]*$/;

function headersFor(mapped: Readonly<Record<string, unknown>>, upstream: string): Record<string, string> {
  const entries = Object.entries(mapped).map(([name, value]) => [name.toLowerCase(), String(value)] as const);
  for (const [name, value] of entries) {
    if (HEADER_VALUE.test(value)) continue;
    const publicMessage = `${name} is sent in a header, which takes printable ASCII alone`;
    throw new UpstreamProblem('invalid-input', upstream, `a value cannot stand in ${name}`, { publicMessage });
  }
  return Object.fromEntries(entries);
}

/** Headers that say what a header cannot hold, or whose fields take it: callers would learn of it after they paid. */
export function headerFaults(headers: HttpOptions['headers'], request: JsonSchema): OptionFault[] {
  const properties = isJsonObject(request.properties) ? request.properties : {};
  return Object.entries(headers ?? {}).flatMap(([header, source]): OptionFault[] => {
    const wrong = constantsOf(source)
      .map(String)
      .find((text) => !HEADER_VALUE.test(text));
    if (wrong !== undefined) {
      const sent = `a header takes printable ASCII alone, and this is sent: ${JSON.stringify(wrong)}`;
      return [{ path: ['headers', header], message: sent, expected: 'write it in other characters' }];
    }
    const field = fieldsTaken(source)[0]?.field;
    const property = field === undefined ? undefined : properties[field];
    const items = isJsonObject(property) && isJsonObject(property.items) ? property.items : undefined;
    const texts = items ?? property;
    if (!isJsonObject(texts) || !typesOf(texts)?.includes('string') || Array.isArray(texts.enum)) return [];
    if (firstTaken(texts, ['a\nb', '\u2603']) === undefined) return [];
    const message = `a header takes printable ASCII alone, and ${field} takes more`;
    const expected = `pattern: "^[ -~]*$" for ${items ? `the items of ${field}` : field}`;
    return [{ path: ['headers', header], message, expected }];
  });
}
