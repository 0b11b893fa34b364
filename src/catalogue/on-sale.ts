import type { Route } from './types.ts';

/** Whether a route is sold at that moment, in milliseconds since the epoch: it is not withdrawn, nor retired by then. */
export const isOnSale = ({ endpoint }: Pick<Route, 'endpoint'>, at: number): boolean => endpoint.soldUntil > at;
