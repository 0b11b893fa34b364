/** What went wrong, in words for the person who pays, and what to do next. */
import { isOpen, isOwnCode, saysGivenBack } from '../../../client/problem.ts';

/** What the gateway says in the body of an answer that is no result. */
interface ToldProblem {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly { readonly path?: string; readonly message?: string; readonly expected?: string }[];
}

const toldIn = (body: unknown): ToldProblem => (body as { error?: ToldProblem } | undefined)?.error ?? {};

/** What a stream says that was sold as far as it came; undefined: of one that broke off. */
export function cutIn(body: unknown): string | undefined {
  const { code, message } = toldIn(body);
  return code === 'answer_cut' ? message : undefined;
}

const detailsOf = ({ details = [] }: ToldProblem): string =>
  details
    .map(({ path, message, expected }) => `${path ?? ''} ${message ?? ''}${expected ? ` (${expected})` : ''}`.trim())
    .join('; ');

/** A paid request that brought no result. */
export interface Failure {
  readonly words: string;
  /** Whether the very same payment may be sent again. */
  readonly canAskAgain: boolean;
  /** Whether it is certain that it took no money, unless it is sent again, or that the money was given back. */
  readonly isUncharged: boolean;
}

const ASK_AGAIN = 'Ask again: the same payment is never charged twice.';
const PAY_AGAIN = 'What was locked is given back: pay again for another attempt.';

/** No repetition of the same request changes them. */
const FINAL = new Set([
  'invalid_request',
  'invalid_json',
  'content_refused',
  'not_found',
  'identifier_taken',
  'refunded',
]);

/** Of a client's errors: those after which the same payment may get its result. */
const LATER = [408, 409, 429];

/** What was locked for a call is given back before it is told so. */
const GIVEN_BACK = new Set(['upstream_failed', 'upstream_invalid_result', 'upstream_timeout', 'upstream_unavailable']);

const UNCHARGED = new Set([
  ...GIVEN_BACK,
  ...['media_unavailable', 'draining', 'rate_limited', 'too_many_requests', 'request_timeout'],
]);

export const lost: Failure = {
  words: `The answer was lost on its way; whether you were charged is not known yet. ${ASK_AGAIN}`,
  canAskAgain: true,
  isUncharged: false,
};

/** The scheme's own words: an earlier call from the same deposit is not done yet; it does not hold or cost what was thought. */
const CHANNEL_BUSY = 'invalid_batch_settlement_evm_channel_busy';
const CHANNEL_MISMATCH = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';

const busy: Failure = {
  words: `A call from this deposit is still under way. ${ASK_AGAIN}`,
  canAskAgain: true,
  isUncharged: false,
};

const mismatch: Failure = {
  words:
    'The payment was not taken: by the gateway’s word the deposit holds less, or has paid for more, than this browser knew. Look at what the button says now, then click again.',
  canAskAgain: false,
  isUncharged: true,
};

interface Sent {
  /** What an earlier attempt with the same payment took is not known, and no answer says it but that the money was given back. */
  readonly isUncertain: boolean;
  /** It is locked until the answer is there: given back, it buys nothing any more. */
  readonly isLocked: boolean;
}

/** Of an answer to a request that came with a payment. `refusal`: what a 402 says. */
export function failureOf(
  status: number,
  body: unknown,
  refusal: string | undefined,
  { isUncertain, isLocked }: Sent,
): Failure {
  const told = toldIn(body);
  if (isLocked && GIVEN_BACK.has(told.code ?? '')) {
    return { words: `${inWords(status, told)}. ${PAY_AGAIN}`, canAskAgain: false, isUncharged: true };
  }
  const failure = failureOfOne(status, told, refusal, isUncertain);
  return isUncertain ? { ...failure, isUncharged: saysGivenBack(told.code) } : failure;
}

const inWords = (status: number, told: ToldProblem): string =>
  [told.message ?? `The gateway answered with status ${status}`, detailsOf(told)]
    .filter((each) => each !== '')
    .join(': ');

function failureOfOne(status: number, told: ToldProblem, refusal: string | undefined, isUncertain: boolean): Failure {
  if (status === 402 && refusal === CHANNEL_BUSY) return busy;
  if (status === 402 && refusal === CHANNEL_MISMATCH) return mismatch;
  if (status === 402) {
    const why = refusal ?? told.message;
    return {
      words: `The payment was not taken${why ? `: ${why}` : ''}. Check that the account has enough of the asset, then pay again.`,
      canAskAgain: false,
      isUncharged: true,
    };
  }
  const words = inWords(status, told);
  const code = told.code ?? '';
  const isFinal = FINAL.has(code) || (status < 500 && !LATER.includes(status));
  // Only the gateway's own word ends it: what stands before it says nothing of the payment, which may have been passed on.
  if (isFinal && isOwnCode(code) && !isOpen(code, !isUncertain))
    return { words: `${words}.`, canAskAgain: false, isUncharged: true };
  return { words: `${words}. ${ASK_AGAIN}`, canAskAgain: true, isUncharged: UNCHARGED.has(code) };
}

const doesNotFit = (details: string): string => `The request does not fit: ${details}. Mend the form, then try again.`;

/** Of a 402 whose request would be refused once it is paid for; undefined: of one that would not. */
export function faultsIn(body: unknown): string | undefined {
  const { invalidParams: details = [] } = (body ?? {}) as { invalidParams?: NonNullable<ToldProblem['details']> };
  return details.length === 0 ? undefined : doesNotFit(detailsOf({ details }));
}

/** Of an answer to a request that came without one. */
export function unpaidProblem(status: number, body: unknown): string {
  const told = toldIn(body);
  const details = detailsOf(told);
  if (status === 400) return doesNotFit(details || (told.message ?? ''));
  return `${told.message ?? `The gateway answered with status ${status}`}. Nothing was signed: try again in a moment.`;
}
