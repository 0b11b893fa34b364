import type { Log } from '../log.ts';
import { type UpstreamFailure, UpstreamProblem } from './problem.ts';

export interface FallbackOptions {
  /** What is sold: the endpoint or the model. */
  readonly subject: string;
  /** Part of every line of the log. */
  readonly details: Readonly<Record<string, string>>;
  /** Nobody else is asked once it is aborted. */
  readonly signal: AbortSignal;
  readonly log?: Log | undefined;
  /** A provider's text without the keys that it may quote. */
  redact(text: string): string;
  /** False once part of an answer went out, or nobody waits for one. */
  mayAskAnother?(): boolean;
}

/** Failures that another provider may not have. What the request itself is to blame for would only fail again. */
const worthAnother: ReadonlySet<UpstreamFailure> = new Set(['failed', 'timeout', 'malformed', 'unavailable']);

/** Characters of a provider's text that a line of the log has. */
const LONGEST_MESSAGE = 300;

/** Nothing else calls within calls so often as who walks through an answer. */
const isTooDeep = (error: unknown): boolean => error instanceof RangeError && /call stack/i.test(error.message);

const tooDeep = (cause: unknown, name: string): UpstreamProblem =>
  new UpstreamProblem('malformed', name, 'the answer nests too deeply to be read', { cause });

/** What a provider says may echo a prompt: only who asks for debug lines reads it. */
function logProviderMessage(error: unknown, { details, log, redact }: FallbackOptions): void {
  if (!log || !(error instanceof UpstreamProblem) || error.providerMessage === undefined) return;
  // Cut last: a cut may make two of a key, and neither half is known.
  const providerMessage = redact(error.providerMessage).slice(0, LONGEST_MESSAGE);
  log.debug({ ...details, upstream: error.upstream, providerMessage }, 'what the upstream answered');
}

/**
 * Asks the sources (an upstream through its adapter, a recipe, a model's host) in order until one answers. Throws the
 * last one's UpstreamProblem, `malformed` where an answer nests too deeply, or what is no UpstreamProblem at once.
 */
export async function callInOrder<Source extends { readonly name: string }, Result>(
  sources: readonly Source[],
  call: (source: Source) => Promise<Result>,
  options: FallbackOptions,
): Promise<Result> {
  const { subject, details, signal, log, mayAskAnother = () => true } = options;
  for (const [place, source] of sources.entries()) {
    try {
      return await call(source);
    } catch (thrown) {
      const error = isTooDeep(thrown) ? tooDeep(thrown, source.name) : thrown;
      logProviderMessage(error, options);
      const isLast = place === sources.length - 1;
      const isWorthAnother = error instanceof UpstreamProblem && worthAnother.has(error.failure);
      if (isLast || !isWorthAnother || signal.aborted || !mayAskAnother()) throw error;
      log?.warn({ ...details, source: source.name, problem: error.message }, 'asking the next upstream');
    }
  }
  throw new UpstreamProblem('unavailable', subject, 'no upstream that serves it has its keys');
}
