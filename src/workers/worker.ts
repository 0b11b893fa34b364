/** One of several processes that answer for a gateway: serves as a single one would, and does what its primary asks. */

import type { Operated } from '../console/server.ts';
import { serveGateway } from '../gateway/app.ts';
import type { Config } from '../gateway/config.ts';
import { type Gateway, openGateway } from '../gateway/gateway.ts';
import { isRefusal, load } from '../gateway/reloading.ts';
import { openLive } from '../live.ts';
import { createLog } from '../log.ts';
import type { Platform } from '../platform.ts';
import { startProblem } from '../start/start-problem.ts';
import { unsoldOf } from '../start/unsold.ts';
import { within } from '../timing.ts';
import { type Channel, type Line, openLine } from './line.ts';
import { type AskedOfPrimary, type AskedOfWorkers, RELOAD_LIMIT_MS, type Reloaded, type State } from './questions.ts';

type Primary = Line<AskedOfPrimary>;

const stateOf = async (gateway: Gateway): Promise<State> => ({
  health: gateway.health(),
  readiness: gateway.readiness(),
  circuits: await gateway.console.circuits(),
});

async function reloadOf({ reload, console }: Gateway): Promise<Reloaded> {
  try {
    const isNew = (await reload()) !== undefined;
    const { version, endpoints } = console.catalogue();
    return { catalogue: version, endpoints: endpoints.length, isNew };
  } catch (error) {
    if (isRefusal(error)) return { refused: error.message };
    throw error;
  }
}

/** What the operator's port shows at whichever worker it is opened: all of them. */
function operatedBy(gateway: Gateway, primary: Primary): Operated {
  async function all() {
    const { wanted, states } = await primary.ask('states');
    // Calls find a worker that can answer them as long as there is one.
    const best = states.find(({ readiness }) => readiness.ok) ?? (await stateOf(gateway));
    return { best, states, workers: { wanted, ready: states.filter(({ readiness }) => readiness.ok).length } };
  }
  return {
    metrics: { contentType: gateway.metrics.contentType, text: () => primary.ask('metrics') },
    async health() {
      const { best, workers } = await all();
      return { ...best.health, workers };
    },
    async readiness() {
      const { best, workers } = await all();
      const { ok, body } = best.readiness;
      return { ok, body: { ...body, workers } };
    },
    console: {
      ...gateway.console,
      async circuits() {
        const open = (await all()).states.flatMap(({ circuits }) => [...circuits].filter(([, isOpen]) => isOpen));
        return new Map([...(await gateway.console.circuits()), ...open]);
      },
      async flush() {
        await gateway.console.flush();
        await primary.ask('flush');
      },
      async reload() {
        const catalogue = await gateway.reload();
        if (catalogue) await primary.ask('reloaded', undefined, RELOAD_LIMIT_MS);
        return catalogue;
      },
    },
  };
}

/** How long the primary may take to hear what this process has counted. */
const LAST_WORD_MS = 2_000;

/** The life of a process that `supervise` starts. It tells the primary what keeps it from starting, and ends. */
export async function work(config: Config): Promise<void> {
  // A terminal sends them to every process in it: what is to be done, the primary says.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined);
  const log = createLog(config.logLevel, { pid: process.pid });
  let platform: Platform | undefined;
  let gateway: Gateway | undefined;
  let app: Awaited<ReturnType<typeof serveGateway>> | undefined;
  const opened = (): Gateway => {
    if (!gateway) throw new Error('this worker is still starting');
    return gateway;
  };

  let ending: Promise<void> | undefined;
  const end = () => {
    ending ??= (async () => {
      await app?.close();
      const last = gateway?.metrics.snapshot().then((snapshot) => primary.ask('counted', snapshot));
      if (last) await within(LAST_WORD_MS, last).catch(() => undefined);
      await platform?.stop();
      process.exit(0);
    })();
    return ending;
  };
  process.on('SIGTERM', end);

  const primary = openLine<AskedOfWorkers, AskedOfPrimary>(ownChannel(), {
    snapshot: () => opened().metrics.snapshot(),
    state: () => stateOf(opened()),
    flush: () => opened().console.flush(),
    reload: () => reloadOf(opened()),
    async retire() {
      // Answered now: how long it takes is for those to say whose calls are under way.
      app?.retire().then(end, end);
    },
  });

  try {
    if (!config.live) throw new Error('workers are for live mode');
    const catalogue = load(config);
    platform = await openLive(config.live, [...catalogue.networks.values()], log);
    gateway = await openGateway(config, catalogue, platform, log);
    app = await serveGateway(gateway, config, log, operatedBy(gateway, primary));
    await primary.ask('ready', {
      url: app.url,
      consoleUrl: app.console?.url,
      catalogue: catalogue.version,
      unsold: unsoldOf(app.missing),
    });
  } catch (error) {
    await primary.ask('failed', startProblem(error, process.env));
    process.exit(1);
  }
}

function ownChannel(): Channel {
  return {
    send: (message) => void process.send?.(message),
    listen: (heard) => void process.on('message', heard),
  };
}
