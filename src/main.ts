/** Environment -> app -> listen -> drain: the only side effects. */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Route } from './catalogue/types.ts';
import { openApp } from './gateway/app.ts';
import { doubtful, readConfig, unknownVariables } from './gateway/config.ts';
import { makeDataDirectory } from './gateway/disk.ts';
import { load, reloadAloud, watchFiles } from './gateway/reloading.ts';
import { createLog } from './log.ts';
import { whenAskedToEnd } from './start/asked-to-end.ts';
import { type Refused, writeRunning } from './start/running.ts';
import { startProblem } from './start/start-problem.ts';
import { tellUnsold, unsoldOf } from './start/unsold.ts';
import { prepareStore } from './store/open.ts';
import { supervise } from './workers/primary.ts';
import { work } from './workers/worker.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** A call for somebody's first payment: a picture, where one is sold. */
function firstCall(sold: readonly Route[]): string {
  const route = sold.find(({ id }) => id === 'image/family-e-2') ?? sold.find(({ kind }) => kind === 'base');
  if (!route) return '<a path that is sold>';
  return `${route.path} '${JSON.stringify(route.example).replaceAll("'", "'\\''")}'`;
}

async function start(): Promise<void> {
  const config = readConfig(process.env);
  makeDataDirectory(config);
  const warnings = [...unknownVariables(process.env), ...doubtful(config, process.env)];
  if (cluster.isPrimary && warnings.length > 0) createLog(config.logLevel).warn({}, warnings.join('; '));
  if (config.workers > 1) {
    await (cluster.isWorker ? work(config) : supervise(config, fileURLToPath(import.meta.url), say));
    return;
  }
  const log = createLog(config.logLevel);
  // Whoever asks while it starts is not to end it, and is heard once it has: the files may have been read before.
  let isAskedToLoad = false;
  let loadAgain = async () => {
    isAskedToLoad = true;
  };
  process.on('SIGHUP', () => loadAgain());
  process.on('SIGUSR2', () => say('SIGUSR2 replaces workers, and TURNPIKE_WORKERS is 1: restart the gateway instead'));
  await prepareStore(config);
  const catalogue = load(config);
  const platform = config.live
    ? await (await import('./live.ts')).openLive(config.live, [...catalogue.networks.values()], log)
    : await (await import('./sandbox/index.ts')).openSandbox(catalogue, log, { variables: process.env });

  let app: Awaited<ReturnType<typeof openApp>> | undefined;
  const ending: (() => Promise<void> | void)[] = [];
  let stopping = false;
  const stop = async (reason: string) => {
    stopping = true;
    say(`\n${reason}: finishing what is under way`);
    for (const end of ending) await end();
    await app?.close();
    await platform.stop();
    process.exit(0);
  };
  whenAskedToEnd(stop, () => process.exit(1));

  try {
    app = await openApp(config, catalogue, platform, log);
  } catch (error) {
    await platform.stop();
    throw error;
  }
  const { url, missing, reload } = app;
  const note = (refused?: Refused) => {
    if (!stopping)
      ending[0] = writeRunning(config.dataDirectory, { pid: process.pid, url, ...(refused && { refused }) });
  };
  note();
  loadAgain = async () => {
    try {
      const why = await reloadAloud(reload, say);
      if (why !== undefined) note({ at: Date.now(), why });
    } catch (error) {
      if (!stopping) log.error({ err: error }, 'the catalogue was not loaded again');
    }
  };
  if (config.watch) ending.push((await watchFiles(config.catalogueDirectory, loadAgain, log)).close);
  tellUnsold(unsoldOf(missing), log);
  say(`ready ${url}`);
  const { console } = app;
  if (console) say(`Console: ${console.url}${console.token === undefined ? '' : `#token=${console.token}`}`);
  if (config.mode === 'sandbox') {
    const port = config.port === 4020 ? '' : ` --url ${url}`;
    say(`pay   npm run pay -- ${firstCall(app.sold)}${port}`);
  }
  if (isAskedToLoad) await loadAgain();
}

await start().catch((error: unknown) => {
  process.stderr.write(`${startProblem(error, process.env)}\n`);
  process.exit(1);
});
