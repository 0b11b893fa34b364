/** A primary of two workers, of whom the first takes calls, and the second never does. `HANGS`: it loads no catalogue to its end. */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../src/gateway/config.ts';
import { openLine } from '../../src/workers/line.ts';
import { supervise } from '../../src/workers/primary.ts';
import type { AskedOfPrimary, AskedOfWorkers } from '../../src/workers/questions.ts';

const { DATA = '', HANGS } = process.env;

if (cluster.isPrimary) {
  const config = { workers: 2, logLevel: 'info', dataDirectory: DATA, catalogueDirectory: DATA, drainMs: 0 };
  await supervise(config as unknown as Config, fileURLToPath(import.meta.url), console.log);
} else {
  process.on('SIGHUP', () => undefined);
  let catalogue = 'first';
  const primary = openLine<Pick<AskedOfWorkers, 'reload'>, AskedOfPrimary>(
    {
      send: (message) => void process.send?.(message),
      listen: (heard) => void process.on('message', heard),
    },
    {
      async reload() {
        if (HANGS !== undefined) await new Promise(() => console.log('loading'));
        const isNew = catalogue === 'first';
        catalogue = 'second';
        return { catalogue, endpoints: 1, isNew };
      },
    },
  );
  const unsold = { routes: 0, set: [], credits: false };
  if (cluster.worker?.id === 1) {
    await primary.ask('ready', { url: 'http://127.0.0.1:4020', consoleUrl: undefined, catalogue, unsold });
  }
}
