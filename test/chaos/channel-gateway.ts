/** A gateway in live mode whose own key settles, in a process of its own that is killed: with short intervals. */

import { openApp } from '../../src/gateway/app.ts';
import { readConfig } from '../../src/gateway/config.ts';
import { openLive } from '../../src/live.ts';
import { createLog } from '../../src/log.ts';
import { usualIntervals } from '../../src/payment/intervals.ts';
import { loadSound } from '../load-catalogue.ts';

const config = readConfig(process.env);
if (!config.live) throw new Error('what is killed here is in live mode');
const catalogue = loadSound(config.catalogueDirectory);
// Every other network would be asked on the internet.
const networks = [...catalogue.networks.values()].filter(({ id }) => id === 'chain-c');
const reachable = { ...catalogue, networks: new Map(networks.map((network) => [network.id, network])) };
const live = await openLive(config.live, networks);
const platform = { ...live, baseUrlOf: () => process.env.CHAOS_UPSTREAM_URL };
const app = await openApp(config, reachable, platform, createLog(config.logLevel), Date.now, {
  ...usualIntervals,
  leaseMs: 1_000,
  waitMs: 500,
  reconcileEveryMs: 200,
  adoptAfterMs: 300,
  lookAgainMs: { least: 100, most: 400 },
  claims: { everyMs: 300, afterMs: 500, readEveryMs: 60_000, takenMs: 5_000 },
});
process.stdout.write(`ready ${app.url}\n`);
