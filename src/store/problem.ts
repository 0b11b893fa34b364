import { Problem } from '../errors.ts';

/** The database cannot be opened. The message says which, and holds no password. */
export class StoreProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreProblem';
  }
}

/** The database cannot be used now, and may be again. Callers read nothing of the reason: its place is the log. */
export const storeUnavailable = (reason: string): Problem =>
  new Problem('store_unavailable', undefined, { headers: { 'retry-after': '5' }, cause: new Error(reason) });

export const isOutage = (error: unknown): boolean => error instanceof Problem && error.code === 'store_unavailable';

/** What to write to a log of an error of the store's. */
export function reasonOf(error: unknown): string {
  // A refused connection to a name with several addresses has no message, only codes.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (error instanceof Problem && error.cause !== undefined) return reasonOf(error.cause);
  return error instanceof Error ? error.message : String(error);
}
