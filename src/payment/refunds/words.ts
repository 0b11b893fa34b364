import type { RefundOutcome, RefundRefusal } from '../../store/refunds/refund-store.ts';

const words: Readonly<Record<RefundRefusal, string>> = {
  unknown: 'no such payment',
  unpaid: 'nothing was taken for it',
  'in-progress': 'its request is being worked on, or nobody knows yet whether money moved: try again in a minute',
  changed: 'what became of it has changed since it was shown, and its result may have been delivered: look at it again',
  delivered: 'its result was delivered: only an operator gives that back',
  credits: 'it bought credits: disable its key (npm run keys), and give back by hand what was not spent',
  nothing: 'the amount has to be more than 0',
  'too-much': 'that is more than is left of it',
  'whole-only': 'its result is owed: it can only be given back whole',
  reference: 'another amount was given back by the same reference, or the same form: begin anew for more',
};

/** Why nothing is given back, for the operator. `shown`: atomic units as they are shown to people. */
export function refusalInWords(
  { refused, left }: Extract<RefundOutcome, { readonly refused: RefundRefusal }>,
  shown: (amount: string) => string,
): string {
  const rest = left > 0n ? ` (${shown(String(left))} is left)` : '';
  return `${words[refused]}${rest}; nothing is given back`;
}
