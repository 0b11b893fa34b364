/** The body of a call: JSON, a form, or the parts of one, with files that the caller names. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import { isList, typesOf } from '../../../catalogue/endpoints/request-reads.ts';
import type { Input, JsonSchema } from '../../../catalogue/types.ts';
import { isConstant, isTaken } from '../../../catalogue/upstreams/mapped-field.ts';
import { isJsonObject } from '../../../json.ts';
import type { CallContext } from '../../adapter.ts';
import type { FormPart, UpstreamRequest } from '../../http/upstream-http.ts';
import { givenIn, mapTemplate } from '../../input-mapping.ts';
import { sniffMediaType } from '../../media/type.ts';
import { UpstreamProblem } from '../../problem.ts';
import { firstTaken } from './first-taken.ts';
import type { HttpOptions } from './options.ts';

type Body = Pick<UpstreamRequest, 'json' | 'form' | 'parts'>;

/** Without the files of `upload`, which are read when the call is made: see `withFiles`. */
export function bodyFor({ body, encoding = 'json', upload = {} }: HttpOptions, input: Input): Body {
  if (encoding === 'multipart') {
    const sent = body === 'input' ? without(Object.values(upload), input) : mapTemplate(body, input);
    return { parts: formPairs(sent).map(([name, value]) => ({ name, value })) };
  }
  if (body === undefined) return {};
  const sent = body === 'input' ? input : (mapTemplate(body, input) ?? {});
  return encoding === 'form' ? { form: formPairs(sent) } : { json: sent };
}

const without = (fields: readonly string[], input: Input): Input =>
  Object.fromEntries(Object.entries(input).filter(([field]) => !fields.includes(field)));

/**
 * The fields of a form. A list repeats its name, as browsers have it. What has members is written in brackets, as PHP, Rails
 * and Stripe read it: `card[owner][name]`, `items[0][price]`, `card[tags][]`. What a caller clears, by null or an empty list,
 * is sent as an empty text.
 */
function formPairs(body: unknown): [name: string, value: string][] {
  const members = isJsonObject(body) ? Object.entries(body) : [];
  return members.flatMap(([name, value]) => pairsOf(name, value, name));
}

/** `listName`: what the items of a list are called. */
function pairsOf(name: string, value: unknown, listName = `${name}[]`): [name: string, value: string][] {
  if (value === undefined) return [];
  if (value === null || (Array.isArray(value) && value.length === 0)) return [[name, '']];
  if (Array.isArray(value)) {
    const hasParts = value.some((item) => typeof item === 'object' && item !== null);
    return value.flatMap((item, index) => pairsOf(hasParts ? `${name}[${index}]` : listName, item));
  }
  if (!isJsonObject(value)) return [[name, String(value)]];
  return Object.entries(value).flatMap(([member, part]) => pairsOf(`${name}[${member}]`, part));
}

/** Bytes of all files of a call: they are held in memory until it is over. */
const LARGEST = 25 * 1024 * 1024;

/** The request with the files whose addresses the caller gave. Throws UpstreamProblem. */
export async function withFiles<Request extends Body>(
  request: Request,
  { upload = {} }: HttpOptions,
  input: Input,
  upstream: string,
  { downloads, caller, signal }: Pick<CallContext, 'downloads' | 'caller' | 'signal'>,
): Promise<Request> {
  if (Object.keys(upload).length === 0) return request;
  const options = { upstream, givenBy: 'caller', caller, signal, maxBytes: LARGEST } as const;
  const given = Object.entries(upload).flatMap(([name, field]) =>
    [givenIn(input, field) ?? []].flat().map((address) => [name, String(address)] as const),
  );
  const parts = [...(request.parts ?? [])];
  let left = LARGEST;
  // One after another: a few at a time are read for a caller, whose other calls have files as well.
  for (const [name, address] of given) {
    const bytes = await downloads.download(address, options);
    left -= bytes.length;
    if (left < 0) {
      const publicMessage = `The files have more than ${LARGEST} bytes together`;
      throw new UpstreamProblem('invalid-input', upstream, 'the files of a call are too large', { publicMessage });
    }
    parts.push({ name, value: fileOf(bytes, address) });
  }
  return { ...request, parts };
}

/** With the name that its address ends in: servers go by its extension, and what the bytes are is surer. */
function fileOf(bytes: Buffer, address: string): FormPart['value'] {
  const media = sniffMediaType(bytes);
  const bare = media ? `file.${media.extension}` : 'file';
  const type = media?.type ?? 'application/octet-stream';
  if (media && media.kind !== 'document') return { bytes, fileName: bare, type };
  // Papers are told apart by their names.
  const name = new URL(address).pathname.split('/').at(-1) ?? '';
  return { bytes, fileName: /^[\w.-]{1,100}$/.test(name) ? name : bare, type };
}

/** Bodies that cannot be written as they are wanted, and files that no request names. */
export function bodyFaults(
  { method, body, encoding, upload, headers = {} }: HttpOptions,
  request: JsonSchema,
): OptionFault[] {
  const faults: OptionFault[] = [];
  const add = (path: string[], message: string, expected: string) => faults.push({ path, message, expected });
  const isSent = body !== undefined || upload !== undefined;
  if (method === 'GET' && isSent) {
    add([body === undefined ? 'upload' : 'body'], 'a GET request has no body', 'query, or another method');
  }
  if (typeof body === 'string' && body !== 'input') add(['body'], `${body} is no body`, 'input, or a map of fields');
  if (encoding !== undefined && !isSent)
    add(['encoding'], 'there is no body to be written', 'add body, or leave it out');
  const properties = isJsonObject(request.properties) ? request.properties : {};
  const isForm = encoding === 'form' || encoding === 'multipart';
  if (isForm && body !== undefined && !hasNames(body, properties)) {
    add(['body'], 'a form has fields, and this body has none', 'input, or a map of fields');
  }
  const type = Object.keys(headers).find((name) => name.toLowerCase() === 'content-type');
  if (isForm && type !== undefined) add(['headers', type], 'encoding says the type of the body', 'leave it out');
  if (upload !== undefined && encoding !== 'multipart') {
    add(['upload'], 'a file is a part of a body', 'add encoding: multipart');
  }
  for (const [part, field] of Object.entries(upload ?? {})) {
    const fault = addressFault(field, properties[field]);
    if (fault) add(['upload', part], ...fault);
  }
  return faults;
}

const NO_ADDRESSES = ['no address', 'http://example.com/', 'https://example.com/a b'];

/** What a field takes that is no address: callers would learn of it after they paid. */
function addressFault(field: string, schema: unknown): [message: string, expected: string] | undefined {
  const types = typesOf(schema);
  // What the request does not have, or what takes anything, is reported with the request itself.
  if (!isJsonObject(schema) || types === undefined) return undefined;
  const other = types.find((type) => type !== 'string' && type !== 'string[]');
  const reads = `upload reads the file at ${field}, which may be`;
  if (other !== undefined) return [`${reads} ${other}`, 'name a field that is a text, or a list of texts'];
  if (types.some(isList) && schema.maxItems === undefined) {
    return [`upload reads every file that ${field} names, however many`, `maxItems for ${field}`];
  }
  const texts = isJsonObject(schema.items) ? schema.items : schema;
  const taken = Array.isArray(texts.enum) ? undefined : firstTaken(texts, NO_ADDRESSES);
  if (taken === undefined) return undefined;
  return [`${reads} ${JSON.stringify(taken)}`, 'format: uri, and pattern: ^https:// for it'];
}

/** Whether what a body is mapped to is an object whatever the request. */
function hasNames(body: unknown, properties: Readonly<Record<string, unknown>>): boolean {
  if (body === 'input') return true;
  if (isTaken(body)) return typesOf(properties[body.from])?.every((type) => type === 'object') === true;
  return isConstant(body) ? isJsonObject(body.value) : isJsonObject(body);
}
