/** Files of an answer, as blocks that clients show: small pictures themselves, or else a link to each file. */
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

/**
 * Pictures that models' APIs read: one of another kind is refused, and with it all that is said after it was shown. Sounds
 * are never shown: a result that has one is thrown away (`@ai-sdk/mcp`), or shown to the model as its base64
 * (`@openai/agents`).
 */
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

function linked(uri: string, name: string): Block {
  const mimeType = typeOfExtension(extname(name).slice(1));
  return { type: 'resource_link', uri, name, ...(mimeType && { mimeType }) };
}

const inBase64 = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** `body`: the answer as it is written. */
export async function mediaBlocks(answer: object, body: string, { prefix, find }: Media): Promise<Block[]> {
  let room = MOST_SHOWN - TIMES_IN_RESULT * body.length;

  async function shown(name: string): Promise<Block[]> {
    const file = find?.(name);
    if (!file || inBase64(file.size) > room) return [];
    if (!READ_PICTURES.includes(file.type)) return [];
    room -= inBase64(file.size);
    const data = await readFile(file.path, 'base64').catch(() => undefined);
    return data === undefined ? [] : [{ type: 'image', data, mimeType: file.type }];
  }

  const names = [...addressesIn(answer, prefix)].slice(0, MOST_FILES).map((uri) => uri.slice(prefix.length));
  const pictures = (await Promise.all(names.map(shown))).flat();
  // With a link beside a picture the whole result is one text to `@openai/agents`, base64 and all. The answer names its files.
  return pictures.length > 0 ? pictures : names.map((name) => linked(prefix + name, name));
}
