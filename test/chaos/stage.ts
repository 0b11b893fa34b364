/** What a campaign needs: the world, the database, gateways that wait for payers, and a funded API key. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openApiKeys } from '../../src/credits/api-keys.ts';
import { usd } from '../../src/money.ts';
import { type Intervals, usualIntervals } from '../../src/payment/intervals.ts';
import { bundle } from '../bundle.ts';
import { openBooks } from './books.ts';
import { writeCatalogue } from './catalogue.ts';
import type { Chains } from './chains.ts';
import { type Database, openDatabase, type StoreName } from './database.ts';
import { type Faults, openFaults } from './faults.ts';
import { type Gateways, openGateways } from './gateways.ts';
import { type ChainsName, openChains } from './open-chains.ts';
import { openSender, type Sender } from './send.ts';
import { openStrikes, type Strikes } from './strikes.ts';
import { openTimeline, type Timeline } from './timeline.ts';
import { openWorld, type World } from './world.ts';

export interface Stage {
  readonly seed: number;
  readonly chains: Chains;
  readonly sender: Sender;
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly strikes: Strikes;
  readonly database: Database;
  readonly world: World;
  readonly books: Awaited<ReturnType<typeof openBooks>>;
  readonly gateways: Gateways;
  /** The places of the gateways. */
  readonly slots: readonly number[];
  /** In clear. */
  readonly apiKey: string;
  /** Variables of the gateway's commands. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const INTERVALS: Intervals = {
  ...usualIntervals,
  leaseMs: 3_000,
  waitMs: 2_500,
  reconcileEveryMs: 300,
  confirmEveryMs: 300,
  seenByAllMs: 3_000,
  adoptAfterMs: 1_500,
  lookAgainMs: { least: 300, most: 2_000 },
};
const FACILITATOR_TIMEOUT_MS = 1_500;
/** Of the gateways by place, in milliseconds: as far apart as the clocks of servers are that are kept right. */
const SKEWS_MS = [0, 700, -700];
const SPARES = 2;

const environment = (directory: string, catalogue: string) => ({
  TURNPIKE_MODE: 'live',
  HOST: '127.0.0.1',
  PORT: '0',
  TURNPIKE_PUBLIC_URL: 'https://gateway.example',
  TURNPIKE_MPP_SECRET: 'a secret of the campaign that is long enough',
  TURNPIKE_DATA: directory,
  TURNPIKE_CATALOGUE: catalogue,
  REPLICATE_API_TOKEN: 'a key',
  OPENROUTER_API_KEY: 'a key',
  LOG_LEVEL: 'warn',
});

export interface StageOptions {
  readonly store: StoreName;
  readonly chains: ChainsName;
  readonly seed: number;
}

export async function openStage({ store, chains: chainsName, seed }: StageOptions): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-chaos-'));
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(directory, { recursive: true, force: true })];
  /** All of it, whatever fails: what goes on keeps its process from ending. */
  const stop = async () => {
    const failures: unknown[] = [];
    for (const each of stops.splice(0)) {
      await Promise.resolve()
        .then(each)
        .catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  try {
    const catalogue = join(directory, 'catalogue');
    writeCatalogue(catalogue);
    const chains = await openChains(chainsName, catalogue);
    stops.unshift(chains.stop);
    const timeline = openTimeline();
    const faults = openFaults(seed);
    const strikes = openStrikes();
    const database = await openDatabase(store, directory);
    stops.unshift(database.stop);
    const world = await openWorld({ chains, faults, timeline, onMoment: strikes.reach });
    stops.unshift(world.stop);
    const sender = openSender();
    stops.unshift(sender.close);
    const books = await openBooks(database.opened);
    stops.unshift(books.close);
    const apiKeys = openApiKeys({ store: books.credits, mode: 'live', now: Date.now });
    const { apiKey } = await apiKeys.create({ label: 'given', credit: usd('100') });
    const shared = { ...environment(directory, catalogue), ...chains.environment };
    const nodesFor = (slot: number) =>
      Object.fromEntries(
        Object.entries(chains.nodes).map(([variable, node]) => [variable, world.addressFor(slot, 'node', node)]),
      );
    const { databaseUrl } = database.opened;
    for (const part of ['node_modules', 'package.json']) symlinkSync(resolve(part), join(directory, part));
    const [file = ''] = await bundle(['test/chaos/gateway.ts'], join(directory, 'bundle'));
    const gateways = openGateways({
      file,
      environment: shared,
      timeline,
      orderFor: (slot) => ({
        order: 'serve',
        facilitatorUrl: world.addressFor(slot, 'facilitator'),
        nodeUrls: nodesFor(slot),
        upstreamUrl: world.addressFor(slot, 'upstream'),
        databaseUrl: database.urlFor(slot),
        intervals: INTERVALS,
        facilitatorTimeoutMs: FACILITATOR_TIMEOUT_MS,
        skewMs: SKEWS_MS[slot] ?? 0,
      }),
      onLost: world.upstream.abandon,
      spares: SPARES,
    });
    stops.unshift(gateways.stop);
    const slots = Array.from({ length: database.slots }, (_, slot) => slot);
    await Promise.all(slots.map(gateways.serve));
    const ofCommands = {
      ...shared,
      ...nodesFor(0),
      TURNPIKE_FACILITATOR_URL: world.addressFor(0, 'facilitator'),
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
    };
    return {
      ...{ seed, chains, sender, timeline, faults, strikes, database, world, books, gateways, slots, apiKey, stop },
      environment: ofCommands,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
