/** Paid calls, with other stores than an empty SQLite. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { startPostgres } from '../../postgres.ts';
import { settledPayments } from '../../store/engines/many.ts';
import type { Bench } from '../bench.ts';
import { loadRow, type Row } from '../row.ts';
import type { ServerProcess } from '../server-process.ts';
import { subject } from '../subject.ts';

const MANY_PAYMENTS = 1_000_000;

const paidOn = (name: string, start: (bench: Bench) => Promise<ServerProcess>, times?: number): Row =>
  loadRow(name, { path: subject.path, body: subject.body, payment: 'x402', expects: 200 }, async (bench) => ({
    ours: { server: await start(bench) },
    beside: [
      {
        who: 'turnpike on an empty SQLite',
        target: { server: await bench.gateway() },
        ...(times !== undefined && { goal: { times } }),
      },
    ],
  }));

/** Processor time is the gateway's alone, without Postgres'. */
export const postgres = paidOn(
  'postgres',
  async (bench) => {
    const { url: databaseUrl } = bench.keep(await startPostgres({ waitsForDisk: true }));
    return await bench.gateway({ databaseUrl });
  },
  0.6,
);

/** All settled, within the last hours. */
async function writePayments(file: string, payments: number): Promise<void> {
  await openSqliteStore(file).close();
  const database = new Database(file);
  try {
    database.exec('PRAGMA synchronous = OFF');
    const numbers = `WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${payments}) SELECT n FROM count`;
    database.exec(settledPayments(numbers, { counted: payments, from: Date.now() - payments * 10 }));
  } finally {
    database.close();
  }
}

export const fullStore = paidOn('full-store', async (bench) => {
  const data = bench.folder();
  mkdirSync(data, { recursive: true });
  await writePayments(join(data, 'turnpike.sqlite'), MANY_PAYMENTS);
  return await bench.gateway({ data });
});
