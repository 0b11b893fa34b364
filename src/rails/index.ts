/** The ways to pay that there are. */
import type { Rail } from '../payment/rail.ts';
import type { RailDefinition } from './definition.ts';
import { mpp } from './mpp/index.ts';
import { x402 } from './x402/index.ts';

/** In the order of the discovery documents. `open` takes what the same rail's `readConfig` gave. */
export const rails: readonly RailDefinition<unknown, Rail>[] = [x402, mpp];
