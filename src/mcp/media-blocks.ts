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

/**
 * Characters of the files that are shown, and of the answer itself: clients throw a result away that has more than a million
 * in all (Claude Desktop: "Tool result is too large. Maximum size is 1MB"), after it was paid for.
 */
const MOST_SHOWN = 950_000;
const MOST_FILES = 10;

/** Pictures that models' APIs read: one of another kind is refused, and with it all that is said after it was shown. */
const READ_PICTURES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** An answer stands in a result twice, once as a text whose quotes are escaped. */
const TIMES_IN_RESULT = 3;

/** Every address of ours in an answer, once. */
function addressesIn(value: unknown, prefix: string, found = new Set<string>()): Set<string> {
  if (typeof value === 'string' && value.startsWith(prefix)) found.add(value);
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) addressesIn(member, prefix, found);
  return found;
}

const inBase64 = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** `body`: the answer as it is written. */
export async function mediaBlocks(answer: object, body: string, { prefix, find }: Media): Promise<Block[]> {
  let room = MOST_SHOWN - TIMES_IN_RESULT * body.length;

  async function shown(name: string): Promise<Block[]> {
    const file = find?.(name);
    if (!file || inBase64(file.size) > room) return [];
    const isSound = file.type.startsWith('audio/');
    if (!isSound && !READ_PICTURES.includes(file.type)) return [];
    room -= inBase64(file.size);
    const data = await readFile(file.path, 'base64').catch(() => undefined);
    return data === undefined ? [] : [{ type: isSound ? 'audio' : 'image', data, mimeType: file.type }];
  }

  const addresses = [...addressesIn(answer, prefix)].slice(0, MOST_FILES);
  const blocks = addresses.map(async (uri): Promise<Block[]> => {
    const name = uri.slice(prefix.length);
    const mimeType = typeOfExtension(extname(name).slice(1));
    const link: Block = { type: 'resource_link', uri, name, ...(mimeType && { mimeType }) };
    return [link, ...(await shown(name))];
  });
  return (await Promise.all(blocks)).flat();
}
