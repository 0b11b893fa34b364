/**
 * A gateway in live mode, in a process of its own, as `src/main.ts` starts it, but against the campaign's world and with
 * short intervals. It loads all that it needs, says that it is ready, and opens store and port only when it is told to:
 * so it takes the place of one that was killed at once.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkedCatalogueIn } from '../../src/catalogue/checked.ts';
import { loadCatalogue } from '../../src/catalogue/load.ts';
import { openApp } from '../../src/gateway/app.ts';
import { readConfig } from '../../src/gateway/config.ts';
import { shipped } from '../../src/gateway/shipped.ts';
import { openLive } from '../../src/live.ts';
import { createLog } from '../../src/log.ts';
import { remoteFacilitator } from '../../src/payment/facilitators/remote.ts';
import type { Intervals } from '../../src/payment/intervals.ts';

/** What it is told. */
export type Order =
  | {
      readonly order: 'serve';
      readonly facilitatorUrl: string;
      /** By the variables that name them. */
      readonly nodeUrls: Readonly<Record<string, string>>;
      /** The provider's name is appended. */
      readonly upstreamUrl: string;
      readonly databaseUrl: string | undefined;
      readonly intervals: Intervals;
      /** What the facilitator may take, in milliseconds. */
      readonly facilitatorTimeoutMs: number;
      /** How wrong its clock is, in milliseconds. */
      readonly skewMs: number;
    }
  | { readonly order: 'measure' };

/** What it says. */
export type Said =
  | { readonly said: 'warm' }
  | { readonly said: 'serving'; readonly url: string }
  /** Nothing ran in it for so long: it may have lost what it was at work on. */
  | { readonly said: 'slept'; readonly milliseconds: number }
  | ({ readonly said: 'measured' } & Measured);

export interface Measured {
  readonly heapBytes: number;
  /** Undefined where the system does not tell. */
  readonly descriptors: number | undefined;
}

const say = (said: Said): void => void process.send?.(said);

const environment = (order: Extract<Order, { order: 'serve' }>) => ({
  ...process.env,
  TURNPIKE_FACILITATOR_URL: order.facilitatorUrl,
  ...order.nodeUrls,
  ...(order.databaseUrl && { DATABASE_URL: order.databaseUrl }),
});

function openDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return undefined;
  }
}

const { TURNPIKE_CATALOGUE: catalogueDirectory = '', TURNPIKE_DATA: data = '' } = process.env;
const checked = checkedCatalogueIn(join(data, 'checked-catalogue.json'));
const catalogue = loadCatalogue(catalogueDirectory, shipped, checked);
checked.save();
// With the first payment there it would be loaded anyway, and keep the process busy for as long as a lease.
if (process.env.TURNPIKE_TEMPO_CURRENCY) await import('../../src/rails/mpp/tempo-chain.ts');

async function serve(order: Extract<Order, { order: 'serve' }>): Promise<void> {
  const { facilitatorTimeoutMs, upstreamUrl, intervals, skewMs } = order;
  const config = readConfig(environment(order));
  if (!config.live) throw new Error('a campaign is about live mode');
  const log = createLog(config.logLevel);
  const live = await openLive(config.live, [...catalogue.networks.values()], log);
  const facilitator = remoteFacilitator({
    url: order.facilitatorUrl,
    log,
    verifyTimeoutMs: facilitatorTimeoutMs,
    settleTimeoutMs: facilitatorTimeoutMs,
  });
  const platform = {
    ...live,
    facilitators: [{ name: 'world', facilitator }],
    baseUrlOf: ({ name }: { readonly name: string }) => `${upstreamUrl}/${name}`,
  };
  const app = await openApp(config, catalogue, platform, log, () => Date.now() + skewMs, intervals);
  say({ said: 'serving', url: app.url });
}

process.on('message', (order: Order) => {
  if (order.order === 'serve') {
    serve(order).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    });
    return;
  }
  globalThis.gc?.();
  say({ said: 'measured', heapBytes: process.memoryUsage().heapUsed, descriptors: openDescriptors() });
});
const BEAT_MS = 50;
const SLEEP_MS = 500;
let lastBeat = performance.now();
setInterval(() => {
  const milliseconds = performance.now() - lastBeat;
  lastBeat = performance.now();
  if (milliseconds > SLEEP_MS) say({ said: 'slept', milliseconds });
}, BEAT_MS);

// Nobody is left behind when the campaign ends, however it does.
process.on('disconnect', () => process.exit(0));
say({ said: 'warm' });
