/** Files of an answer, as blocks that clients show: a link to each, and small pictures and sounds themselves. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { typeOfExtension } from '../upstream/media/type.ts';

type Block = CallToolResult['content'][0];

export interface Media {
  /** What the addresses of our files begin with. */
  readonly prefix: string;
  /** A file that is kept here; undefined where files are served from elsewhere. */
  readonly find:
    | ((name: string) => { readonly path: string; readonly type: string; readonly size: number } | undefined)
    | undefined;
}

/** Larger ones would flood a model's context. */
const LARGEST_SHOWN_BYTES = 1_048_576;
const MOST_FILES = 10;

/** Every address of ours in an answer, once. */
function addressesIn(value: unknown, prefix: string, found = new Set<string>()): Set<string> {
  if (typeof value === 'string' && value.startsWith(prefix)) found.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) addressesIn(member, prefix, found);
  return found;
}

async function shown(name: string, find: Media['find']): Promise<Block[]> {
  const file = find?.(name);
  const [kind] = file?.type.split('/') ?? [];
  if (!file || file.size > LARGEST_SHOWN_BYTES || (kind !== 'image' && kind !== 'audio')) return [];
  const data = await readFile(file.path, 'base64').catch(() => undefined);
  return data === undefined ? [] : [{ type: kind, data, mimeType: file.type }];
}

export async function mediaBlocks(answer: object, { prefix, find }: Media): Promise<Block[]> {
  const addresses = [...addressesIn(answer, prefix)].slice(0, MOST_FILES);
  const blocks = addresses.map(async (uri): Promise<Block[]> => {
    const name = uri.slice(prefix.length);
    const mimeType = typeOfExtension(extname(name).slice(1));
    const link: Block = { type: 'resource_link', uri, name, ...(mimeType && { mimeType }) };
    return [link, ...(await shown(name, find))];
  });
  return (await Promise.all(blocks)).flat();
}
