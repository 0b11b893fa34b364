/** What is not sold for want of keys, for whoever starts the gateway. */
import type { Log } from './log.ts';

export interface Unsold {
  /** How many. */
  readonly routes: number;
  /** The variables that they want. */
  readonly set: readonly string[];
}

/** From routes, and the variables that each wants. */
export const unsoldOf = (missing: ReadonlyMap<unknown, readonly string[]>): Unsold => ({
  routes: missing.size,
  set: [...new Set([...missing.values()].flat())].sort(),
});

export function tellUnsold(unsold: Unsold, log: Pick<Log, 'warn'>): void {
  if (unsold.routes === 0) return;
  log.warn({ ...unsold }, 'not sold for want of keys: npm run endpoints shows what needs which');
}
