import type { Adapter } from '../adapter.ts';
import { finnhub } from './finnhub/adapter.ts';
import { http } from './http/adapter.ts';
import { jupiterData } from './jupiter/adapter.ts';
import { limitless } from './limitless/adapter.ts';
import { mcp } from './mcp/adapter.ts';
import { okxDexMarket } from './okx/adapter.ts';
import { openaiChat } from './openai/chat-adapter.ts';
import { openaiMedia } from './openai/media-adapter.ts';
import { responsesSearch } from './openai/search-adapter.ts';
import { replicatePredictions } from './replicate/adapter.ts';
import { serpapi } from './serpapi/adapter.ts';
import { socialfetch } from './socialfetch/adapter.ts';
import { teeOpenai } from './tee/adapter.ts';
import { tokensXyz } from './tokens-xyz/adapter.ts';
import { xaiMedia } from './xai/adapter.ts';
import { xstocksRegistry } from './xstocks/adapter.ts';

/** Every wire protocol that `adapter:` in `upstreams.yaml` may name. */
export const adapters: readonly Adapter[] = [
  finnhub,
  http,
  jupiterData,
  limitless,
  mcp,
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
