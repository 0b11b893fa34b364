/**
 * What a client wants by the address it asks: `?tools=image,token` and `?networks=chain-c` list less, and all can be called
 * either way; `?content=text` is for models that read text alone, whose APIs refuse a picture and all that comes with it.
 */
import type { NetworkId } from '../catalogue/types.ts';
import { Problem } from '../errors.ts';
import type { SoldTool } from './sold-tools.ts';

/** The value of `tools` that stands for the tools that find and call all others. */
const SEARCH = 'search';
/** The only value of `content`. */
const TEXT = 'text';

export interface Selection {
  /** Lists the tools that find and call others. */
  readonly search: boolean;
  /** Lists what costs nothing and is of use to whoever buys. */
  readonly free: boolean;
  /** Answers hold nothing but text, which names their files. */
  readonly textAlone: boolean;
  wants(tool: SoldTool): boolean;
}

const namesIn = (query: URLSearchParams, field: string): string[] | undefined =>
  query.has(field)
    ? query
        .getAll(field)
        .flatMap((value) => value.split(','))
        .map((name) => name.trim())
        .filter((name) => name !== '')
    : undefined;

function demandKnown(field: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const message = `${field}=${unknown.slice(0, 60)} is not known here: take ${known.join(', ')}`;
  throw new Problem('invalid_request', message, { details: [{ path: `/${field}`, message }] });
}

/** Throws Problem `invalid_request` for a name that nothing has. */
export function readSelection(
  query: string,
  known: { readonly groups: readonly string[]; readonly networks: readonly NetworkId[] },
): Selection {
  const fields = new URLSearchParams(query);
  const groups = namesIn(fields, 'tools');
  const networks = namesIn(fields, 'networks');
  const content = namesIn(fields, 'content');
  demandKnown('tools', groups ?? [], [SEARCH, ...known.groups]);
  demandKnown('networks', networks ?? [], known.networks);
  demandKnown('content', content ?? [], [TEXT]);
  const isIn = ({ endpoint }: SoldTool['routes'][0]) => groups === undefined || groups.includes(endpoint.group);
  // Mirrors sell the same elsewhere: only who names networks wants to see them.
  const isOn = ({ kind, networks: on }: SoldTool['routes'][0]) =>
    networks === undefined ? kind !== 'mirror' : on.some((network) => networks.includes(network));
  return {
    search: groups?.includes(SEARCH) ?? true,
    free: groups === undefined || groups.some((group) => group !== SEARCH),
    textAlone: content?.includes(TEXT) ?? false,
    wants: ({ routes: [route] }) => isIn(route) && isOn(route),
  };
}
