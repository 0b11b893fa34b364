/** Where everything meets: config, catalogue and platform become a gateway. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { openAlerts } from '../alerts/alerts.ts';
import { openDelivery } from '../alerts/deliver.ts';
import { alertProblems } from '../alerts/secret.ts';
import { keepOf } from '../catalogue/settings/keep.ts';
import { refundsOf } from '../catalogue/settings/refunds.ts';
import type { Catalogue, Route } from '../catalogue/types.ts';
import type { ConsoleParts } from '../console/parts.ts';
import { ConfigProblem } from '../environment.ts';
import { clientAddresses } from '../http/client-address.ts';
import { openLimits } from '../limits/limits.ts';
import type { Log } from '../log.ts';
import { countLosses } from '../metrics/losses.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { countReceipts } from '../metrics/receipts.ts';
import { openTally } from '../metrics/tally.ts';
import { assetsOf, fromAtomic } from '../payment/assets.ts';
import { createExposureControl } from '../payment/exposure/control.ts';
import { exposurePolicy } from '../payment/exposure/policy.ts';
import { usualIntervals } from '../payment/intervals.ts';
import { createPayableNetworks } from '../payment/networks.ts';
import type { Platform } from '../platform.ts';
import { openRails } from '../rails/open.ts';
import { type Readiness, readinessOf } from '../readiness.ts';
import type { Visit } from '../request/visit.ts';
import { demandMode } from '../store/of-one-mode.ts';
import { openStore } from '../store/open.ts';
import { watchStore } from '../store/readiness.ts';
import type { Loss } from '../store/store.ts';
import { within } from '../timing.ts';
import { openAccessLog } from './access-log.ts';
import { startBackground } from './background.ts';
import type { Config } from './config.ts';
import { makeDataDirectory, watchDisk } from './disk.ts';
import { openEditions } from './editions.ts';
import { isRefusal, openReloading } from './reloading.ts';
import { openLasting } from './serving.ts';
import { openStanding } from './standing.ts';

/** Everything that is sold, before anything listens. */
export interface Gateway {
  /** To be mounted in an Express application. */
  readonly router: RequestHandler;
  /** The same for a server of its own. */
  readonly listener: RequestListener;
  /** What is sold now, and what is not for want of a key: route -> missing variables. */
  readonly sold: readonly Route[];
  readonly missing: ReadonlyMap<Route, readonly string[]>;
  /** For a port that only the operator reaches. */
  readonly metrics: Pick<Metrics, 'text' | 'contentType' | 'snapshot'>;
  readonly console: ConsoleParts;
  /** That the process lives, and what it sells. */
  health(): object;
  /** Whether it may be sent calls. */
  readiness(): Readiness;
  /**
   * Sells what the catalogue's files say now; what was offered before is honoured. Undefined where they say what is sold
   * already. Throws CatalogueErrors and ReloadRefused: then nothing has changed.
   */
  reload(): Promise<Catalogue | undefined>;
  /** Resolves once no call is under way. */
  idle(): Promise<unknown>;
  /**
   * Takes no new calls, lets those under way finish for a while, then stops. `closing` resolves once no connection is
   * left, where whoever listens knows.
   */
  close(closing?: Promise<void>): Promise<void>;
}

/** How long settlements may take after the calls under way were stopped. */
const SETTLE_MS = 30_000;

/** Puts the parts together. Nothing listens yet. */
export async function openGateway(
  config: Config,
  catalogue: Catalogue,
  platform: Platform,
  log: Log,
  ownClock: () => number = Date.now,
  intervals = usualIntervals,
): Promise<Gateway> {
  const { mode } = platform;
  const { publicUrl } = config;
  const owner = randomUUID();
  const unready = alertProblems(catalogue.service.alerts, config.alerts);
  if (unready.length > 0) throw new ConfigProblem(unready);
  makeDataDirectory(config);
  const counters = createMetrics();
  const assetOf = assetsOf(catalogue.networks.values());
  const worth = ({ amount, asset }: Pick<Loss, 'amount' | 'asset'>) => fromAtomic(amount, assetOf(asset));
  const idOf = (name: string) =>
    [...catalogue.networks.values()].find((network) => network[mode].caip2 === name)?.id ?? name;
  const opened = await openStore({
    file: join(config.dataDirectory, 'turnpike.sqlite'),
    ...(config.databaseUrl && { databaseUrl: config.databaseUrl }),
    now: ownClock,
    log,
  });
  try {
    await demandMode(opened, mode, config);
  } catch (error) {
    await opened.close();
    throw error;
  }
  const tally = openTally(opened);
  const metrics = tally.with(counters);
  const store = countReceipts(countLosses(opened, metrics, { worth, idOf }), metrics, { worth, idOf });
  // One clock for everything that instances have to agree on: the database's.
  const { now } = store;
  const usable = watchStore(store, log, ownClock);
  const disk = watchDisk(config, log);
  await Promise.all([usable.check(), disk.check()]);
  const networks = createPayableNetworks(
    [...catalogue.networks.values()].map((network) => ({
      network,
      mode,
      payTo: platform.payTo(network),
      rpcUrl: platform.rpcUrl(network),
    })),
    platform.facilitators,
    log,
  );
  await Promise.all([networks.refresh(), networks.weigh()]);

  const exposure = createExposureControl({
    policy: exposurePolicy(catalogue.service.exposure),
    store,
    idOf,
    worth,
    metrics,
    log,
    now,
  });
  await exposure.refresh();

  const signs = catalogue.service.receipts === 'signed';
  const limits = openLimits({ file: catalogue.service.limits, metrics, log, now });

  const rails = openRails({
    service: catalogue.service,
    variables: platform.variables,
    networks,
    exposure,
    channels: store.channels,
    hasDeposits: (await store.channels.list({ after: undefined, limit: 1 })).length > 0,
    publicUrl,
    // What is owed is known for as long, whatever is kept of the rest.
    refundWindowMs: refundsOf(catalogue.service).endpoint ? keepOf(catalogue.service.keep).answersMs : undefined,
    receiptSeed: signs ? await store.credits.secret('receipts', randomBytes(32).toString('hex')) : undefined,
    challengeKey: await store.credits.secret('challenges', randomBytes(32).toString('hex')),
    log,
    now,
  });
  const written = openAccessLog(log, config.logUnpaid);
  const ended = (visit: Visit) => {
    if (!visit.isWithin) metrics.request(visit, visit.ms);
    tally.ended(visit);
    written(visit);
  };
  let draining = false;
  const payable = () => [...catalogue.networks.keys()].filter((id) => networks.find(id));
  const hasOwnChain = () => [...rails.values()].some((rail) => rail.isPaidOnOwnChain?.());
  const readiness = () =>
    readinessOf({
      draining,
      store: usable.fault(),
      payments: payable().length > 0 || hasOwnChain() ? undefined : 'no network can be paid',
      disk: disk.fault(),
    });
  const editions = await openEditions(catalogue, {
    config,
    platform,
    store,
    lasting: openLasting(store, now),
    rails,
    networks,
    exposure,
    limits,
    clientOf: clientAddresses(config.trustedProxies),
    metrics,
    owner,
    intervals,
    log,
    ended,
    decimalsOf: (asset) => assetOf(asset).decimals,
    idOf,
    now,
    draining: () => draining,
    health({ version, endpoints }) {
      const fault = usable.fault();
      return {
        status: draining ? 'draining' : fault === undefined ? 'ok' : 'unavailable',
        ...(fault !== undefined && { reason: fault }),
        mode,
        catalogue: version,
        endpoints,
        networks: payable(),
      };
    },
    readiness,
  });
  const { apiKeys } = editions.current();
  const { reload, follow, pending } = openReloading({ config, editions, store, metrics, log, now });
  const { facilitators, circuits, gas, standing } = openStanding({
    catalogue,
    platform,
    networks,
    store,
    editions,
    worth,
    idOf,
  });
  metrics.standing(standing);

  const { secret, allowsPrivate } = config.alerts;
  const alerts = await openAlerts({
    settings: () => editions.current().catalogue.service.alerts,
    delivery:
      secret === undefined ? undefined : await openDelivery({ secret, allowsPrivate, resolve: platform.resolve }),
    store,
    worth,
    idOf,
    facilitators,
    circuits,
    gas,
    everyMs: intervals.alertEveryMs,
    log,
    now,
  });

  const stopBackground = startBackground({
    config,
    catalogue: () => editions.current().catalogue,
    networks,
    exposure,
    limits,
    store,
    rails,
    editions,
    alerts,
    usable,
    disk,
    tally,
    follow,
    owner,
    intervals,
    metrics,
    worth,
    idOf,
    log,
    now,
  });
  await platform.opened?.(apiKeys, store);

  return {
    router: (request, response, next) => editions.current().router(request, response, next),
    listener: (request, response) => editions.current().listener(request, response),
    get sold() {
      return editions.current().sold;
    },
    get missing() {
      return editions.current().missing;
    },
    metrics,
    console: {
      mode,
      store,
      networks,
      facilitators: platform.facilitators,
      apiKeys,
      catalogue: () => editions.current().catalogue,
      sold: () => editions.current().sold,
      missing: () => editions.current().missing,
      circuits,
      payTo: platform.payTo,
      pending,
      reload,
      isRefusal,
      liability: () => store.credits.liability(),
      flush: tally.flush,
    },
    health: () => editions.current().health(),
    readiness,
    reload,
    idle: editions.idle,
    async close(closing = Promise.resolve()) {
      draining = true;
      // Work goes on for callers who left, too: what they paid for is theirs.
      await within(config.drainMs, Promise.all([closing, editions.idle()]));
      editions.stop();
      await within(SETTLE_MS, editions.idle());
      stopBackground();
      await editions.close();
      await alerts.close();
      await tally.flush().catch((err: unknown) => log.error({ err }, 'the last calls were not counted'));
      await store.close();
    },
  };
}
