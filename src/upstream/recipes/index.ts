import type { Recipe } from '../adapter.ts';
import { alphaFeed } from './alpha-feed.ts';
import { buyCredits } from './buy-credits.ts';
import { creativeDirector } from './creative-director.ts';
import { designer } from './designer.ts';
import { launchpad } from './launchpad.ts';
import { marketIntel } from './market-intel.ts';
import { shopLens } from './shop-lens.ts';
import { shopSearch } from './shop-search.ts';
import { starterKit } from './starter-kit.ts';
import { stockArb } from './stock-arb.ts';
import { stockResearch } from './stock-research.ts';
import { stockSignal } from './stock-signal.ts';
import { tokenNews } from './token-news.ts';
import { tokenSignal } from './token-signal.ts';
import { xNews } from './x-news.ts';
import { xPersona } from './x-persona.ts';

/** Every recipe that `recipe:` in an endpoint may name. Each takes requests of its own shape, which the catalogue holds. */
export const recipes: readonly Recipe<never>[] = [
  alphaFeed,
  buyCredits,
  creativeDirector,
  designer,
  launchpad,
  marketIntel,
  shopLens,
  shopSearch,
  starterKit,
  stockArb,
  stockResearch,
  stockSignal,
  tokenNews,
  tokenSignal,
  xNews,
  xPersona,
];
