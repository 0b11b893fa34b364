import type { Adapter } from '../adapter.ts';
import { finnhub } from './finnhub.ts';
import { jupiterData } from './jupiter-data.ts';
import { limitless } from './limitless.ts';
import { okxDexMarket } from './okx-dex-market.ts';
import { openaiChat } from './openai-chat.ts';
import { replicatePredictions } from './replicate-predictions.ts';
import { responsesSearch } from './responses-search.ts';
import { serpapi } from './serpapi.ts';
import { socialfetch } from './socialfetch.ts';
import { tokensXyz } from './tokens-xyz.ts';
import { xstocksRegistry } from './xstocks-registry.ts';

/** Every wire protocol that `adapter:` in `upstreams.yaml` may name. */
export const adapters: readonly Adapter[] = [
  finnhub,
  jupiterData,
  limitless,
  okxDexMarket,
  openaiChat,
  replicatePredictions,
  responsesSearch,
  serpapi,
  socialfetch,
  tokensXyz,
  xstocksRegistry,
];
