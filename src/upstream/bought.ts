/**
 * What providers made for a payment and could not be stored, or not before the deadline, and the jobs that they work on: the
 * payment's next attempt goes on from there and buys nothing twice, on any instance where it is short. Nothing is kept of what
 * calls that end otherwise made.
 */
import { createHash } from 'node:crypto';
import type { Store } from '../store/store.ts';
import { isTimeout } from '../timing.ts';
import { MediaNotStored } from './media/store.ts';
import { UpstreamProblem } from './problem.ts';

/** What a provider goes on with while nobody waits for it. */
export interface Job {
  /** What an earlier attempt of this payment has noted of it, and did not see the end of; undefined: nothing. */
  readonly begun: unknown;
  /** Notes where it is, as JSON, for the payment's next attempt; undefined: it is given up, and the next one begins another. */
  note(begun: unknown): Promise<void>;
  /** True once another attempt may be waiting for it, or is to: then it is not to be cancelled. */
  isCutOff(): boolean;
}

export const NO_JOB: Job = { begun: undefined, note: async () => {}, isCutOff: () => false };

/**
 * What `make` makes, unless an earlier attempt of this payment made it of the same `order` and could not store it in time. Both
 * have to be JSON. An order of a job says which host is asked: another one has jobs of others by the same names.
 */
export type Once = <Made>(order: unknown, make: (job: Job) => Promise<Made>) => Promise<Made>;

interface Attempt {
  readonly paymentId: string;
  /** True where this payment was worked on before. */
  readonly isRepeated: boolean;
  /** Of `deadline`. */
  readonly signal: AbortSignal;
  /** False once the work may be another instance's. */
  mayGoOn(): boolean;
}

/** What an order has come to. */
interface Known {
  readonly begun?: unknown;
  readonly made?: unknown;
}

export interface Bought {
  /** Runs one attempt. Throws what it throws. */
  attempt<Result>(attempt: Attempt, work: (once: Once) => Promise<Result>): Promise<Result>;
}

const isLate = (error: unknown): boolean => error instanceof UpstreamProblem && error.failure === 'timeout';

/** Providers delete their own copies within the hour. */
const KEPT_MS = 3_600_000;
/** Characters of JSON that the database takes: addresses of files, speech. */
const LONGEST_KEPT = 1024 * 1024;
/** What is longer, or what the database does not take either, stays in the process: so many of all, the newest. */
const MOST_IN_MEMORY = 128 * 1024 * 1024;

export function openBought({ store, now }: { store: Pick<Store, 'cached' | 'keep'>; now(): number }): Bought {
  const inMemory = openMemory();

  async function find(key: string): Promise<string | undefined> {
    return inMemory.get(key) ?? (await store.cached(key, now() - KEPT_MS))?.value;
  }

  async function keep(key: string, known: Known): Promise<void> {
    const json = JSON.stringify(known);
    inMemory.delete(key);
    if (json.length > LONGEST_KEPT) inMemory.set(key, json);
    else await store.keep(key, json, now()).catch(() => inMemory.set(key, json));
  }

  async function forget(key: string): Promise<void> {
    inMemory.delete(key);
    await store.keep(key, '', now());
  }

  return {
    async attempt({ paymentId, isRepeated, signal, mayGoOn }, work) {
      const made = new Map<string, unknown>();
      const found = new Set<string>();
      let isUnstored = false;

      // Who slept past the deadline may find that it has passed before it learns that the work is another's.
      const isCutOff = () => !mayGoOn() || (signal.aborted && !isTimeout(signal.reason));

      async function before(key: string): Promise<Known> {
        const json = isRepeated ? await find(key) : undefined;
        if (!json) return {};
        found.add(key);
        return JSON.parse(json);
      }

      const once: Once = async <Made>(order: unknown, make: (job: Job) => Promise<Made>): Promise<Made> => {
        const key = `order:${createHash('sha256')
          .update(JSON.stringify([paymentId, order]))
          .digest('hex')}`;
        const known = await before(key);
        if (known.made !== undefined) return known.made as Made;
        const note = async (begun: unknown) => {
          found.add(key);
          await keep(key, { begun });
        };
        const fresh = await make({ begun: known.begun, note, isCutOff });
        made.set(key, fresh);
        // Of several at once, another could not be stored meanwhile.
        if (isUnstored) await keep(key, { made: fresh });
        return fresh;
      };

      try {
        return await work(once);
      } catch (error) {
        // What is late is worked on all the same, and billed.
        isUnstored = error instanceof MediaNotStored || isLate(error);
        if (isUnstored) await Promise.all([...made].map(([key, value]) => keep(key, { made: value })));
        else if (!isCutOff()) await Promise.all([...found].map(forget)).catch(() => undefined);
        throw error;
      }
    },
  };
}

/** The newest of what was put in, up to a size. */
function openMemory(): Pick<Map<string, string>, 'get' | 'set' | 'delete'> {
  const entries = new Map<string, string>();
  const size = () => [...entries.values()].reduce((total, { length }) => total + length, 0);
  return {
    get: (key) => entries.get(key),
    delete: (key) => entries.delete(key),
    set(key, value) {
      entries.set(key, value);
      for (const [oldest] of entries) {
        if (size() <= MOST_IN_MEMORY) break;
        entries.delete(oldest);
      }
      return entries;
    },
  };
}
