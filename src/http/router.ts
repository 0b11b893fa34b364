import type { Route } from '../catalogue/types.ts';
import { Problem } from '../errors.ts';

export interface Router {
  /** Whether something is sold at the path with that method. */
  sells(method: string, path: string): boolean;
  /** Throws Problem `unknown_path`, or `method_not_allowed` with `Allow`. */
  find(method: string, path: string): Route;
}

/** Looks paths up in a map, so that ten times the endpoints cost nothing. */
export function createRouter(routes: readonly Route[]): Router {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  return {
    sells: (method, path) => (byPath.get(path)?.methods as readonly string[] | undefined)?.includes(method) ?? false,
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
