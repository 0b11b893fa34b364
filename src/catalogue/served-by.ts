import type { Route, UpstreamOptions } from './types.ts';

/** `chat`, or a recipe with the upstreams of its roles. */
function served({ via, recipe, uses = {} }: UpstreamOptions): string {
  if (recipe === undefined) return String(via);
  const names = [...new Set(Object.values(uses).map((use) => use.via))];
  return names.length === 0 ? recipe : `${recipe}: ${names.join(', ')}`;
}

/** Who serves a route, in the order in which they are asked: `chat; else chat-b`. */
export const servedBy = ({ upstreams }: Pick<Route, 'upstreams'>): string => upstreams.map(served).join('; else ');
