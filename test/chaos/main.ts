/** Kills gateways at their work. Exits 1 where a promise was broken. */
import '../own-fetch.ts';
import { misused, programOptions } from '../program-options.ts';
import { campaign } from './campaign.ts';
import { type StoreName, stores } from './database.ts';
import { type ChainsName, chainsNames } from './open-chains.ts';
import { figuresOf, violationsOf } from './report.ts';

const USAGE =
  'npm run chaos -- [--store sqlite|postgres] [--chains simulated|real] [--kills 40] [--seed 1] [--payers 12] [--seconds 3600]';

const values = programOptions(USAGE, {
  store: { type: 'string', default: 'sqlite' },
  chains: { type: 'string', default: 'simulated' },
  kills: { type: 'string', default: '40' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  payers: { type: 'string', default: '12' },
  seconds: { type: 'string', default: '86400' },
});
const store = stores.find((name): name is StoreName => name === values.store);
const chains = chainsNames.find((name): name is ChainsName => name === values.chains);
const { kills, seed, payers, seconds } = Object.fromEntries(
  Object.entries(values).map(([name, value]) => [name, Number(value)]),
) as Record<Exclude<keyof typeof values, 'store' | 'chains'>, number>;
if (!store || !chains || ![kills, seed, payers, seconds].every(Number.isSafeInteger)) {
  misused(USAGE);
}

process.stdout.write(`store ${store}, chains ${chains}, seed ${seed}\n`);
const found = await campaign({ store, chains, kills, seed, payers, seconds });
process.stdout.write(`${figuresOf(found)}\n`);
if (found.violations.length > 0) {
  process.stdout.write(`${violationsOf(found, seed)}\n`);
  process.exitCode = 1;
}
