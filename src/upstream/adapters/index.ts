import type { Adapter } from '../adapter.ts';
import { jupiterData } from './jupiter-data.ts';
import { openaiChat } from './openai-chat.ts';
import { replicatePredictions } from './replicate-predictions.ts';
import { tokensXyz } from './tokens-xyz.ts';
import { xstocksRegistry } from './xstocks-registry.ts';

/** Every wire protocol that `adapter:` in `upstreams.yaml` may name. */
export const adapters: readonly Adapter[] = [
  jupiterData,
  openaiChat,
  replicatePredictions,
  tokensXyz,
  xstocksRegistry,
];
