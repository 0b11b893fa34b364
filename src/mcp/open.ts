/** The door of one catalogue: its tools, its documents, and who may come. */
import type { JSONObject } from '@modelcontextprotocol/server';
import type { Catalogue, Network, NetworkId, Route } from '../catalogue/types.ts';
import type { Limits } from '../limits/limits.ts';
import type { Purchases } from '../purchases/purchases.ts';
import type { Ended } from '../request/visit.ts';
import type { CallParts } from './call.ts';
import { createDoor, type Door } from './door.ts';
import type { Media } from './media-blocks.ts';
import type { ServerParts } from './server.ts';
import { createSoldTools, type SoldTools } from './sold-tools.ts';
import { createToolbox } from './toolbox.ts';

interface OpenParts extends CallParts, Pick<ServerParts, 'documents' | 'publicUrl' | 'log'> {
  readonly ended: Ended;
  readonly catalogue: Pick<Catalogue, 'service' | 'version'>;
  readonly routes: readonly Route[];
  /** What was offered and is sold no more: its payments are honoured. */
  readonly withdrawn: readonly Route[];
  readonly networks: ReadonlyMap<NetworkId, Network>;
  readonly media: Media;
  readonly purchases: Purchases;
  readonly limits: Pick<Limits, 'gate'>;
  /** Of catalogues before, the newest first. */
  earlier(): readonly Pick<SoldTools, 'find'>[];
}

/** `tools` finds what is and was sold, for catalogues after this one. */
export interface OpenDoor extends Door {
  readonly tools: Pick<SoldTools, 'find'>;
  /** Of what is sold now. */
  readonly nameOf: SoldTools['nameOf'];
}

/** Names of this machine: who runs the gateway here may ask it by any of them. */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Room for what stands around the arguments of the largest call. */
const AROUND_ARGUMENTS_BYTES = 65_536;

export function openDoor(parts: OpenParts): OpenDoor {
  const { catalogue, routes, networks, rails, publicUrl } = parts;
  const { service, version } = catalogue;
  const sold = createSoldTools(routes, networks);
  const withdrawn = createSoldTools(parts.withdrawn, networks);
  const findEarlier: SoldTools['find'] = (name) =>
    [withdrawn, ...parts.earlier()].map((tools) => tools.find(name)).find((tool) => tool !== undefined);
  const own = [...LOOPBACK, new URL(publicUrl).hostname];
  const door = createDoor({
    ...parts,
    toolbox: createToolbox({ ...parts, sold, findEarlier }),
    service,
    version,
    experimental: Object.assign({}, ...[...rails.values()].map(({ mcp }) => mcp.capabilities)) as Record<
      string,
      JSONObject
    >,
    groups: [...new Set(routes.map(({ endpoint }) => endpoint.group))],
    networks: [...networks.keys()],
    hosts: own,
    origins: [...own, ...(service.mcp?.origins ?? [])],
    bodyLimitBytes: Math.max(0, ...routes.map(({ bodyLimitBytes }) => bodyLimitBytes)) + AROUND_ARGUMENTS_BYTES,
  });
  return { ...door, nameOf: sold.nameOf, tools: { find: (name) => sold.find(name) ?? withdrawn.find(name) } };
}
