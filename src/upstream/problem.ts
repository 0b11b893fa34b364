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

/** More than any refusal needs to be told apart, and more than a key that is quoted takes, however it is written. */
const LONGEST_PROVIDER_TEXT = 4096;

/** The start of a provider's text: what is searched with a pattern or kept is cut to this first. Empty for what is none. */
export const cutProviderText = (text: unknown): string =>
  typeof text === 'string' ? text.slice(0, LONGEST_PROVIDER_TEXT) : '';

/**
 * A failed upstream call. The message is for the operator's log, never for the caller, and holds nothing that the
 * provider answered: no text, no id, no status of its own.
 */
export class UpstreamProblem extends Error {
  readonly failure: UpstreamFailure;
  readonly upstream: string;
  readonly status: number | undefined;
  readonly #publicMessage: string | undefined;
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
    this.#publicMessage = options.publicMessage;
    this.#providerMessage =
      options.providerMessage === undefined ? undefined : cutProviderText(options.providerMessage);
  }

  /** What the caller may read. It may echo a prompt: nothing that prints a problem prints this. */
  get publicMessage(): string | undefined {
    return this.#publicMessage;
  }

  /**
   * The start of what the provider answered, keys that it quotes included: only `callInOrder` writes it down, without
   * them.
   */
  get providerMessage(): string | undefined {
    return this.#providerMessage;
  }
}
