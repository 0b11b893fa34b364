/** Work on large bodies in steps that leave everybody else their turns of the event loop. */

/** What is smaller takes a few milliseconds in all. */
const LARGE_BYTES = 262_144;

const waiting: (() => void)[] = [];

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/**
 * To be awaited before each step of the work on a body. Of all large bodies one has its step in a turn of the event loop,
 * and what came in meanwhile is answered before the next; a smaller body does not wait.
 */
export function ownTurn(body: Uint8Array): Promise<void> | undefined {
  if (body.length < LARGE_BYTES) return undefined;
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}
