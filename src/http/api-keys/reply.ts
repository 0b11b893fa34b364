/** How a completion reaches its caller: `streamed.ts` passes it on while it comes, `whole.ts` answers it in one piece. */
import type { StreamedPart } from '../../upstream/providers/openai/chat-client.ts';
import type { Use } from './charge.ts';

export interface Reply {
  /** Resolves when the caller can take more, or has left. */
  add(part: StreamedPart): Promise<void>;
  /** True once no more can be kept of the answer: it has to be cut. */
  readonly isFull: boolean;
  /** Sends the end of a complete answer. */
  end(): void;
  /** Sends the end of an answer that was cut, by the deadline or for its size: the choices that were not at their end have `length` as reason. */
  cut(unfinished: readonly number[], use: Use): void;
}
