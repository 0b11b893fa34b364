/** Files that a provider makes, kept where its own copies cannot expire. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import type { JsonSchema } from '../../../catalogue/types.ts';
import { choices } from '../../../catalogue/yaml/suggest.ts';
import { isJsonObject, type JsonObject } from '../../../json.ts';
import type { CallContext } from '../../adapter.ts';
import { base64In } from '../../media/data-url.ts';
import type { StoredMedia } from '../../media/store.ts';
import type { MediaKind } from '../../media/type.ts';
import { UpstreamProblem } from '../../problem.ts';
import type { HttpOptions } from './options.ts';

type Context = Pick<CallContext, 'media' | 'signal'>;

const MIB = 1024 * 1024;
/** Bytes of an answer that is such a file: it is held in memory, and more than once. */
export const LARGEST_FILE: Readonly<Record<MediaKind, number>> = {
  image: 40 * MIB,
  audio: 80 * MIB,
  video: 100 * MIB,
  document: 40 * MIB,
};

/** What every result that is a file has. */
export const fileAnswers = (kind: MediaKind): readonly string[] => [`${kind}_url`, 'type', 'bytes'];

/** `{ image_url, type, bytes }`. */
export async function fileResult(
  base64: string,
  kind: MediaKind,
  upstream: string,
  { media }: Context,
): Promise<unknown> {
  const { url, type, bytes } = await media.put(Buffer.from(base64, 'base64'), kind, upstream);
  return { [`${kind}_url`]: url, type, bytes: bytes.length };
}

/** The result with the files of these fields copied: each an address, or a list of them; one that is not there is left. */
export async function withCopies(
  result: unknown,
  fields: readonly string[],
  upstream: string,
  { media, signal }: Context,
): Promise<unknown> {
  if (!isJsonObject(result)) throw new UpstreamProblem('malformed', upstream, 'no object to download files of');
  const copy = async (_field: string, address: unknown): Promise<string> => {
    if (typeof address !== 'string') throw new UpstreamProblem('malformed', upstream, 'answered no address of a file');
    const copied: StoredMedia = await media.copy(address, 'any', { upstream, signal });
    return copied.url;
  };
  return { ...result, ...(await eachFile(result, fields, copy)) };
}

/** The result with the files kept that these fields hold in base64, as such or as a data URL: each is an address now. */
export async function withDecoded(
  result: unknown,
  kinds: Readonly<Record<string, MediaKind>>,
  upstream: string,
  { media }: Pick<Context, 'media'>,
): Promise<unknown> {
  const fields = Object.keys(kinds);
  if (fields.length === 0) return result;
  if (!isJsonObject(result)) throw new UpstreamProblem('malformed', upstream, 'no object to decode files of');
  const keep = async (field: string, text: unknown): Promise<string> => {
    const base64 = typeof text === 'string' ? (base64In(text) ?? text) : '';
    const kept = await media.put(Buffer.from(base64, 'base64'), kinds[field] ?? 'any', upstream);
    return kept.url;
  };
  return { ...result, ...(await eachFile(result, fields, keep)) };
}

/** What becomes of these fields of a result, each one file or a list of them; one that is not there is left. */
async function eachFile(
  result: JsonObject,
  fields: readonly string[],
  store: (field: string, file: unknown) => Promise<string>,
): Promise<JsonObject> {
  const stored = fields.flatMap((field) => {
    const given = result[field];
    if (given === undefined || given === null) return [];
    const urls = Promise.all([given].flat().map((file) => store(field, file)));
    return [urls.then((all) => [field, Array.isArray(given) ? all : all[0]] as const)];
  });
  return Object.fromEntries(await Promise.all(stored));
}

const FORMS = ['anyOf', 'oneOf', 'allOf'];

/** Every field that a schema knows at the top of what it describes, in one of its forms at least. */
function fieldsKnown(schema: unknown): string[] {
  if (!isJsonObject(schema)) return [];
  const own = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return [...own, ...FORMS.flatMap((form) => [schema[form] ?? []].flat().flatMap(fieldsKnown))];
}

/** Files of what the result does not have: nothing would be kept, and what the provider answers be sold. */
export function fileFaults({ download = [], decode = {} }: HttpOptions, result: JsonSchema): OptionFault[] {
  const known = new Set(fieldsKnown(result));
  if (known.size === 0) return [];
  const named: readonly { readonly field: string; readonly path: readonly (string | number)[] }[] = [
    ...download.map((field, index) => ({ field, path: ['download', index] })),
    ...Object.keys(decode).map((field) => ({ field, path: ['decode', field] })),
  ];
  return named.flatMap(({ field, path }): OptionFault[] => {
    if (known.has(field)) return [];
    const message = `${path[0]} names ${field}, which the result does not have`;
    return [{ path, message, expected: choices(field, known) }];
  });
}
