/**
 * What this instance works on, and for how long it may: a lease is prolonged while its work goes on, and lost to whoever
 * takes the work over once it ran out, as it does during a long pause of the process.
 */

export interface Lease {
  /** Aborted once it is known to be lost. */
  readonly lost: AbortSignal;
  /** False where it may have run out, as far as the clock tells. */
  isFresh(): boolean;
  /** Whether the work is still this instance's. Asks the store where too much time has passed to be sure. */
  confirm(): Promise<boolean>;
  /** The work is over. */
  end(): void;
}

export interface Leases<Work> {
  take(work: Work, leaseUntil: number): Lease;
  /** Prolongs all. */
  renew(): Promise<void>;
}

interface LeaseParts<Work> {
  /** Work whose instance died is free for others after this long. */
  readonly leaseMs: number;
  /** Prolongs the leases of this work; answers which of it this instance still has. */
  prolong(work: readonly Work[], leaseUntil: number): Promise<readonly Work[]>;
  /** Tells one piece of work from another. */
  nameOf(work: Work): string;
  /** The store's clock. */
  now(): number;
}

interface Held<Work> {
  readonly work: Work;
  readonly lost: AbortController;
  until: number;
}

export function createLeases<Work>({ leaseMs, prolong, nameOf, now }: LeaseParts<Work>): Leases<Work> {
  const working = new Set<Held<Work>>();

  async function renew(held: readonly Held<Work>[]): Promise<void> {
    // By the time at which it is asked for: the answer may be long on its way.
    const until = now() + leaseMs;
    const own = held.map(({ work }) => work);
    const kept = new Set((await prolong(own, until)).map(nameOf));
    for (const one of held) {
      if (kept.has(nameOf(one.work))) one.until = until;
      else one.lost.abort();
    }
  }

  return {
    take(work, leaseUntil) {
      const held: Held<Work> = { work, lost: new AbortController(), until: leaseUntil };
      working.add(held);
      const isFresh = () => !held.lost.signal.aborted && held.until - now() > leaseMs / 3;
      return {
        lost: held.lost.signal,
        isFresh,
        async confirm() {
          if (!isFresh() && !held.lost.signal.aborted) await renew([held]);
          return !held.lost.signal.aborted;
        },
        end: () => working.delete(held),
      };
    },
    renew: () => renew([...working]),
  };
}
