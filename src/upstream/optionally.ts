import type { CallContext } from './adapter.ts';
import { type UpstreamFailure, UpstreamProblem } from './problem.ts';

/** The value of a part that an answer can do without, or undefined where its upstream fails. At the deadline it rejects. */
export async function optionally<Value>(
  { signal }: Pick<CallContext, 'signal'>,
  part: Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await part;
  } catch (error) {
    if (!(error instanceof UpstreamProblem) || signal.aborted) throw error;
    return undefined;
  }
}

/** The parts of one answer that it can do without, and which of them are missing. */
export interface OptionalParts {
  /** The part, or undefined where its upstream fails. At the deadline it rejects. */
  take<Value>(name: string, part: Promise<Value>): Promise<Value | undefined>;
  /** Those that failed, each once. */
  missing(): string[];
  /** True where one failed in a way that may be over by the next call, unlike a refusal of our key or of what is asked. */
  mayComeBack(): boolean;
}

const REFUSED_STATUSES: readonly number[] = [401, 402, 403];
const LASTING: readonly UpstreamFailure[] = ['not-found', 'invalid-input', 'content-refused'];

export function openOptionalParts(context: Pick<CallContext, 'signal'>): OptionalParts {
  const failed = new Map<string, boolean>();
  return {
    async take(name, part) {
      const noted = part.catch((error: unknown) => {
        if (error instanceof UpstreamProblem) {
          const lasts = LASTING.includes(error.failure) || REFUSED_STATUSES.includes(error.status ?? 0);
          failed.set(name, failed.get(name) === true || !lasts);
        }
        throw error;
      });
      return await optionally(context, noted);
    },
    missing: () => [...failed.keys()],
    mayComeBack: () => [...failed.values()].includes(true),
  };
}
