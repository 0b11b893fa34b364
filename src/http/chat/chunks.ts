/** The chunks of one streamed completion: what of each goes to the caller, and what they came to. */
import { tokensOf } from '../../pricing/token-estimate.ts';
import { reportedUse, type TokenUse } from '../../pricing/tokens.ts';
import { UpstreamProblem } from '../../upstream/problem.ts';
import { errorProblem } from '../../upstream/providers/openai/chat.ts';
import { type Naming, renamed, saidWeight, usageForCaller } from './answer.ts';
import { costOf, type Use } from './charge.ts';
import { type ChatCall, type Fields, isFields } from './request.ts';

export interface Chunks {
  /** The data of the event to send for this one, or undefined for none. Throws UpstreamProblem where it tells of a failure. */
  take(data: string): string | undefined;
  /** Some choice has come to its end. */
  readonly isFinished: boolean;
  /** What was used so far: as the provider counted it, else estimated from what was said. Undefined while that is nothing. */
  use(): Use | undefined;
}

/** For one call. `upstream` is for problems. */
export function createChunks(upstream: string, call: ChatCall, naming: Naming): Chunks {
  let counted: TokenUse | undefined;
  let cost: bigint | undefined;
  let weight = 0;
  let isFinished = false;

  function parse(data: string): Fields {
    try {
      const chunk: unknown = JSON.parse(data);
      if (isFields(chunk)) return chunk;
    } catch {
      // Told below.
    }
    throw new UpstreamProblem('malformed', upstream, 'streamed an event that is no JSON object');
  }

  function follow(chunk: Fields, usage: Fields | undefined): void {
    // Some providers count in every chunk: the last count is the one that stands.
    counted = reportedUse(chunk) ?? counted;
    cost = costOf(usage) ?? cost;
    for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
      if (!isFields(choice)) continue;
      weight += saidWeight(choice.delta);
      if (typeof choice.finish_reason === 'string') isFinished = true;
    }
  }

  return {
    take(data) {
      const chunk = parse(data);
      if (isFields(chunk.error) || typeof chunk.error === 'string') throw errorProblem(upstream, 200, chunk);
      const usage = isFields(chunk.usage) ? chunk.usage : undefined;
      follow(chunk, usage);
      const isUsageAlone = usage !== undefined && (!Array.isArray(chunk.choices) || chunk.choices.length === 0);
      if (isUsageAlone && !call.wantsUsage) return undefined;
      const sent = renamed(chunk, naming);
      // OpenAI has the field in every chunk where it was asked for, and fills it in the last.
      return JSON.stringify(call.wantsUsage ? { ...sent, usage: usage ? usageForCaller(usage) : null } : sent);
    },
    get isFinished() {
      return isFinished;
    },
    use() {
      if (counted) return { ...counted, isEstimated: false, cost };
      if (weight === 0) return undefined;
      return { promptTokens: call.promptTokens, completionTokens: tokensOf(weight), isEstimated: true, cost };
    },
  };
}
