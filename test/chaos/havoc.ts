/** What is done to gateways and database while payers pay. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from './database.ts';
import { openDice } from './dice.ts';
import type { Gateways } from './gateways.ts';
import { planStrike, type Strikes } from './strikes.ts';
import type { Timeline } from './timeline.ts';

/** The database's server ended at once, at some time between these two, as the timeline has them. */
export interface Crash {
  readonly from: number;
  readonly to: number;
}

export interface HavocParts {
  readonly seed: number;
  readonly kills: number;
  /** No blow comes later, whatever is left to be done. */
  readonly mostMs: number;
  readonly leaseMs: number;
  readonly gateways: Gateways;
  readonly strikes: Strikes;
  readonly database: Database;
  readonly timeline: Timeline;
  /** See `GatewaysParts`: who does not reach the database cannot prolong what it has. */
  onLost(slot: number): void;
  /** The database's server has ended, with whatever it had not written to the disk. */
  onCrash(crash: Crash): void;
}

/** Between the end of one blow and the next. */
const PAUSE_MS = { least: 20, most: 250 };
/** After every so many kills, where several gateways share a server. */
const KILLS_PER = { stop: 5, restart: 8, cut: 7 } as const;
const CUT_MS = { least: 500, most: 2_500 };

/** Resolves once all of it is done. Answers how often each thing was done. */
export async function wreak(parts: HavocParts): Promise<ReadonlyMap<string, number>> {
  const { seed, kills, mostMs, leaseMs, gateways, strikes, database, timeline, onLost, onCrash } = parts;
  const dice = openDice(seed, 'havoc');
  const done = new Map<string, number>();
  const count = (what: string) => done.set(what, (done.get(what) ?? 0) + 1);
  const replacing = new Set<Promise<void>>();

  async function kill(): Promise<void> {
    const { slot, moment } = await strikes.place(planStrike(dice), gateways.kill);
    count(`killed at: ${moment}`);
    const replaced = gateways.serve(slot);
    replacing.add(replaced);
    replaced.finally(() => replacing.delete(replaced)).catch(() => undefined);
    if (gateways.working().length === 0) await replaced;
  }

  async function stop(): Promise<void> {
    const milliseconds = leaseMs + dice.between(500, 2_000);
    await strikes.place(planStrike(dice), (slot) => gateways.suspend(slot, milliseconds));
    count('stopped for longer than a lease');
  }

  async function restart(): Promise<void> {
    timeline.note('THE DATABASE STOPS');
    for (const slot of gateways.working()) onLost(slot);
    const from = timeline.now();
    await database.server?.restart(() => onCrash({ from, to: timeline.now() }));
    timeline.note('THE DATABASE IS BACK');
    count('database restarted');
  }

  function cut(): void {
    const slot = dice.between(0, database.slots - 1);
    const milliseconds = dice.between(CUT_MS.least, CUT_MS.most);
    timeline.note(`CUT OFF from the database for ${milliseconds} ms`, { slot });
    database.server?.cutOff(slot, milliseconds);
    onLost(slot);
    count('cut off from the database');
  }

  const until = performance.now() + mostMs;
  for (let killed = 1; killed <= kills && performance.now() < until; killed += 1) {
    await delay(dice.between(PAUSE_MS.least, PAUSE_MS.most));
    await kill();
    if (!database.server) continue;
    if (killed % KILLS_PER.stop === 0) await stop();
    if (killed % KILLS_PER.restart === 0) await restart();
    if (killed % KILLS_PER.cut === 0) cut();
  }
  await Promise.all(replacing);
  return done;
}
