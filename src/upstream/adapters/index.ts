import type { Adapter } from '../adapter.ts';
import { finnhub } from './finnhub.ts';
import { jupiterData } from './jupiter-data.ts';
import { limitless } from './limitless.ts';
import { okxDexMarket } from './okx-dex-market.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiMedia } from './openai-media.ts';
import { replicatePredictions } from './replicate-predictions.ts';
import { responsesSearch } from './responses-search.ts';
import { serpapi } from './serpapi.ts';
import { socialfetch } from './socialfetch.ts';
import { teeOpenai } from './tee-openai.ts';
import { tokensXyz } from './tokens-xyz.ts';
import { xaiMedia } from './xai-media.ts';
import { xstocksRegistry } from './xstocks-registry.ts';

/** Every wire protocol that `adapter:` in `upstreams.yaml` may name. */
export const adapters: readonly Adapter[] = [
  finnhub,
  jupiterData,
  limitless,
  okxDexMarket,
  openaiChat,
  openaiMedia,
  replicatePredictions,
  responsesSearch,
  serpapi,
  socialfetch,
  teeOpenai,
  tokensXyz,
  xaiMedia,
  xstocksRegistry,
];
