/** Files that a provider makes, kept where its own copies cannot expire. */
import type { OptionFault } from '../../../catalogue/contracts.ts';
import type { JsonSchema } from '../../../catalogue/types.ts';
import { choices } from '../../../catalogue/yaml/suggest.ts';
import { isJsonObject } from '../../../json.ts';
import type { CallContext } from '../../adapter.ts';
import type { StoredMedia } from '../../media/store.ts';
import type { MediaKind } from '../../media/type.ts';
import { UpstreamProblem } from '../../problem.ts';

type Context = Pick<CallContext, 'media' | 'signal'>;

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
  const copy = async (address: unknown): Promise<string> => {
    if (typeof address !== 'string') throw new UpstreamProblem('malformed', upstream, 'answered no address of a file');
    const copied: StoredMedia = await media.copy(address, 'any', { upstream, signal });
    return copied.url;
  };
  const copies = fields.flatMap((field) => {
    const given = result[field];
    if (given === undefined || given === null) return [];
    return [
      Promise.all([given].flat().map(copy)).then((urls) => [field, Array.isArray(given) ? urls : urls[0]] as const),
    ];
  });
  return { ...result, ...Object.fromEntries(await Promise.all(copies)) };
}

const FORMS = ['anyOf', 'oneOf', 'allOf'];

/** Every field that a schema knows at the top of what it describes, in one of its forms at least. */
function fieldsKnown(schema: unknown): string[] {
  if (!isJsonObject(schema)) return [];
  const own = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  return [...own, ...FORMS.flatMap((form) => [schema[form] ?? []].flat().flatMap(fieldsKnown))];
}

/** Downloads of what the result does not have: nothing would be copied, and the provider's own address be sold. */
export function downloadFaults(download: readonly string[] | undefined, result: JsonSchema): OptionFault[] {
  const known = new Set(fieldsKnown(result));
  if (known.size === 0) return [];
  return (download ?? []).flatMap((field, index): OptionFault[] => {
    if (known.has(field)) return [];
    const message = `download names ${field}, which the result does not have`;
    return [{ path: ['download', index], message, expected: choices(field, known) }];
  });
}
