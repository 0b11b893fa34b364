/** How much of a processor the thread of the event loop uses between two beats of it: a busy neighbour on the machine adds nothing. */
import { existsSync, readFileSync } from 'node:fs';

const BEAT_MS = 10;

/** Linux counts each thread by itself, in nanoseconds; the main thread has the number of its process. */
const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`;

const cpuMs: () => number = existsSync(SCHEDULED)
  ? () => Number(readFileSync(SCHEDULED, 'utf8').split(' ', 1)[0]) / 1e6
  : () => process.cpuUsage().user / 1000;

export interface Turns {
  /** CPU time of the longest turn since this was asked last, in milliseconds. */
  longest(): Promise<number>;
}

/** Begins to watch this thread. */
export function watchTurns(): Turns {
  let longestMs = 0;
  let before = cpuMs();
  const beat = () => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  };
  setInterval(beat, BEAT_MS).unref();
  return {
    async longest() {
      // What comes before the next beat belongs to the question, too.
      await new Promise((resolve) => setTimeout(resolve, BEAT_MS));
      beat();
      const found = longestMs;
      longestMs = 0;
      return found;
    },
  };
}
