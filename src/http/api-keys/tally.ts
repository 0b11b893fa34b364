/** What a completion has come to so far, from its chunks. */
import { asJsonObjects, isJsonObject, type JsonObject } from '../../json.ts';
import { tokensOf } from '../../pricing/token-estimate.ts';
import { reportedUse, type TokenUse } from '../../pricing/tokens.ts';
import { generatedWeight } from './answer.ts';
import { costOf, type Use } from './charge.ts';

export interface Tally {
  add(chunk: JsonObject): void;
  /** True once the provider has generated or counted something: from then on the call is paid for. */
  readonly hasOutput: boolean;
  /** True once some choice has begun, however empty. */
  readonly hasChoice: boolean;
  /** The choices that have begun and not come to their end. */
  unfinished(): number[];
  /** As the provider counted it, else estimated from the request and what was generated. */
  use(): Use;
}

/** For one call, whose input is estimated at so many tokens. */
export function createTally(promptTokens: number): Tally {
  let counted: TokenUse | undefined;
  let cost: bigint | undefined;
  let weight = 0;
  let weightAtCount = 0;
  const isFinished = new Map<number, boolean>();

  return {
    add(chunk) {
      for (const choice of asJsonObjects(chunk.choices)) {
        weight += generatedWeight(choice.delta);
        const index = Number(choice.index ?? 0);
        isFinished.set(index, isFinished.get(index) === true || typeof choice.finish_reason === 'string');
      }
      const newest = reportedUse(chunk);
      if (newest === undefined) return;
      // Some providers count in every chunk: the last count is the one that stands.
      counted = newest;
      weightAtCount = weight;
      cost = costOf(isJsonObject(chunk.usage) ? chunk.usage : undefined) ?? cost;
    },
    get hasOutput() {
      return weight > 0 || counted !== undefined;
    },
    get hasChoice() {
      return isFinished.size > 0;
    },
    unfinished: () => [...isFinished].flatMap(([index, isAtEnd]) => (isAtEnd ? [] : [index])),
    use() {
      if (counted && weightAtCount === weight) return { ...counted, isEstimated: false, cost };
      // A count from before the last words is too low.
      const completionTokens = Math.max(tokensOf(weight), counted?.completionTokens ?? 0);
      return { promptTokens: counted?.promptTokens ?? promptTokens, completionTokens, isEstimated: true, cost };
    },
  };
}
