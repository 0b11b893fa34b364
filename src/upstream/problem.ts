/** What went wrong at an upstream. It decides what the caller reads. */
export type UpstreamFailure =
  /** Answered a failure, or could not be reached. */
  | 'failed'
  /** Took longer than the deadline. */
  | 'timeout'
  /** Answered something that cannot be read or is not a valid result. */
  | 'malformed'
  /** Refuses us (401, 402, 403, a missing key) or is known to be down. */
  | 'unavailable'
  /** Refuses the content of the request. */
  | 'content-refused'
  /** Does not know what the request names. */
  | 'not-found'
  /** Not asked: this caller has the gateway do too much at a time. */
  | 'throttled'
  /** Finds fault with the caller's input; the message may be shown. */
  | 'invalid-input';

/** Characters of a provider's message that are kept. */
const LONGEST_MESSAGE = 300;

/**
 * A failed upstream call. The message is for the operator's log, never for the caller, and holds neither a secret nor
 * what the provider answered.
 */
export class UpstreamProblem extends Error {
  readonly failure: UpstreamFailure;
  readonly upstream: string;
  readonly status: number | undefined;
  /** For `content-refused`, `not-found`, `throttled` and `invalid-input`: what the caller may read. */
  readonly publicMessage: string | undefined;
  readonly #providerMessage: string | undefined;

  constructor(
    failure: UpstreamFailure,
    upstream: string,
    message: string,
    options: { status?: number; publicMessage?: string; providerMessage?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'UpstreamProblem';
    this.failure = failure;
    this.upstream = upstream;
    this.status = options.status;
    this.publicMessage = options.publicMessage;
    this.#providerMessage = options.providerMessage?.slice(0, LONGEST_MESSAGE);
  }

  /** The start of what the provider answered, which may echo a prompt: nothing that prints a problem prints this. */
  get providerMessage(): string | undefined {
    return this.#providerMessage;
  }
}
