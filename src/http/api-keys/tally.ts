/** What a completion has come to so far, from its chunks. */
import { asJsonObjects, isJsonObject, type JsonObject } from '../../json.ts';
import { textTokens } from '../../pricing/estimate.ts';
import { reportedUse, type TokenUse } from '../../pricing/tokens.ts';
import { generatedBytes } from './answer.ts';
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
  let bytes = 0;
  let bytesAtCount = 0;
  const isFinished = new Map<number, boolean>();

  return {
    add(chunk) {
      for (const choice of asJsonObjects(chunk.choices)) {
        bytes += generatedBytes(choice.delta);
        const index = Number(choice.index ?? 0);
        isFinished.set(index, isFinished.get(index) === true || typeof choice.finish_reason === 'string');
      }
      const newest = reportedUse(chunk);
      if (newest === undefined) return;
      // Some providers count in every chunk: the last count is the one that stands.
      counted = newest;
      bytesAtCount = bytes;
      cost = costOf(isJsonObject(chunk.usage) ? chunk.usage : undefined) ?? cost;
    },
    get hasOutput() {
      return bytes > 0 || counted !== undefined;
    },
    get hasChoice() {
      return isFinished.size > 0;
    },
    unfinished: () => [...isFinished].flatMap(([index, isAtEnd]) => (isAtEnd ? [] : [index])),
    use() {
      if (counted && bytesAtCount === bytes) return { ...counted, isEstimated: false, cost };
      // A count from before the last words is too low.
      const completionTokens = Math.max(textTokens(bytes), counted?.completionTokens ?? 0);
      return { promptTokens: counted?.promptTokens ?? promptTokens, completionTokens, isEstimated: true, cost };
    },
  };
}
