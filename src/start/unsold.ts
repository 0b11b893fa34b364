/** What is not sold for want of keys, for whoever starts the gateway or has it load the catalogue again. */
import { sellsCredits } from '../catalogue/sells-credits.ts';
import type { Route } from '../catalogue/types.ts';
import type { Log } from '../log.ts';

export interface Unsold {
  /** How many. */
  readonly routes: number;
  /** The variables that they want. */
  readonly set: readonly string[];
  /** Whether credits are among them: no model is sold that they would pay for. */
  readonly credits: boolean;
}

/** From routes, and the variables that each wants. */
export const unsoldOf = (missing: ReadonlyMap<Pick<Route, 'upstreams'>, readonly string[]>): Unsold => ({
  routes: missing.size,
  set: [...new Set([...missing.values()].flat())].sort(),
  credits: [...missing.keys()].some(sellsCredits),
});

export function tellUnsold({ routes, set, credits }: Unsold, log: Pick<Log, 'warn'>): void {
  if (routes === 0) return;
  const also = credits ? '. No credits and no chat either: no model is sold that they would pay for' : '';
  log.warn({ routes, set }, `not sold for want of keys: npm run endpoints shows what needs which${also}`);
}
