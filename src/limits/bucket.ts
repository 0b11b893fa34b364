/**
 * How often something may happen for each of many callers: so many in a period, all at once if need be. One number a
 * caller: the time at which all of its allowance is there again (a "generic cell rate algorithm"). Bounded in memory: of
 * more callers than are kept, those who were not heard of for the longest begin anew.
 */

export interface BucketTerms {
  /** Names it in the database. */
  readonly name: string;
  readonly count: number;
  readonly periodMs: number;
}

export interface Bucket extends BucketTerms {
  /** From now on until an allowance is whole again, at most. */
  readonly longestMs: number;
  /** Milliseconds until one more may happen; 0: now. */
  wait(caller: string, now: number): number;
  /** One more has happened; less than none gives back. */
  take(caller: string, now: number, times?: number): void;
  /**
   * What was taken here, or given back (less than nothing), and no other instance knows yet, in milliseconds of allowance,
   * the most first: of callers who have used a tenth of theirs, and of those who have something back that others know of.
   */
  unshared(now: number, most: number): readonly (readonly [caller: string, spent: number])[];
  /** What all instances together have counted: when the caller's allowance is whole again, `spent` included. */
  learn(caller: string, wholeAt: number, spent: number): void;
  /** Callers that are kept. */
  readonly size: number;
}

interface Entry {
  /** When its allowance is whole again. */
  wholeAt: number;
  /** Taken since it was shared last and not come back yet, less what was given back. */
  unshared: number;
}

const MOST_KEPT = 20_000;
/** Who took more than its allowance, side by side, waits longer, but not for as long as a clock was set back. */
const MOST_PERIODS = 2;
/** Below that part of its allowance a caller is nobody else's business. */
const SHARED_FROM = 10;

/** What has come back by itself is nothing that others have to hear of. */
function leaveWhatCameBack(entry: Entry, now: number): void {
  entry.unshared = Math.min(entry.unshared, Math.max(0, entry.wholeAt - now));
}

export function openBucket({ name, count, periodMs }: BucketTerms, mostKept = MOST_KEPT): Bucket {
  const each = periodMs / count;
  const longestMs = MOST_PERIODS * periodMs;
  /** Half of what is kept each. Whoever is heard of moves to the recent ones, and the earlier ones go all at once. */
  let recent = new Map<string, Entry>();
  let earlier = new Map<string, Entry>();

  function keep(caller: string, entry: Entry): void {
    if (recent.has(caller)) return;
    if (recent.size >= mostKept / 2) {
      earlier = recent;
      recent = new Map();
    }
    recent.set(caller, entry);
  }

  function find(caller: string, now: number): Entry | undefined {
    const entry = recent.get(caller) ?? earlier.get(caller);
    if (!entry) return undefined;
    keep(caller, entry);
    entry.wholeAt = Math.min(entry.wholeAt, now + longestMs);
    return entry;
  }

  return {
    name,
    count,
    periodMs,
    longestMs,
    wait(caller, now) {
      const { wholeAt } = find(caller, now) ?? { wholeAt: 0 };
      return Math.max(0, Math.ceil(wholeAt + each - periodMs - now));
    },
    take(caller, now, times = 1) {
      const entry = find(caller, now) ?? { wholeAt: 0, unshared: 0 };
      if (times < 0 && entry.wholeAt <= now) return;
      leaveWhatCameBack(entry, now);
      const before = Math.max(now, entry.wholeAt);
      // Nobody has more back than is gone.
      const spent = Math.max(now - before, each * times);
      entry.wholeAt = Math.min(now + longestMs, before + spent);
      entry.unshared += spent;
      keep(caller, entry);
    },
    unshared(now, most) {
      const found: [caller: string, spent: number][] = [];
      for (const kept of [recent, earlier]) {
        for (const [caller, entry] of kept) {
          const isKnownAlready = kept === earlier && recent.has(caller);
          const isLittle = entry.unshared > 0 && (entry.wholeAt - now) * SHARED_FROM < periodMs;
          if (entry.unshared === 0 || isLittle || isKnownAlready) continue;
          leaveWhatCameBack(entry, now);
          found.push([caller, entry.unshared]);
        }
      }
      return found.sort((one, other) => Math.abs(other[1]) - Math.abs(one[1])).slice(0, most);
    },
    learn(caller, wholeAt, spent) {
      const entry = recent.get(caller) ?? earlier.get(caller);
      if (!entry) return;
      entry.unshared -= spent;
      entry.wholeAt = wholeAt + entry.unshared;
    },
    get size() {
      return recent.size + earlier.size;
    },
  };
}
