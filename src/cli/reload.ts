/** `npm run reload`: has the running gateway sell what the catalogue's files say now. */
import { setTimeout as delay } from 'node:timers/promises';
import { loadCatalogue } from '../catalogue/load.ts';
import { readKeptConfig } from '../gateway/config.ts';
import { shipped } from '../gateway/shipped.ts';
import { findRunning, type Running } from '../start/running.ts';
import { run } from './command.ts';
import { readCommandLine, UsageProblem } from './command-line.ts';

const USAGE = `npm run reload

  has the gateway that runs on TURNPIKE_DATA load TURNPIKE_CATALOGUE again, once it is found right`;

/** A slow machine takes its time to check a large catalogue; one that is refused was refused here before. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 100;

await run(async () => {
  readCommandLine(USAGE, {}, process.argv.slice(2));
  const { catalogueDirectory, dataDirectory } = readKeptConfig(process.env);
  const running = findRunning(dataDirectory);
  if (!running)
    throw new UsageProblem(`no gateway runs on ${dataDirectory}: start one, or set TURNPIKE_DATA to its own`);
  const { version, endpoints } = loadCatalogue(catalogueDirectory, shipped);
  // Where it was killed, its note is left, and its number may by now be that of a process which the signal would end.
  await healthOf(running);
  process.kill(running.pid, 'SIGHUP');
  const until = Date.now() + PATIENCE_MS;
  while ((await soldBy(findRunning(dataDirectory) ?? running)) !== version) {
    if (Date.now() > until) {
      throw new UsageProblem(`${running.url} did not take catalogue ${version}: what it prints says why`);
    }
    await delay(PAUSE_MS);
  }
  process.stdout.write(`${running.url} sells catalogue ${version}: ${endpoints.length} endpoints\n`);
});

async function healthOf({ url }: Running): Promise<{ readonly catalogue?: string }> {
  try {
    return (await (await fetch(`${url}/healthz`)).json()) as { catalogue?: string };
  } catch {
    throw new UsageProblem(`no gateway answers at ${url}: start one, or set TURNPIKE_DATA to its own`);
  }
}

async function soldBy(running: Running): Promise<string | undefined> {
  // Each answer comes from one of several processes: their primary knows when the last has followed.
  return running.catalogue ?? (await healthOf(running)).catalogue;
}
