/** The same call, sold by MPP with the method `evm`. */
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import { sellByMpp } from '../catalogue.ts';
import { type Comparison, loadRow } from '../row.ts';
import { subject } from '../subject.ts';

const { path, body } = subject;

async function besideMppx(bench: Bench): Promise<Comparison> {
  const catalogue = join(bench.folder(), 'catalogue');
  sellByMpp(bench.catalogue, catalogue, path);
  const mppx = await bench.peer('mppx');
  return {
    ours: { server: await bench.gateway({ catalogue }), path: `/mpp${path}` },
    beside: [{ who: 'mppx/express', target: mppx && { server: mppx } }],
  };
}

export const mppChallenge = loadRow('mpp-challenge', { path, body, expects: 402 }, besideMppx);

export const mppPaid = loadRow('mpp-paid', { path, body, payment: 'mpp', expects: 200 }, besideMppx);
