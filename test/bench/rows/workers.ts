/** Several processes behind one port, on one Postgres, beside one. */
import { join } from 'node:path';
import { BUILT, buildGateway } from '../../../codegen/build.ts';
import { startPostgres } from '../../postgres.ts';
import type { Bench } from '../bench.ts';
import { callEveryUpstreamAt } from '../catalogue.ts';
import { startAsBuilt } from '../gateway.ts';
import { type Beside, loadRow, type Row } from '../row.ts';
import type { ServerProcess } from '../server-process.ts';
import { subject } from '../subject.ts';

const { path, body } = subject;

/** Starts gateways as they are shipped, on one Postgres. */
async function startingOnPostgres(bench: Bench): Promise<(workers: number) => Promise<ServerProcess>> {
  const catalogue = join(bench.folder(), 'catalogue');
  callEveryUpstreamAt(bench.catalogue, catalogue, bench.doublesUrl);
  await buildGateway(BUILT, catalogue);
  const { url: databaseUrl } = bench.keep(await startPostgres({ waitsForDisk: true }));
  const { doublesUrl } = bench;
  return async (workers) =>
    bench.keep(await startAsBuilt({ data: join(bench.folder(), 'data'), catalogue, doublesUrl, databaseUrl, workers }));
}

const ONE = 'turnpike with 1 worker';

const workersRow = (count: number, call: { payment: 'x402'; expects: 200 } | { expects: 402 }, name: string): Row =>
  loadRow(name, { path, body, ...call }, async (bench) => {
    const start = await startingOnPostgres(bench);
    const goal: Pick<Beside, 'goal'> = count === 2 ? { goal: { times: 1.7 } } : {};
    return {
      ours: { server: await start(count) },
      beside: [{ who: ONE, target: { server: await start(1) }, ...goal }],
    };
  });

export const twoWorkersUnpaid = workersRow(2, { expects: 402 }, 'workers-2-challenge');
export const twoWorkers = workersRow(2, { payment: 'x402', expects: 200 }, 'workers-2');
export const fourWorkers = workersRow(4, { payment: 'x402', expects: 200 }, 'workers-4');
