/** `npm run reload`: has the running gateway sell what the catalogue's files say now. */
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from '../error-code.ts';
import { readKeptConfig } from '../gateway/config.ts';
import { load } from '../gateway/reloading.ts';
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
  const config = readKeptConfig(process.env);
  const { dataDirectory } = config;
  const running = findRunning(dataDirectory);
  if (!running)
    throw new UsageProblem(`no gateway runs on ${dataDirectory}: start one, or set TURNPIKE_DATA to its own`);
  // What is found right here the gateway need not check again, which would keep its callers waiting.
  const { version, endpoints, routes } = load(config);
  // Where it was killed, its note is left, and its number may by now be that of a process which the signal would end.
  await healthOf(running);
  const asked = Date.now();
  signal(running);
  for (;;) {
    const now = findRunning(dataDirectory) ?? running;
    if ((await soldBy(now)) === version) break;
    // What was refused before says nothing of this attempt.
    if (now.refused && now.refused.at >= asked)
      throw new UsageProblem(`${now.url} sells on what it did: ${now.refused.why}`);
    if (Date.now() > asked + PATIENCE_MS) {
      throw new UsageProblem(`${running.url} did not take catalogue ${version}: what it prints says why`);
    }
    await delay(PAUSE_MS);
  }
  const unsold = routes.length - (await healthOf(running)).endpoints;
  const lack =
    unsold > 0 ? `; ${unsold} of its ${routes.length} paths are not sold, as npm run endpoints explains` : '';
  process.stdout.write(`${running.url} sells catalogue ${version}: ${endpoints.length} endpoints${lack}\n`);
});

function signal({ pid }: Running): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error;
    throw new UsageProblem(`process ${pid} is another user's: run this as the user that the gateway runs as`);
  }
}

interface Health {
  readonly catalogue?: string;
  /** How many paths are sold. */
  readonly endpoints: number;
}

async function healthOf({ url }: Running): Promise<Health> {
  try {
    return (await (await fetch(`${url}/healthz`)).json()) as Health;
  } catch {
    throw new UsageProblem(`no gateway answers at ${url}: start one, or set TURNPIKE_DATA to its own`);
  }
}

async function soldBy(running: Running): Promise<string | undefined> {
  // Each answer comes from one of several processes: their primary knows when the last has followed.
  return running.catalogue ?? (await healthOf(running)).catalogue;
}
