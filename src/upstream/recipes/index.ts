import type { Recipe } from '../adapter.ts';
import { buyCredits } from './buy-credits.ts';
import { launchpad } from './launchpad.ts';
import { starterKit } from './starter-kit.ts';
import { stockArb } from './stock-arb.ts';
import { stockResearch } from './stock-research.ts';
import { stockSignal } from './stock-signal.ts';
import { tokenNews } from './token-news.ts';
import { tokenSignal } from './token-signal.ts';

/** Every recipe that `recipe:` in an endpoint may name. */
export const recipes: readonly Recipe[] = [
  buyCredits,
  launchpad,
  starterKit,
  stockArb,
  stockResearch,
  stockSignal,
  tokenNews,
  tokenSignal,
];
