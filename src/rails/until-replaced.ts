import type { Route } from '../catalogue/types.ts';
import type { Rail } from '../payment/rail.ts';
import { Refusal } from '../payment/refusal.ts';

/** Rails that take no payment whose challenge was given after a route was withdrawn, in milliseconds since the epoch. */
export const untilReplaced = (
  rails: ReadonlyMap<string, Rail>,
  soldUntil: (route: Route) => number,
): ReadonlyMap<string, Rail> =>
  new Map(
    [...rails].map(([name, rail]) => [
      name,
      {
        ...rail,
        async verify(credential, quote, settlesNow) {
          const verified = await rail.verify(credential, quote, settlesNow);
          if (verified.offeredAt > soldUntil(quote.route)) {
            throw new Refusal('invalid-challenge', 'this is not sold any more as it was: pay a fresh challenge');
          }
          return verified;
        },
      },
    ]),
  );
