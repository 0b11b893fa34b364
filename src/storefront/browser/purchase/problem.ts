/** What went wrong, in words for the person who pays, and what to do next. */

/** What the gateway says in the body of an answer that is no result. */
interface ToldProblem {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly { readonly path?: string; readonly message?: string; readonly expected?: string }[];
}

export const toldIn = (body: unknown): ToldProblem => (body as { error?: ToldProblem } | undefined)?.error ?? {};

const detailsOf = ({ details = [] }: ToldProblem): string =>
  details
    .map(({ path, message, expected }) => `${path ?? ''} ${message ?? ''}${expected ? ` (${expected})` : ''}`.trim())
    .join('; ');

/** A paid request that brought no result. */
export interface Failure {
  readonly words: string;
  /** Whether the very same payment may be sent again. */
  readonly canAskAgain: boolean;
  /** Whether it is certain that this payment took no money and will take none. */
  readonly isOver: boolean;
}

const ASK_AGAIN = 'Ask again with the same payment: you are never charged twice for it.';

/** With these the payment is not used and will not be. */
const OVER = new Set([
  'invalid_request',
  'invalid_json',
  'content_refused',
  'not_found',
  'identifier_taken',
  'refunded',
]);

export const lost: Failure = {
  words: `The answer was lost on its way; whether you were charged is not known yet. ${ASK_AGAIN}`,
  canAskAgain: true,
  isOver: false,
};

/** Of an answer to a request that came with a payment. `refusal`: what a 402 says. */
export function failureOf(status: number, body: unknown, refusal: string | undefined): Failure {
  const told = toldIn(body);
  const message = told.message ?? `The gateway answered with status ${status}`;
  if (status === 402) {
    const why = refusal ?? told.message;
    return {
      words: `The payment was not taken${why ? `: ${why}` : ''}. Check that the account has enough of the asset, then pay again.`,
      canAskAgain: false,
      isOver: true,
    };
  }
  const words = [message, detailsOf(told)].filter((each) => each !== '').join(': ');
  const isOver = OVER.has(told.code ?? '');
  const canAskAgain = !isOver && (status >= 500 || status === 409 || status === 429);
  return { words: canAskAgain ? `${words}. ${ASK_AGAIN}` : `${words}.`, canAskAgain, isOver: isOver || !canAskAgain };
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
