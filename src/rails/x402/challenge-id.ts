/** Ids of challenges: random, and they begin with the time (UUID version 7, RFC 9562), which version 2 clients echo. */
import { randomUUID } from 'node:crypto';

/** Stands where an id comes: as long as one. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/** `now` in milliseconds since the epoch. */
export function newChallengeId(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const TIMED = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** When the challenge was given, in milliseconds since the epoch; undefined for what is not one of these ids. */
export const givenAt = (id: string | undefined): number | undefined =>
  id !== undefined && TIMED.test(id) ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
