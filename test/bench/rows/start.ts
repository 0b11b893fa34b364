/** How long a live start takes until the first 402 is in hand, and what the started server holds. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, startBare } from '../bench.ts';
import { startAsBuilt, startAsShipped } from '../gateway.ts';
import { type Has, type Row, smallerIsBetter } from '../row.ts';
import type { ServerProcess } from '../server-process.ts';

const MOST_STARTS = 3;
/** What a start alone needed is given back by then. */
const IDLE_MS = 1_000;

interface Starts {
  readonly milliseconds: number[];
  readonly megabytes: number[];
}

async function time(start: () => Promise<ServerProcess>, { milliseconds, megabytes }: Starts): Promise<void> {
  const startedAt = performance.now();
  const server = await start();
  try {
    await ask(server.url);
    milliseconds.push(performance.now() - startedAt);
    await delay(IDLE_MS);
    megabytes.push(server.residentBytes() / 2 ** 20);
  } finally {
    await server.stop();
  }
}

export const start: Row = {
  name: 'start',
  async run(bench) {
    const { url } = await bench.gateway();
    const built: Starts = { milliseconds: [], megabytes: [] };
    const ours: Starts = { milliseconds: [], megabytes: [] };
    const bare: Starts = { milliseconds: [], megabytes: [] };
    for (let round = 0; round < Math.min(bench.rounds, MOST_STARTS); round += 1) {
      await time(() => startAsBuilt({ ...bench, data: join(bench.folder(), 'data') }), built);
      await time(() => startAsShipped({ ...bench, data: join(bench.folder(), 'data') }), ours);
      await time(() => startBare('express', url, bench.doublesUrl), bare);
    }
    const compared = (values: keyof Starts): Has[] => [
      { who: 'turnpike', values: built[values] },
      { who: 'turnpike, npm start', values: ours[values] },
      { who: 'bare Express', values: bare[values], isNoGateway: true },
    ];
    return [
      ...smallerIsBetter('start', compared('milliseconds'), { unit: 'ms', limit: 1_000 }),
      ...smallerIsBetter('idle-memory', compared('megabytes'), { unit: 'MB', limit: 120 }),
    ];
  },
};
