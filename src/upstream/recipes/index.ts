import type { Recipe } from '../adapter.ts';
import { stockArb } from './stock-arb.ts';

/** Every recipe that `recipe:` in an endpoint may name. */
export const recipes: readonly Recipe[] = [stockArb];
