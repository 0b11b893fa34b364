/** Who may see the console: whoever has its token, or a session that was opened with it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ConsoleProblem } from './problem.ts';

const SESSION_MS = 12 * 3_600_000;

/** Wrong tokens, by whomever: after so many within a minute nobody's is looked at. */
const MOST_WRONG = 10;
const MINUTE_MS = 60_000;

export interface Sessions {
  /** Throws ConsoleProblem: 401 where the token is wrong, 429 after too many of those. */
  checkToken(given: string): void;
  /** What proves it was opened, and for how long it does; nothing is kept here. */
  open(): { readonly proof: string; readonly lastsMs: number };
  isOpen(proof: string): boolean;
}

/** Of one token: another one ends all sessions, and the same one after a restart keeps them. */
export function openSessions(token: string, now: () => number): Sessions {
  const macOf = (text: string): Buffer => createHmac('sha256', token).update(text).digest();
  const isSame = (one: string, other: string): boolean => timingSafeEqual(macOf(one), macOf(other));
  const sign = (until: string): string => macOf(`console session until ${until}`).toString('base64url');
  let wrong: number[] = [];

  return {
    checkToken(given) {
      // A clock that was set back must not keep everybody out for as long.
      wrong = wrong.filter((at) => Math.abs(now() - at) < MINUTE_MS);
      if (wrong.length >= MOST_WRONG) {
        throw new ConsoleProblem(429, 'there were too many wrong tokens: try again in a minute');
      }
      if (isSame(given, token)) return;
      wrong.push(now());
      throw new ConsoleProblem(
        401,
        'this is not the token of this gateway: it was printed when the gateway started',
        'token',
      );
    },
    open() {
      const until = String(now() + SESSION_MS);
      return { proof: `${until}.${sign(until)}`, lastsMs: SESSION_MS };
    },
    isOpen(proof) {
      const [until = '', signature = ''] = proof.split('.');
      return isSame(signature, sign(until)) && Number(until) > now();
    },
  };
}
