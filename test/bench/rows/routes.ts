import { join } from 'node:path';
import { multiplyCatalogue } from '../catalogue.ts';
import { loadRow, type Row } from '../row.ts';
import { subject } from '../subject.ts';

const { path, body } = subject;

/** A 402 of a gateway with many times the routes, beside the usual one. */
const manyRoutes = (times: number): Row =>
  loadRow(`routes-${times}`, { path, body, expects: 402 }, async (bench) => {
    const catalogue = join(bench.folder(), 'catalogue');
    multiplyCatalogue(bench.catalogue, catalogue, times);
    return {
      ours: { server: await bench.gateway({ catalogue }) },
      beside: [{ who: 'turnpike as shipped', target: { server: await bench.gateway() }, goal: { times: 0.95 } }],
    };
  });

export const tenTimesTheRoutes = manyRoutes(10);
export const hundredTimesTheRoutes = manyRoutes(100);
