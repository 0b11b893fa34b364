import type { Route } from './types.ts';

/** The recipe that sells credits. */
export const BUY_CREDITS = 'buy-credits';

/** Whether what a route sells is credits. */
export const sellsCredits = ({ upstreams }: Pick<Route, 'upstreams'>): boolean =>
  upstreams.some(({ recipe }) => recipe === BUY_CREDITS);
