/**
 * A campaign: payers pay while everything fails and gateways are killed; then nothing fails any more, everybody comes
 * back, and all ledgers are compared.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { aftermath } from './aftermath.ts';
import type { Books } from './books.ts';
import { checkAnswers, checkServed } from './checks/answers.ts';
import { checkBooks, checkQuiet } from './checks/books.ts';
import { checkCredits } from './checks/credits.ts';
import { checkProcess } from './checks/process.ts';
import { checkUpstream } from './checks/upstream.ts';
import type { Violation } from './checks/violation.ts';
import type { StoreName } from './database.ts';
import type { Measured } from './gateway.ts';
import type { Ledger } from './ledger.ts';
import type { ChainsName } from './open-chains.ts';
import { type Reconciled, reconciled } from './reconciled.ts';
import { openStage } from './stage.ts';
import { type Storm, type StormOptions, storm } from './storm.ts';
import type { Timeline } from './timeline.ts';

export interface CampaignOptions extends StormOptions {
  readonly store: StoreName;
  readonly chains: ChainsName;
  readonly seed: number;
}

export interface Campaign extends Storm {
  readonly violations: readonly Violation[];
  readonly timeline: Timeline;
  readonly ledger: Ledger;
  /** What went wrong in the world, and how often. */
  readonly faults: ReadonlyMap<string, number>;
  readonly books: Books;
  readonly told: Reconciled;
  /** How long it took in all. */
  readonly seconds: number;
}

/** For connections that nobody uses any more to be closed on both sides. */
const REST_MS = 1_000;
/** What is slow to do so is waited for. */
const PATIENCE_MS = 60_000;

export async function campaign({ store, chains, seed, ...options }: CampaignOptions): Promise<Campaign> {
  const startedAt = performance.now();
  const stage = await openStage({ store, chains, seed });
  try {
    const { gateways, sender, slots, world, timeline, faults } = stage;
    const { markOf } = timeline;
    const { upstream } = world;
    const atWork = await storm(stage, options);
    const measured = slots.at(-1) ?? 0;
    const start = await gateways.measure(measured);
    const { returned, quiet, books } = await aftermath(stage, atWork.purchases);
    const told = await reconciled(stage.environment);
    await sender.close();
    world.rest();
    const giveUpAt = performance.now() + PATIENCE_MS;
    let end: Measured;
    do {
      await delay(REST_MS);
      end = await gateways.measure(measured);
    } while (checkProcess(start, end).length > 0 && performance.now() < giveUpAt);

    const ledger = await stage.chains.readLedger();
    const evidence = { ...atWork, ledger, calls: upstream.calls, quiet, books, told, markOf };
    const violations = [
      ...checkAnswers(evidence),
      ...checkServed(returned),
      ...checkUpstream(evidence),
      ...checkQuiet(quiet, markOf),
      ...checkQuiet(books, markOf),
      ...checkBooks(evidence),
      ...checkCredits(evidence),
      ...checkProcess(start, end),
      ...gateways.faults.map((text) => ({ promise: 'gateways go on', text })),
    ];
    const seconds = (performance.now() - startedAt) / 1000;
    return { ...atWork, violations, timeline, ledger, faults: faults.given, books, told, seconds };
  } finally {
    await stage.stop();
  }
}
