/**
 * The same for calls that are drawn from one channel, beside claims, refunds and deposits without an answer. What must
 * hold of it besides is in `channel-rules.ts`.
 */
import { channelScenarios } from './channel-scenarios.ts';
import { promise } from './promise.ts';

await promise(channelScenarios);
