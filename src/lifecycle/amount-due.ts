import type { Input, Route } from '../catalogue/types.ts';
import type { Money } from '../money.ts';
import type { Quote } from '../payment/rail.ts';
import type { StoredAnswer } from '../store/store.ts';

/** What the answered call costs: the actual use where the price is an upper bound, else the quote. */
export function amountDue({ route, amount }: Quote, input: Input, answer: StoredAnswer): Money {
  return route.price.actual ? route.price.actual(input, resultOf(route, answer)) : amount;
}

/** The adapter's result, out of its envelope again: a stored answer has no other. */
function resultOf({ envelope }: Route, { body }: StoredAnswer): unknown {
  const answer: unknown = JSON.parse(body);
  return envelope === 'data' ? (answer as { data: unknown }).data : answer;
}
