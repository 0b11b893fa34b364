/** The ways to pay that there are. */
import type { Rail } from '../payment/rail.ts';
import type { RailDefinition } from './definition.ts';
import { mpp } from './mpp/index.ts';
import { x402 } from './x402/index.ts';

/** The order is that of the discovery documents. */
export const rails: readonly RailDefinition<Rail>[] = [x402, mpp];
