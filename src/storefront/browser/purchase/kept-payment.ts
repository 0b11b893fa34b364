/** A payment that was sent and has no answer, kept in this tab until it has one: whoever loads the page again has what it bought. */
import type { Payment } from './payment.ts';

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

/** As it is sent now: another voucher may have taken the place of the one that was signed for a call from a deposit. */
export function keepPayment(
  { call, signed: { from, isLocked } }: Payment,
  headers: Readonly<Record<string, string>>,
): void {
  try {
    sessionStorage.setItem(nameHere(), JSON.stringify({ call, signed: { from, headers, isLocked } }));
  } catch {
    // In a browser that keeps nothing it is lost with the page, which warns whoever leaves it.
  }
}

export function forgetPayment(): void {
  try {
    sessionStorage.removeItem(nameHere());
  } catch {
    // Nothing is kept.
  }
}
