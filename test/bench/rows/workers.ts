/** Several processes behind one port, on one Postgres, beside one. */
import { startPostgres } from '../../postgres.ts';
import { type Beside, loadRow, type Row } from '../row.ts';
import { subject } from '../subject.ts';

const { path, body } = subject;

const ONE = 'turnpike with 1 worker';

const workersRow = (count: number, call: { payment: 'x402'; expects: 200 } | { expects: 402 }, name: string): Row =>
  loadRow(name, { path, body, ...call }, async (bench) => {
    const { url: databaseUrl } = bench.keep(await startPostgres({ waitsForDisk: true }));
    const goal: Pick<Beside, 'goal'> = count === 2 ? { goal: { times: 1.7 } } : {};
    return {
      ours: { server: await bench.gateway({ databaseUrl, workers: count }) },
      beside: [{ who: ONE, target: { server: await bench.gateway({ databaseUrl, workers: 1 }) }, ...goal }],
    };
  });

export const twoWorkersUnpaid = workersRow(2, { expects: 402 }, 'workers-2-challenge');
export const twoWorkers = workersRow(2, { payment: 'x402', expects: 200 }, 'workers-2');
export const fourWorkers = workersRow(4, { payment: 'x402', expects: 200 }, 'workers-4');
