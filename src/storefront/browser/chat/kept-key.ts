/** A key that was asked to be kept: in this tab, until it is closed. It is never put into an address. */
const NAME = 'turnpike-api-key';

/** Undefined too where the browser keeps nothing. */
export function keptKey(): string | undefined {
  try {
    return sessionStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Undefined: forgets it. */
export function keepKey(key: string | undefined): void {
  try {
    if (key === undefined) sessionStorage.removeItem(NAME);
    else sessionStorage.setItem(NAME, key);
  } catch {
    // A browser that keeps nothing is asked again next time.
  }
}
