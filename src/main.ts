/** Environment -> app -> listen -> drain: the only side effects. */
import { join } from 'node:path';
import { openApp } from './app.ts';
import { checkedSchemasIn } from './catalogue/checked.ts';
import { loadCatalogue } from './catalogue/load.ts';
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { shipped } from './shipped.ts';
import { startProblem } from './start-problem.ts';

async function start(): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog(config.logLevel);
  const checked = checkedSchemasIn(join(config.dataDirectory, 'checked-schemas.json'));
  const catalogue = loadCatalogue(config.catalogueDirectory, shipped, checked);
  checked.save();
  const platform = config.live
    ? await (await import('./live.ts')).openLive(config.live, [...catalogue.networks.values()], log)
    : await (await import('./sandbox/index.ts')).openSandbox(catalogue, log, { variables: process.env });

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
  process.on('SIGHUP', stop);

  try {
    app = await openApp(config, catalogue, platform, log);
  } catch (error) {
    await platform.stop();
    throw error;
  }
  if (app.missing.size > 0) {
    const set = [...new Set([...app.missing.values()].flat())].sort();
    log.warn({ routes: app.missing.size, set }, 'not sold for want of keys: npm run endpoints shows what needs which');
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
  process.stderr.write(`${startProblem(error, process.env)}\n`);
  process.exit(1);
});
