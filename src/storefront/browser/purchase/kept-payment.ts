/** A payment that was sent and has no answer, kept in this tab until it has one: whoever loads the page again has what it bought. */
import type { Payment } from './pay.ts';

/** Each page buys one thing. */
const nameHere = (): string => `turnpike-payment ${location.pathname}`;

/** Undefined too where the browser keeps nothing. */
export function keptPayment(): Payment | undefined {
  try {
    const kept = sessionStorage.getItem(nameHere());
    return kept === null ? undefined : { ...(JSON.parse(kept) as Payment), isUncertain: true };
  } catch {
    return undefined;
  }
}

/** Undefined: forgets it. What is drawn from a deposit is kept with that. */
export function keepPayment(payment: Payment | undefined): void {
  try {
    if (payment === undefined || payment.signed.drawn) sessionStorage.removeItem(nameHere());
    else sessionStorage.setItem(nameHere(), JSON.stringify(payment));
  } catch {
    // In a browser that keeps nothing it is lost with the page, which warns whoever leaves it.
  }
}
