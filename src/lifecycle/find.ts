import type { Route } from '../catalogue/types.ts';
import { Problem } from '../errors.ts';

export interface RouteFinder {
  /** Whether something is sold at the path, by any method. */
  has(path: string): boolean;
  /** Whether exactly this is sold. */
  sells(method: string, path: string): boolean;
  /** The rail on which something is sold at the path. */
  railOf(path: string): string | undefined;
  /** The id of the route at the path, by any method. */
  idOf(path: string): string | undefined;
  /** As many bytes as a body may have at the path; 0 where nothing is sold. */
  bodyLimitOf(path: string): number;
  /** Throws Problem `unknown_path`, or `method_not_allowed` with `Allow`. */
  find(method: string, path: string): Route;
}

/** Looks paths up in a map, so that ten times the endpoints cost nothing. */
export function createRouteFinder(routes: readonly Route[]): RouteFinder {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return {
    has: (path) => byPath.has(path),
    sells: (method, path) => byPath.get(path)?.methods.some((each) => each === method) ?? false,
    idOf: (path) => byPath.get(path)?.id,
    railOf: (path) => byPath.get(path)?.rail,
    bodyLimitOf: (path) => byPath.get(path)?.bodyLimitBytes ?? 0,
    find(method, path) {
      const route = byPath.get(path);
      if (!route)
        throw new Problem('unknown_path', `No endpoint is sold at ${path.slice(0, 200)}: see /x402-resources`);
      if (!(route.methods as readonly string[]).includes(method)) {
        const allow = route.methods.join(', ');
        throw new Problem('method_not_allowed', `${path} takes ${allow}`, { headers: { allow } });
      }
      return route;
    },
  };
}
