/** Three gateways on one Postgres, each with a third of the callers, beside one of them. */
import { startPostgres } from '../../postgres.ts';
import { loadRow } from '../row.ts';
import { together } from '../server-process.ts';
import { subject } from '../subject.ts';

export const threeInstances = loadRow(
  'instances-3',
  { path: subject.path, body: subject.body, payment: 'x402', expects: 200 },
  async (bench) => {
    const { url: databaseUrl } = bench.keep(await startPostgres({ waitsForDisk: true }));
    const alone = await bench.gateway({ databaseUrl });
    const others = [await bench.gateway({ databaseUrl }), await bench.gateway({ databaseUrl })];
    return {
      ours: { server: together([alone, ...others]) },
      beside: [{ who: 'turnpike, one instance', target: { server: alone } }],
    };
  },
);
