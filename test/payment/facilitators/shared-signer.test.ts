/** Instances that settle with one key and one store never take one number of a transaction twice. */
import { join } from 'node:path';
import t from 'tap';
import { createRpc } from '../../../src/payment/chains/rpc.ts';
import { localFacilitator } from '../../../src/payment/facilitators/local.ts';
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import type { Store } from '../../../src/store/store.ts';
import { startPostgres } from '../../postgres.ts';
import { balances } from './contract.ts';
import { baseSepolia } from './networks.ts';
import { signV2 } from './payments.ts';

const AT_ONCE = 20;
/** Who comes last waits for all others. */
const PATIENCE_MS = 120_000;

const chains = await startChains({ networks: [baseSepolia] });
t.teardown(chains.stop);
const { evm } = chains.facilitatorOptions;
const rpc = createRpc(evm[0]?.rpcUrl ?? '');
const settler = chains.wallets.evm.facilitator.address;
const used = async () => Number(await rpc('eth_getTransactionCount', [settler, 'latest']));

const postgres = await startPostgres();
t.teardown(postgres.stop);
const file = join(t.testdir({}), 'turnpike.sqlite');
const stores: Record<string, () => Promise<Store>> = {
  SQLite: async () => openSqliteStore(file),
  Postgres: () => openPostgresStore(postgres.url),
};

for (const [name, open] of Object.entries(stores)) {
  t.test(`two instances with one key on ${name} settle ${AT_ONCE} payments each, all at once`, async (t) => {
    const instances = await Promise.all(
      [1, 2].map(async () => {
        const store = await open();
        const facilitator = localFacilitator({ evm, solana: [], confirmationTimeoutMs: PATIENCE_MS });
        facilitator.share(store);
        t.teardown(async () => {
          await facilitator.close();
          await store.close();
        });
        return facilitator;
      }),
    );
    const payments = await Promise.all(
      Array.from({ length: 2 * AT_ONCE }, (_, index) => signV2(chains, baseSepolia, { amount: String(index + 1) })),
    );
    const [before, sent] = [await balances(chains, baseSepolia), await used()];
    const settlements = await Promise.all(
      payments.map(({ payload, requirements }, index) =>
        instances[index % 2]?.settle(payload, requirements, AbortSignal.timeout(PATIENCE_MS)),
      ),
    );
    for (const settlement of settlements) t.match(settlement, { state: 'settled' });
    const transactions = settlements.map((each) => (each?.state === 'settled' ? each.transaction : ''));
    t.equal(new Set(transactions).size, 2 * AT_ONCE, 'each by a transaction of its own');
    t.equal(await used(), sent + 2 * AT_ONCE, 'and no number is used for anything else');
    const total = BigInt(AT_ONCE * (2 * AT_ONCE + 1));
    t.equal((await balances(chains, baseSepolia)).payTo, before.payTo + total);
  });
}
