import { measure } from '../measure.ts';
import { type Has, type Row, smallerIsBetter } from '../row.ts';
import type { ServerProcess } from '../server-process.ts';
import { subject } from '../subject.ts';

const SAMPLE_MS = 100;

/** The most that a server holds while it is called and paid, each alone. */
export const loadedMemory: Row = {
  name: 'loaded-memory',
  async run(bench) {
    const gateway = await bench.gateway();
    const servers: readonly (Omit<Has, 'values'> & { readonly server: ServerProcess | undefined })[] = [
      { who: 'turnpike', server: gateway },
      { who: '@x402/express', server: await bench.peer('x402-express') },
      { who: '@faremeter/middleware', server: await bench.peer('faremeter') },
      { who: 'bare Express, free', server: await bench.bare('express', gateway.url), isNoGateway: true },
    ];
    const requests = Math.ceil(5 * bench.milliseconds);
    const work = { ...subject, payment: 'x402', callers: 64, requests, expects: 200 } as const;
    const peaks: Has[] = [];
    for (const { server, ...other } of servers) {
      if (!server) continue;
      let most = 0;
      const sampling = setInterval(() => {
        most = Math.max(most, server.residentBytes() / 2 ** 20);
      }, SAMPLE_MS);
      await measure(bench.load, [{ server }], work, bench).finally(() => clearInterval(sampling));
      peaks.push({ ...other, values: [most] });
    }
    return smallerIsBetter('loaded-memory', peaks, { unit: 'MB' });
  },
};
