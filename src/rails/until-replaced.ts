import type { Route } from '../catalogue/types.ts';
import type { Quote, Rail } from '../payment/rail.ts';
import { Refusal } from '../payment/refusal.ts';

/** Longer than any challenge can be paid. */
export const HONOURED_MS = 30 * 60_000;

interface Terms {
  /** When the route was, or is, withdrawn, in milliseconds since the epoch. */
  soldUntil(route: Route): number;
  /** Whether the same request asked for something else when its challenge was given. */
  wasOtherwise(quote: Quote, offeredAt: number): boolean;
  now(): number;
}

/**
 * Rails that take no payment whose challenge was given after a route was withdrawn, and no other for longer than a challenge
 * is good; nor one whose challenge was for another request in the same words.
 */
export const untilReplaced = (
  rails: ReadonlyMap<string, Rail>,
  { soldUntil, wasOtherwise, now }: Terms,
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
          const isOver = verified.offeredAt > end || now() > end + HONOURED_MS;
          if (!settlesNow && (isOver || wasOtherwise(quote, verified.offeredAt))) {
            throw new Refusal('invalid-challenge', 'this is not sold any more as it was: pay a fresh challenge');
          }
          return verified;
        },
      },
    ]),
  );
