/**
 * The clock of a database that many machines share. It is read from time to time and carried on in between by this
 * machine's monotonic clock, which nobody sets: so a wrong clock of this machine changes no lease, and no statement has
 * to ask for the time.
 */

/** An answer that was longer on its way says too little of when it was given, as after a pause of this process. */
const LONGEST_WAY_MS = 1_000;
/** One that was no longer is as good as another. */
const SHORT_WAY_MS = 20;
/** Of so many the one that was shortest on its way counts: the first may have waited for a connection. */
const ATTEMPTS = 3;

export interface DatabaseClock {
  /** Whole milliseconds since the epoch. */
  now(): number;
  /** Throws what `ask` does. */
  read(): Promise<void>;
}

/** `ask` resolves with the database's time in milliseconds since the epoch. When it is opened, answers count however long they took. */
export async function openDatabaseClock(ask: () => Promise<number>): Promise<DatabaseClock> {
  async function measureOnce() {
    const before = performance.now();
    const time = await ask();
    const after = performance.now();
    return { offset: time - (before + after) / 2, wayMs: after - before };
  }

  async function measure() {
    let best = await measureOnce();
    for (let attempt = 1; attempt < ATTEMPTS && best.wayMs > SHORT_WAY_MS; attempt += 1) {
      const other = await measureOnce();
      if (other.wayMs < best.wayMs) best = other;
    }
    return best;
  }

  let { offset } = await measure();
  return {
    now: () => Math.round(offset + performance.now()),
    async read() {
      const measured = await measure();
      if (measured.wayMs <= LONGEST_WAY_MS) offset = measured.offset;
    },
  };
}
