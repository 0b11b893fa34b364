import type { Route } from '../catalogue/types.ts';
import type { Rail } from '../payment/rail.ts';
import { Refusal } from '../payment/refusal.ts';

/** Longer than any challenge can be paid. */
export const HONOURED_MS = 30 * 60_000;

/**
 * Rails that take no payment whose challenge was given after a route was withdrawn, in milliseconds since the epoch, and no
 * other for longer than a challenge is good.
 */
export const untilReplaced = (
  rails: ReadonlyMap<string, Rail>,
  soldUntil: (route: Route) => number,
  now: () => number,
): ReadonlyMap<string, Rail> =>
  new Map(
    [...rails].map(([name, rail]) => [
      name,
      {
        ...rail,
        async verify(credential, quote, settlesNow) {
          const verified = await rail.verify(credential, quote, settlesNow);
          const end = soldUntil(quote.route);
          // What may have settled was taken in time.
          if (!settlesNow && (verified.offeredAt > end || now() > end + HONOURED_MS)) {
            throw new Refusal('invalid-challenge', 'this is not sold any more as it was: pay a fresh challenge');
          }
          return verified;
        },
      },
    ]),
  );
