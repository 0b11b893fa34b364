/** The process that workers are children of: it answers no call, and sees to it that they do. */
import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import type { Config } from '../gateway/config.ts';
import { watchFiles } from '../gateway/reloading.ts';
import { createLog } from '../log.ts';
import { whenAskedToEnd } from '../start/asked-to-end.ts';
import { type Refused, writeRunning } from '../start/running.ts';
import { tellUnsold } from '../start/unsold.ts';
import { inTurn } from '../timing.ts';
import { openCrew } from './crew.ts';
import { launch } from './member.ts';
import { RELOAD_LIMIT_MS, type Reloaded } from './questions.ts';

/** After the time for calls under way: half of it is for settlements that have begun, the rest to close what is open. */
const END_MS = 60_000;

/** One worker that stands still must not keep a probe waiting: Kubernetes gives it a second, and ends all for none. */
const PROBE_LIMIT_MS = 700;

/**
 * Runs `config.workers` processes of the file `main` behind one listener, until a signal ends them. SIGHUP loads the
 * catalogue again, SIGUSR2 replaces one worker after the other. Throws NoWorkers where none can start.
 */
export async function supervise(config: Config, main: string, say: (line: string) => void): Promise<void> {
  const log = createLog(config.logLevel, { pid: process.pid });
  // The same token opens the console at every worker.
  const token = config.admin && !config.admin.token ? randomBytes(32).toString('base64url') : undefined;
  const variables: Readonly<Record<string, string>> = token === undefined ? {} : { TURNPIKE_ADMIN_TOKEN: token };
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: main, args: [], serialization: 'advanced' });

  const ending: (() => Promise<void> | void)[] = [];
  let stopping = false;
  /** Where the first of them takes calls: from then on commands find the gateway, whatever keeps the others. */
  let listensAt: string | undefined;
  let sold: string | undefined;
  let isAskedToLoad = false;

  function note(catalogue: string, refused?: Refused): void {
    if (listensAt === undefined || stopping) return;
    const running = { pid: process.pid, url: listensAt, catalogue, ...(refused && { refused }) };
    ending[0] = writeRunning(config.dataDirectory, running);
  }

  const crew = openCrew({
    size: config.workers,
    log,
    patienceMs: config.drainMs,
    endMs: config.drainMs + END_MS,
    launch: () =>
      launch(variables, {
        metrics: () => crew.metrics(),
        async states() {
          const found = await Promise.allSettled(
            crew.ready().map(({ ask }) => ask('state', undefined, PROBE_LIMIT_MS)),
          );
          return { wanted: config.workers, states: found.flatMap((one) => ('value' in one ? [one.value] : [])) };
        },
        async flush() {
          await Promise.allSettled(crew.ready().map(({ ask }) => ask('flush')));
        },
        async reloaded() {
          await share();
        },
      }),
    joined({ url, catalogue }) {
      if (sold === undefined) {
        listensAt = url;
        sold = catalogue;
        note(catalogue);
        // Its files may have been read before that.
        if (isAskedToLoad) loadAgain();
      }
      // It has read the files as they are now, or as they were before all were told to read them again.
      if (catalogue !== sold) share().catch(notShared);
    },
    lost(problem) {
      process.stderr.write(`${problem.message}\n`);
      for (const end of ending) end();
      crew.kill();
      process.exit(1);
    },
  });

  const notShared = (err: unknown) => log.error({ err }, 'the workers do not all sell the same catalogue');

  /** All sell what the files say. Answers why one does not take it, and goes on with what it sold. */
  const share = inTurn(async (): Promise<string | undefined> => {
    const asked = crew.ready().map(({ ask }) => ask('reload', undefined, RELOAD_LIMIT_MS));
    const catalogues = new Set<string>();
    let refused: string | undefined;
    for (const outcome of await Promise.allSettled(asked)) {
      if (outcome.status === 'rejected')
        log.error({ err: outcome.reason }, 'a worker did not load the catalogue again');
      else if ('refused' in outcome.value) {
        refused = outcome.value.refused;
        log.error({}, `a worker does not sell the catalogue: ${refused}`);
      } else catalogues.add(outcome.value.catalogue);
    }
    const [catalogue] = catalogues;
    if (refused !== undefined || catalogue === undefined || catalogues.size > 1) return refused;
    sold = catalogue;
    note(catalogue);
    return undefined;
  });

  /** One worker tries it for all: what it refuses, the others do not hear of. */
  const reload = inTurn(async () => {
    const [first] = crew.ready();
    const outcome: Reloaded = first
      ? await first.ask('reload', undefined, RELOAD_LIMIT_MS)
      : { refused: 'No worker is ready to load the catalogue' };
    const refused = 'refused' in outcome ? outcome.refused : await share();
    if (refused !== undefined) {
      if (sold !== undefined) note(sold, { at: Date.now(), why: refused });
      return say(`${refused}\nwhat was sold before is sold on`);
    }
    if ('isNew' in outcome && outcome.isNew)
      say(`catalogue ${outcome.catalogue} is sold now: ${outcome.endpoints} endpoints`);
  });
  const loadAgain = () =>
    reload().catch((error: unknown) => {
      // Those who are asked end meanwhile.
      if (!stopping) log.error({ err: error }, 'the catalogue was not loaded again');
    });

  const stop = async (reason: string) => {
    stopping = true;
    say(`\n${reason}: finishing what is under way`);
    for (const end of ending) await end();
    await crew.drain();
    process.exit(0);
  };
  whenAskedToEnd(stop, () => {
    crew.kill();
    process.exit(1);
  });
  process.on('SIGHUP', () => {
    if (stopping) return;
    if (sold === undefined) isAskedToLoad = true;
    else loadAgain();
  });
  process.on('SIGUSR2', async () => {
    say('replacing the workers');
    const replaced = await crew.replace();
    say(`${replaced} of ${config.workers} workers were replaced`);
  });

  const first = await crew.start();
  if (stopping) return;
  const { url, consoleUrl } = first;
  if (config.watch) ending.push((await watchFiles(config.catalogueDirectory, loadAgain, log)).close);
  tellUnsold(first.unsold, log);
  say(
    `workers ${crew
      .ready()
      .map(({ pid }) => pid)
      .join(' ')}`,
  );
  say(`ready ${url}`);
  if (consoleUrl) say(`Console: ${consoleUrl}${token === undefined ? '' : `#token=${token}`}`);
}
