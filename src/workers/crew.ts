/** The workers of a gateway: started, replaced when they die and when they are asked to, and ended together. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import type { Snapshot } from '../metrics/metrics.ts';
import { countedIn, sumOf, textOf } from '../metrics/sum.ts';
import { inTurn, within } from '../timing.ts';
import { type End, type Member, toldOf } from './member.ts';
import type { Started } from './questions.ts';

/** Nobody answers, and nobody will. The message says why, for whoever set the gateway up. */
export class NoWorkers extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NoWorkers';
  }
}

export interface Crew {
  /** Those that take calls. */
  ready(): readonly Member[];
  /** Resolves once all take calls, with what the first has told. Throws NoWorkers. */
  start(): Promise<Started>;
  /** A new process for each, one after the other: each takes calls before the one that it replaces stops to. Answers how many were replaced. */
  replace(): Promise<number>;
  /** Of all there are and were, in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Lets all finish what is under way, and ends those that do not come to their end. */
  drain(): Promise<void>;
  kill(): void;
}

/** Who has lived so long was no failed start. */
const STEADY_MS = 10_000;
/** So many in a row, with nobody left who answers, and the gateway ends. */
const MOST_DEATHS = 5;
const LEAST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;

const hasEnded = (outcome: Started | End): outcome is End => 'status' in outcome;

export function openCrew(parts: {
  readonly size: number;
  readonly log: Log;
  /** How long one that is replaced is waited for, before the next is. */
  readonly patienceMs: number;
  /** How long all are waited for once they are told to end. */
  readonly endMs: number;
  launch(): Member;
  /** One takes calls. */
  joined(started: Started): void;
  /** All are dead, and were so again and again. */
  lost(problem: NoWorkers): void;
}): Crew {
  const { size, log } = parts;
  /** By place; whoever is here is replaced when it dies. */
  const places: Member[] = [];
  /** With those who leave. */
  const present = new Set<Member>();
  let past: Snapshot[] = [];
  let deaths = 0;
  let hasServed = false;
  let isEnding = false;
  const ready = () => [...present].filter(({ stands }) => stands === 'ready');

  function launch(): Member {
    const member = parts.launch();
    present.add(member);
    member.ended.then(() => {
      present.delete(member);
      const counted = member.counted();
      if (counted) past.push(countedIn(counted));
    });
    return member;
  }

  /** Throws NoWorkers, or waits: longer after each death. */
  async function mourn({ pid }: Member, end: End): Promise<void> {
    deaths += 1;
    // A single process would end as well.
    if (end.problem !== undefined && !hasServed) throw new NoWorkers(end.problem);
    if (deaths >= MOST_DEATHS && ready().length === 0) {
      throw new NoWorkers(`The workers die one after the other: the last one ${toldOf(end)}`);
    }
    log.error({ worker: pid, deaths }, `a worker ${toldOf(end)}; another takes its place`);
    await delay(Math.min(LEAST_WAIT_MS * 2 ** (deaths - 1), LONGEST_WAIT_MS));
  }

  /** From now on it is at the place. */
  function take(place: number, member: Member, started: Started): void {
    places[place] = member;
    hasServed = true;
    parts.joined(started);
    let isSteady = false;
    const steady = setTimeout(() => {
      isSteady = true;
      deaths = 0;
    }, STEADY_MS).unref();
    member.ended.then(async (end) => {
      clearTimeout(steady);
      if (isEnding || places[place] !== member) return;
      // What kills all at once is no failed start of any of them.
      if (isSteady) deaths = 0;
      try {
        await mourn(member, end);
        if (places[place] === member) await fill(place);
      } catch (error) {
        if (error instanceof NoWorkers) parts.lost(error);
        else throw error;
      }
    });
  }

  /** Resolves once somebody at the place takes calls; undefined: the gateway ends meanwhile. */
  async function fill(place: number): Promise<Started | undefined> {
    while (!isEnding) {
      const member = launch();
      places[place] = member;
      const outcome = await member.opened;
      if (places[place] !== member || isEnding) return undefined;
      if (!hasEnded(outcome)) {
        take(place, member, outcome);
        return outcome;
      }
      await mourn(member, outcome);
      if (places[place] !== member) return undefined;
    }
    return undefined;
  }

  return {
    ready,
    async start() {
      // The first prepares the database for all, and meets what keeps them from starting.
      const first = await fill(0);
      await Promise.all(Array.from({ length: size - 1 }, (_, index) => fill(index + 1)));
      if (!first) throw new NoWorkers('The gateway was ended before it had started');
      return first;
    },
    replace: inTurn(async () => {
      let replaced = 0;
      for (const place of places.keys()) {
        // Whoever is starting runs the new code already.
        if (isEnding || places[place]?.stands !== 'ready') continue;
        const next = launch();
        const outcome = await next.opened;
        if (hasEnded(outcome)) {
          if (!isEnding) log.error({ worker: next.pid }, `a new worker ${toldOf(outcome)}; the others work on`);
          return replaced;
        }
        // Another than before, where that one has died meanwhile.
        const old = places[place];
        take(place, next, outcome);
        old?.retire();
        replaced += 1;
        if (old) await within(parts.patienceMs, old.ended);
      }
      return replaced;
    }),
    metrics: inTurn(async () => {
      const before = past.length;
      const sum = countedIn(await sumOf([...past]));
      past = [sum, ...past.slice(before)];
      // Who ends from here on is among those who are asked, and nowhere else.
      const gone = [...past];
      const counted = await Promise.all([...present].map((member) => member.count()));
      return await textOf([...gone, ...counted.filter((one) => one !== undefined)]);
    }),
    async drain() {
      isEnding = true;
      for (const member of present) member.drain();
      const ended = Promise.all([...present].map((member) => member.ended));
      await within(parts.endMs, ended);
      for (const { pid, kill } of present) {
        log.error(
          { worker: pid },
          'a worker does not end, and is killed: what it had under way is taken up as after a crash',
        );
        kill();
      }
      await ended;
    },
    kill() {
      for (const member of present) member.kill();
    },
  };
}
