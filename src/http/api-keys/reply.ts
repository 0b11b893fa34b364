/** How a completion reaches its caller: `streamed.ts` passes it on while it comes, `whole.ts` answers it in one piece. */
import type { StoredAnswer } from '../../store/stored-answer.ts';
import type { StreamedPart } from '../../upstream/providers/openai/chat-client.ts';
import type { Use } from './charge.ts';

export interface Reply {
  /** Resolves when the caller can take more, or has left. */
  add(part: StreamedPart): Promise<void>;
  /** True once no more can be kept of the answer: it has to be cut. */
  readonly isFull: boolean;
  /** The end of a complete answer: what is left to be sent. */
  end(): string;
  /** The end of an answer that was cut, by the deadline or for its size: the choices that were not at their end have `length` as reason. */
  cut(unfinished: readonly number[], use: Use): string;
  /** The end of an answer that broke off. */
  broken(error: unknown, unfinished: readonly number[], use: Use): string;
  /** Sends the end. */
  finish(end: string): void;
  /** What who asks again is given, with that end: a stream in fewer pieces. Undefined where it is too long to be kept. */
  kept(end: string): StoredAnswer | undefined;
}

/** Characters of an answer that are kept, of JSON: the longest answers of models have half a million. */
export const MOST_KEPT = 4_000_000;
