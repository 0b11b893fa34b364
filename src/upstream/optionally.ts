import type { CallContext } from './adapter.ts';
import { UpstreamProblem } from './problem.ts';

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
