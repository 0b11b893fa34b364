import type { Input, Route } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import { fromAtomic } from '../payment/assets.ts';
import type { VerifiedPayment } from '../payment/rail.ts';
import type { StoredAnswer } from '../store/stored-answer.ts';

/** What a payment was claimed for, which may not be what the call costs by now. */
export const quotedOf = ({ amount, decimals }: Pick<VerifiedPayment, 'amount' | 'decimals'>): Money =>
  fromAtomic(amount.toString(), { decimals });

/** What the answered call costs: the actual use where the price is an upper bound, as far as that was quoted, else the quote. */
export function amountDue(route: Route, input: Input, answer: StoredAnswer, quoted: Money): Money {
  const { actual } = route.price;
  if (!actual) return quoted;
  const used = actual(input, resultOf(route, answer));
  return used < quoted ? used : quoted;
}

/** The adapter's result, out of its envelope again: a stored answer has no other. */
function resultOf({ envelope }: Route, { body }: StoredAnswer): unknown {
  const answer: unknown = JSON.parse(body);
  return envelope === 'data' ? (answer as { data: unknown }).data : answer;
}
