/** Where everything meets: config, catalogue and platform become a gateway, on a server or in a router. */
import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RequestHandler } from 'express';
import { openAccessLog } from './access-log.ts';
import { CatalogueErrors } from './catalogue/diagnostic.ts';
import type { Catalogue, Route } from './catalogue/types.ts';
import type { Config } from './config.ts';
import { watchDisk } from './disk.ts';
import { openEditions, ReloadRefused } from './editions.ts';
import { listen, silentConnections } from './http/server.ts';
import type { Log } from './log.ts';
import { countLosses } from './metrics/losses.ts';
import { createMetrics, type Metrics } from './metrics/metrics.ts';
import { owedIn } from './metrics/owed.ts';
import { countReceipts } from './metrics/receipts.ts';
import { serveMetrics } from './metrics/server.ts';
import { assetsOf, fromAtomic } from './payment/assets.ts';
import { confirmPurchases } from './payment/confirm.ts';
import { createExposureControl } from './payment/exposure/control.ts';
import { exposurePolicy } from './payment/exposure/policy.ts';
import { usualIntervals } from './payment/intervals.ts';
import { createPayableNetworks } from './payment/networks.ts';
import { reconcile } from './payment/reconcile.ts';
import { wantRefunds } from './payment/refunds/automatic.ts';
import { sendRefunds } from './payment/refunds/send.ts';
import type { Platform } from './platform.ts';
import { openRails } from './rails/open.ts';
import { type Readiness, readinessOf } from './readiness.ts';
import { followOthers, load, openAnnouncements } from './reloading.ts';
import { confirmationsOn } from './serving.ts';
import { openStore } from './store/open.ts';
import { isOutage } from './store/problem.ts';
import { watchStore } from './store/readiness.ts';
import type { Loss } from './store/store.ts';
import { afterAWhile, every, inTurn, within } from './timing.ts';
import type { Visit } from './visit.ts';

/** Everything that is sold, before anything listens. */
interface Gateway {
  /** To be mounted in an Express application. */
  readonly router: RequestHandler;
  /** The same for a server of its own. */
  readonly listener: RequestListener;
  /** What is sold now, and what is not for want of a key: route -> missing variables. */
  readonly sold: readonly Route[];
  readonly missing: ReadonlyMap<Route, readonly string[]>;
  /** For a port that only the operator reaches. */
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
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

interface App extends Pick<Gateway, 'sold' | 'missing' | 'reload'> {
  readonly url: string;
  close(): Promise<void>;
}

const CHECK_EVERY_MS = 5_000;
/** How soon an endpoint that retires is not sold any more, and what an earlier catalogue holds is let go. */
const TURN_EVERY_MS = 1_000;
/** How soon an instance sells what another has loaded. */
const FOLLOW_EVERY_MS = 2_000;
const REFRESH_EVERY_MS = 30_000;
/** How soon losses make everybody settle first. */
const MEASURE_EVERY_MS = 5_000;
/** Balances of all keys are added up no more often than that, however often somebody scrapes. */
const LIABILITY_KEPT_MS = 10_000;
const FORGET_EVERY_MS = 3_600_000;
/** Cached answers and idempotency keys are kept for a day. */
const KEPT_MS = 86_400_000;
/**
 * The answers of settled payments, and payments that moved no money, are kept for thirty days after they were last
 * touched. What is settled, owed or unknown is itself kept for good.
 */
const PAYMENTS_KEPT_MS = 30 * 86_400_000;
/** How long settlements may take after the calls under way were stopped. */
const SETTLE_MS = 30_000;
/** How long the last answers may be on their way before their connections are closed. */
const LAST_ANSWERS_MS = 1_000;

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
  const { leaseMs, reconcileEveryMs, confirmEveryMs, weighEveryMs } = intervals;
  const owner = randomUUID();
  const metrics = createMetrics();
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
  const store = countReceipts(countLosses(opened, metrics, { worth, idOf }), metrics, { worth, idOf });
  // One clock for everything that instances have to agree on: the database's.
  const { now } = store;
  const usable = watchStore(store, log, ownClock);
  const disk = watchDisk(config.dataDirectory, log);
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

  const rails = openRails({
    service: catalogue.service,
    variables: platform.variables,
    networks,
    exposure,
    publicUrl,
    log,
    now,
  });
  const written = openAccessLog(log, config.logUnpaid);
  const ended = (visit: Visit) => {
    // A tool call has come with a request, which is counted itself.
    if (!visit.isTool) metrics.request(visit, visit.ms);
    written(visit);
  };
  let draining = false;
  const payable = () => [...catalogue.networks.keys()].filter((id) => networks.find(id));
  const ownChain = [...rails.values()].some(({ hasOwnChain }) => hasOwnChain);
  const readiness = () =>
    readinessOf({
      draining,
      store: usable.fault(),
      payments: ownChain || payable().length > 0 ? undefined : 'no network can be paid',
      disk: disk.fault(),
    });
  const editions = await openEditions(catalogue, {
    config,
    platform,
    store,
    rails,
    networks,
    exposure,
    metrics,
    owner,
    intervals,
    log,
    ended,
    decimalsOf: (asset) => assetOf(asset).decimals,
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
  const sold = () => editions.current().catalogue.version;
  const { announce, announced } = openAnnouncements(store, now);
  const reload = inTurn(async () => {
    try {
      const next = load(config);
      const isNew = next.version !== sold();
      if (isNew) await editions.replace(next);
      metrics.reloaded(isNew ? 'loaded' : 'unchanged');
      if (!isNew) return undefined;
      await announce(next);
      return next;
    } catch (error) {
      if (error instanceof CatalogueErrors || error instanceof ReloadRefused) metrics.reloaded('refused');
      throw error;
    }
  });
  const credit = afterAWhile(LIABILITY_KEPT_MS, () => store.credits.liability());
  metrics.standing(async () => ({
    catalogue: sold(),
    owed: await owedIn(store, worth).catch(() => undefined),
    creditLiability: await credit().catch(() => undefined),
    facilitators: new Map(
      [...catalogue.networks.values()].flatMap((network) =>
        platform.payTo(network) === undefined ? [] : [[network.id, networks.find(network.id) !== undefined] as const],
      ),
    ),
    openCircuits: editions.current().circuits(),
  }));
  const follow = followOthers({ directory: config.catalogueDirectory, log, announced, sold }, reload);

  const wanted = (network: string) => confirmationsOn(catalogue, network);
  const giveBack = async () => {
    if (editions.current().catalogue.service.refunds === 'automatic') await wantRefunds({ store, rails, log, now });
    await sendRefunds({ store, rails, owner, metrics, worth, idOf, log, now });
  };
  const failed = (error: unknown) => {
    // Of an outage the log tells once.
    if (!isOutage(error)) log.error({ err: error }, 'background task failed');
  };
  const background = [
    every(CHECK_EVERY_MS, usable.check, failed),
    every(CHECK_EVERY_MS, disk.check, failed),
    every(leaseMs / 3, editions.renew, failed),
    every(leaseMs, () => apiKeys.releaseExpired(), failed),
    every(TURN_EVERY_MS, editions.turn, failed),
    ...(config.databaseUrl ? [every(FOLLOW_EVERY_MS, follow, failed)] : []),
    every(reconcileEveryMs, () => reconcile({ store, rails, owner, intervals, log, now }), failed),
    every(reconcileEveryMs, giveBack, failed),
    every(confirmEveryMs, () => confirmPurchases({ store, rails, wanted, log, now }), failed),
    every(REFRESH_EVERY_MS, () => networks.refresh(), failed),
    every(weighEveryMs, () => networks.weigh(), failed),
    every(MEASURE_EVERY_MS, () => exposure.refresh(), failed),
    every(FORGET_EVERY_MS, () => store.forget({ values: now() - KEPT_MS, payments: now() - PAYMENTS_KEPT_MS }), failed),
  ];
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
      for (const stop of background) stop();
      await editions.close();
      await store.close();
    },
  };
}

/** The gateway on a server of its own. */
export async function openApp(...parts: Parameters<typeof openGateway>): Promise<App> {
  const [{ host, port: wanted, admin, drainMs }] = parts;
  const gateway = await openGateway(...parts);
  const { listener, idle, close } = gateway;
  const server = await listen(listener, host, wanted);
  const silent = silentConnections(server);
  const adminServer = admin && (await serveMetrics(gateway, admin));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    get sold() {
      return gateway.sold;
    },
    get missing() {
      return gateway.missing;
    },
    reload: gateway.reload,
    async close() {
      const closed = new Promise<void>((resolve) => server.once('close', () => resolve()));
      const stopped = close(closed);
      // While calls are under way, new ones are told that the gateway is shutting down.
      await within(drainMs, idle());
      server.close();
      server.closeIdleConnections();
      silent.close();
      await stopped;
      server.closeIdleConnections();
      await within(LAST_ANSWERS_MS, closed);
      server.closeAllConnections();
      adminServer?.close().closeAllConnections();
    },
  };
}
