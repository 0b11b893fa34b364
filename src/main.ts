/** Environment -> app -> listen -> drain: the only side effects. */
import { join } from 'node:path';
import { openApp } from './app.ts';
import { checkedSchemasIn } from './catalogue/checked.ts';
import { CatalogueErrors } from './catalogue/diagnostic.ts';
import { loadCatalogue } from './catalogue/load.ts';
import { readConfig } from './config.ts';
import { ConfigProblem } from './environment.ts';
import { createLog } from './log.ts';
import { shipped } from './shipped.ts';

async function start(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const checked = checkedSchemasIn(join(config.dataDirectory, 'checked-schemas.json'));
  const catalogue = loadCatalogue(config.catalogueDirectory, shipped, checked);
  checked.save();
  const platform = config.live
    ? await (await import('./live.ts')).openLive(config.live, [...catalogue.networks.values()], log)
    : await (await import('./sandbox/index.ts')).openSandbox(catalogue, log);

  let app: Awaited<ReturnType<typeof openApp>> | undefined;
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    // A second Ctrl-C does not wait.
    if (stopping) process.exit(1);
    stopping = true;
    process.stdout.write(`\n${signal}: finishing what is under way\n`);
    await app?.close();
    await platform.stop();
    process.exit(0);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);

  try {
    app = await openApp(config, catalogue, platform, log);
  } catch (error) {
    await platform.stop();
    throw error;
  }
  for (const [route, variables] of app.missing) {
    log.warn({ route: route.id, set: variables }, 'not sold: its upstream has no key');
  }
  process.stdout.write(`ready ${app.url}\n`);
  if (config.mode === 'sandbox') {
    const port = config.port === 4020 ? '' : ` --url ${app.url}`;
    process.stdout.write(
      `pay   npm run pay -- /image/family-e-2 '{"prompt":"a lighthouse in fog","resolution":"2k"}'${port}\n`,
    );
  }
}

start().catch((error: unknown) => {
  const known = error instanceof ConfigProblem || error instanceof CatalogueErrors;
  const inUse = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const text = inUse
    ? 'The port is taken: stop what listens there, or set PORT to another one'
    : known
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
});
