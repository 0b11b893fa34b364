/** What one database server takes: whole payments a second (claimed, fulfilled, settled), by how many connections ask at once. */
import { randomBytes } from 'node:crypto';
import { openPostgresStore } from '../../../src/store/engines/postgres.ts';
import { startSqliteThread } from '../../../src/store/engines/sqlite-thread.ts';
import type { Store } from '../../../src/store/store.ts';
import { startPostgres } from '../../postgres.ts';
import { sampleAnswer, sampleFacts, sampleReceipt } from '../../store/samples.ts';
import type { Bench } from '../bench.ts';
import { median } from '../percentile.ts';
import type { Row } from '../row.ts';
import { count, type Line } from '../table.ts';

const CONNECTIONS = [1, 2, 4, 8, 16, 32];
/** A store opens ten connections at most: more of them are asked by several, as by several instances. */
const MOST_OF_AN_INSTANCE = 8;
/** The first seconds of a connection count only warm up. */
const ROUNDS = 4;

const LEASE_MS = 60_000;
const exposure = { perPayer: 10n ** 9n, unproven: 10n ** 9n, failures: 5, failuresSince: 0 };

/** As long as the identity that an EIP-3009 authorization gets, each of a payer of its own. */
async function payOnce(store: Store): Promise<void> {
  const id = `eip155:8453/${randomBytes(20).toString('hex')}/${randomBytes(32).toString('hex')}`;
  const facts = sampleFacts(id, { payer: `0x${randomBytes(20).toString('hex')}`, amount: '14357' });
  const now = store.now();
  const options = { owner: 'bench', now, leaseUntil: now + LEASE_MS, maxAttempts: 3, maxOwedAttempts: 5, exposure };
  const outcome = await store.claim(facts, options);
  if (!outcome.won) throw new Error(`payment ${id} was not claimed`);
  await store.fulfil(outcome.claim, sampleAnswer(), { cost: undefined, now });
  await store.settle(outcome.claim, sampleReceipt(`0x${randomBytes(32).toString('hex')}`), now);
}

/** Payments a second, of so many who each pay one after the other. */
async function rate(stores: readonly Store[], payers: number, milliseconds: number): Promise<number> {
  const startedAt = performance.now();
  let paid = 0;
  const pay = async (store: Store) => {
    while (performance.now() - startedAt < milliseconds) {
      await payOnce(store);
      paid += 1;
    }
  };
  await Promise.all(Array.from({ length: payers }, (_, payer) => pay(stores[payer % stores.length] as Store)));
  return (paid / (performance.now() - startedAt)) * 1000;
}

async function line(who: string, stores: readonly Store[], payers: number, { milliseconds }: Bench): Promise<Line> {
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rates.push(await rate(stores, payers, milliseconds));
  return { who, measured: `${count(median(rates.slice(1)))}/s` };
}

/** Both wait for the disk. The gateway's own part is one process, on the machine that the database is on. */
export const claims: Row = {
  name: 'claims',
  async run(bench) {
    const lines: Line[] = [];
    const { url } = bench.keep(await startPostgres({ waitsForDisk: true }));
    for (const connections of CONNECTIONS) {
      const instances = Math.ceil(connections / MOST_OF_AN_INSTANCE);
      const stores = await Promise.all(Array.from({ length: instances }, () => openPostgresStore(url)));
      lines.push(await line(`Postgres, ${connections} connections`, stores, connections, bench));
      for (const store of stores) await store.close();
    }
    const thread = startSqliteThread();
    const store = await thread.open(`${bench.folder()}/turnpike.sqlite`);
    for (const payers of CONNECTIONS) lines.push(await line(`SQLite, ${payers} at once`, [store], payers, bench));
    await store.close();
    await thread.stop();
    return lines.map((each, index) => (index === 0 ? { row: 'claims', ...each } : each));
  },
};
