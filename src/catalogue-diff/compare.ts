/** What is different for buyers between two catalogues. */
import { isDeepStrictEqual } from 'node:util';
import { priceRange } from '../catalogue/endpoints/price-range.ts';
import { isOnSale } from '../catalogue/on-sale.ts';
import type { Catalogue, Route } from '../catalogue/types.ts';
import type { Change } from './change.ts';
import { compareRoutes } from './routes.ts';

const named = ({ methods, path }: Route): string => `${methods.join('/')} ${path}`;

/** With the routes alone that are sold: files of others are kept for what was bought of them. */
const onSale = (catalogue: Catalogue, now: number): Catalogue => ({
  ...catalogue,
  routes: catalogue.routes.filter((route) => isOnSale(route, now)),
});

/** What stays the same of a route that moves: the endpoint, and which of its routes it is. */
const identity = ({ endpoint, kind, rail, networks }: Route): string =>
  [endpoint.id, kind, rail, ...(kind === 'mirror' ? networks : [])].join(' ');

/** Old route -> new route: the one at its path, or else the same one at another path that nothing was sold at. */
function pairs(before: Catalogue, after: Catalogue): Map<Route, Route> {
  const byPath = new Map(after.routes.map((route) => [route.path, route]));
  const oldPaths = new Set(before.routes.map(({ path }) => path));
  const movable = new Set(after.routes.filter(({ path }) => !oldPaths.has(path)));
  const found = new Map<Route, Route>();
  for (const route of before.routes) {
    const now = byPath.get(route.path) ?? [...movable].find((other) => identity(other) === identity(route));
    if (!now) continue;
    movable.delete(now);
    found.set(route, now);
  }
  return found;
}

/** A route that is not in the other catalogue; `others` are the routes of that one which have a counterpart here. */
function alone(route: Route, others: Iterable<Route>): Pick<Change, 'where' | 'about'> {
  const isPartly = [...others].some(({ endpoint }) => endpoint === route.endpoint);
  return { where: named(route), about: isPartly ? 'route' : 'endpoint' };
}

/** How a rail is paid, where the catalogue says it for all of the rail's routes. */
function compareRails(before: Catalogue, after: Catalogue): Change[] {
  const [old, now] = [before.service.rails ?? {}, after.service.rails ?? {}];
  return Object.keys({ ...old, ...now })
    .filter((rail) => !isDeepStrictEqual(old[rail], now[rail]))
    .map((rail) => ({
      where: `every route of ${rail}`,
      about: 'payment',
      what: `rails.${rail} of service.yaml changed`,
      effect: 'may break',
      before: JSON.stringify(old[rail]),
      after: JSON.stringify(now[rail]),
    }));
}

/** Every change, route by route in the order of the catalogue; what is gone comes last. */
export function compareCatalogues(earlier: Catalogue, later: Catalogue): Change[] {
  const now = Date.now();
  const [before, after] = [onSale(earlier, now), onSale(later, now)];
  const paired = pairs(before, after);
  const counterpart = new Map([...paired].map(([was, is]) => [is, was]));
  const kept = after.routes.flatMap((is): Change[] => {
    const was = counterpart.get(is);
    if (!was) return [{ ...alone(is, paired.values()), what: 'new', effect: 'harmless', after: priceRange(is.price) }];
    const changes = compareRoutes({ route: was, networks: before.networks }, { route: is, networks: after.networks });
    return changes.map((change) => ({ where: named(is), ...change }));
  });
  const gone = before.routes
    .filter((route) => !paired.has(route))
    .map(
      (route): Change => ({
        ...alone(route, paired.keys()),
        what: 'gone',
        effect: 'breaks',
        before: priceRange(route.price),
      }),
    );
  return [...compareRails(before, after), ...kept, ...gone];
}
