/** Work on large bodies in steps that leave everybody else their turns of the event loop. */

/** What is smaller takes a few milliseconds in all. */
const LARGE_BYTES = 262_144;

const waiting: (() => void)[] = [];

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

function turnFor(body: Uint8Array, line: (take: () => void) => unknown): Promise<void> | undefined {
  if (body.length < LARGE_BYTES) return undefined;
  return new Promise((resolve) => {
    line(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

/**
 * To be awaited before the first step of the work on a body. Of all large bodies one has its step in a turn of the event
 * loop, and what came in meanwhile is answered before the next; a smaller body does not wait.
 */
export const ownTurn = (body: Uint8Array): Promise<void> | undefined => turnFor(body, (take) => waiting.push(take));

/** The same before each further step: what has begun comes first, for it takes more memory than what waits. */
export const nextTurn = (body: Uint8Array): Promise<void> | undefined => turnFor(body, (take) => waiting.unshift(take));
