/** The gateway as `src/main.ts` starts it in live mode, but with the double in the place of every upstream. */
import { openApp } from '../../../src/app.ts';
import { loadCatalogue } from '../../../src/catalogue/load.ts';
import { readConfig } from '../../../src/config.ts';
import { openLive } from '../../../src/live.ts';
import { createLog } from '../../../src/log.ts';
import { shipped } from '../../../src/shipped.ts';

const config = readConfig(process.env);
if (!config.live) throw new Error('the benchmark measures live mode');
const catalogue = loadCatalogue(config.catalogueDirectory, shipped);
const live = await openLive(config.live, [...catalogue.networks.values()]);
const app = await openApp(
  config,
  catalogue,
  { ...live, baseUrlOf: () => process.env.BENCH_DOUBLES_URL },
  createLog(config.logLevel),
);
process.stdout.write(`ready ${app.url}\n`);
