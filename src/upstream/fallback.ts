import type { Input } from '../catalogue/types.ts';
import type { Log } from '../log.ts';
import type { CallContext } from './adapter.ts';
import { type UpstreamFailure, UpstreamProblem } from './problem.ts';

/** One way to serve a route: an upstream through its adapter, or a recipe. */
export interface Source {
  /** The upstream's or recipe's name, for the log. */
  readonly name: string;
  call(input: Input, context: CallContext): Promise<unknown>;
}

/** Failures that another provider may not have. What the request itself is to blame for would only fail again. */
const worthAnother: ReadonlySet<UpstreamFailure> = new Set(['failed', 'timeout', 'malformed', 'unavailable']);

/** Whether the next upstream may be asked after this failure, as long as the request's signal lasts. */
export const isWorthAnother = (error: unknown, signal: AbortSignal): boolean =>
  error instanceof UpstreamProblem && worthAnother.has(error.failure) && !signal.aborted;

/** A provider's message may echo a prompt: it is in debug lines alone. */
export function logProviderMessage(error: unknown, details: object, log: Pick<Log, 'debug'> | undefined): void {
  if (!(error instanceof UpstreamProblem) || error.providerMessage === undefined) return;
  log?.debug(
    { ...details, upstream: error.upstream, providerMessage: error.providerMessage },
    'what the upstream answered',
  );
}

/** Asks the sources in order until one answers. Throws the last one's UpstreamProblem. */
export async function callInOrder(
  sources: readonly Source[],
  input: Input,
  context: CallContext,
  log?: Log,
): Promise<unknown> {
  for (const [place, source] of sources.entries()) {
    try {
      return await source.call(input, context);
    } catch (error) {
      logProviderMessage(error, { endpoint: context.endpoint }, log);
      const isLast = place === sources.length - 1;
      if (isLast || !isWorthAnother(error, context.signal)) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      log?.warn({ endpoint: context.endpoint, source: source.name, problem }, 'asking the next upstream');
    }
  }
  throw new UpstreamProblem('unavailable', context.endpoint, 'no upstream of this endpoint has its keys');
}
