/** Puts the parts together. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Catalogue, Network, Route } from './catalogue/types.ts';
import type { Config } from './config.ts';
import { openCreditsDesk } from './credits/desk.ts';
import { createChatDoor } from './http/chat/door.ts';
import { createDocuments } from './http/discovery/index.ts';
import { createHandler } from './http/handler.ts';
import type { Log } from './http/log.ts';
import { createRouter } from './http/router.ts';
import type { UpstreamCaller } from './http/serve.ts';
import { createListener, listen } from './http/server.ts';
import { LEASE_MS } from './payment/claim.ts';
import { createPayableNetworks } from './payment/networks.ts';
import { reconcile } from './payment/reconcile.ts';
import { openRails } from './rails.ts';
import { shipped } from './shipped.ts';
import { openStore } from './store/open.ts';
import type { Store } from './store/store.ts';
import type { Surroundings } from './surroundings.ts';
import { every, within } from './timing.ts';
import { openUpstreams, type Upstreams } from './upstream/bindings.ts';
import { openCache } from './upstream/cache.ts';
import { openDownloader } from './upstream/http/download.ts';
import { openDirectoryMediaStore, serveMedia } from './upstream/media/directory.ts';
import { openS3MediaStore } from './upstream/media/s3.ts';

export interface App {
  readonly url: string;
  /** What is sold, and what is not for want of a key: route -> missing variables. */
  readonly sold: readonly Route[];
  readonly missing: ReadonlyMap<Route, readonly string[]>;
  /** Takes no new calls, lets those under way finish for a while, then stops. */
  close(): Promise<void>;
}

const RECONCILE_EVERY_MS = 10_000;
const REFRESH_EVERY_MS = 30_000;
const FORGET_EVERY_MS = 3_600_000;
/** Cached answers and idempotency keys are kept for a day; payments for good. */
const KEPT_MS = 86_400_000;
/** How long settlements may take after the calls under way were stopped. */
const SETTLE_MS = 30_000;

/** Calls the providers, and keeps what they make. */
async function openServing(
  config: Config,
  catalogue: Catalogue,
  surroundings: Surroundings,
  store: Store,
  log: Log,
  now: () => number,
) {
  const upstreams = openUpstreams({
    catalogue,
    ...shipped,
    secretOf: surroundings.secretOf,
    ...(surroundings.baseUrlOf && { baseUrlOf: surroundings.baseUrlOf }),
    sandbox: surroundings.mode === 'sandbox',
    log,
  });
  const downloads = openDownloader({
    trustedOrigins: [...upstreams.origins, ...surroundings.trustedOrigins],
    ...(surroundings.resolve && { resolve: surroundings.resolve }),
    ...(surroundings.readFrom && { readFrom: surroundings.readFrom }),
  });
  const directory = join(config.dataDirectory, 'media');
  const bucket = config.mediaBucket && (await openS3MediaStore({ ...config.mediaBucket, downloads }));
  const media = bucket ?? openDirectoryMediaStore({ directory, publicUrl: `${config.publicUrl}/media`, downloads });
  const cache = openCache({ store, now });
  const credits = openCreditsDesk({ store: store.credits, mode: surroundings.mode, now });
  const stopping = new AbortController();
  const caller: UpstreamCaller = {
    stopping: stopping.signal,
    call: (route, input, context) =>
      upstreams.call(route, input, { ...context, endpoint: route.endpoint.id, media, downloads, cache, credits, now }),
  };
  return {
    upstreams,
    caller,
    credits,
    /** Undefined where files are served from a bucket. */
    files: bucket ? undefined : serveMedia(directory),
    /** Calls under way are given up. */
    stop: () => stopping.abort(),
    async close() {
      await upstreams.close();
      await downloads.close();
      bucket?.close();
    },
  };
}

/** Routes whose every upstream lacks a key: route -> the variables that are missing. */
function withoutKeys(routes: readonly Route[], upstreams: Upstreams): Map<Route, readonly string[]> {
  const missing = new Map<Route, readonly string[]>();
  for (const route of routes) {
    const available = upstreams.available(route);
    if (available !== true) missing.set(route, available.missing);
  }
  return missing;
}

export async function openApp(
  config: Config,
  catalogue: Catalogue,
  surroundings: Surroundings,
  log: Log,
  now: () => number = Date.now,
): Promise<App> {
  const { mode } = surroundings;
  const { publicUrl } = config;
  const owner = randomUUID();
  const store = await openStore({
    file: join(config.dataDirectory, 'turnpike.sqlite'),
    ...(config.databaseUrl && { databaseUrl: config.databaseUrl }),
  });
  const serving = await openServing(config, catalogue, surroundings, store, log, now);

  const networks = createPayableNetworks(
    [...catalogue.networks.values()].map((network) => ({
      network,
      mode,
      payTo: surroundings.payTo(network),
      rpcUrl: surroundings.rpcUrl(network),
    })),
    surroundings.facilitators,
    log,
  );
  await networks.refresh();

  const rails = openRails({ surroundings, networks, publicUrl, log, now });
  const missing = withoutKeys(catalogue.routes, serving.upstreams);
  const sold = catalogue.routes.filter((route) => !missing.has(route) && rails[route.rail]);

  const router = createRouter(sold);
  const paid = createHandler({ router, rails, store, upstreams: serving.caller, owner, log, now });
  const offered = new Map<string, Network>(
    [...catalogue.networks].filter(([, network]) => surroundings.payTo(network) !== undefined),
  );
  /** Chat completions under way. */
  const chats = new Set<string>();
  let draining = false;
  const listener = createListener({
    paid,
    sells: router.sells,
    documents: createDocuments({
      service: catalogue.service,
      routes: sold,
      networks: offered,
      payTo: surroundings.payTo,
      mode,
      publicUrl,
      mppOffers: (route, amount) => rails.mpp?.offers(route, amount) ?? [],
    }),
    health: () => ({
      ok: !draining,
      body: {
        status: draining ? 'draining' : 'ok',
        mode,
        endpoints: sold.length,
        networks: [...catalogue.networks.keys()].filter((id) => networks.find(id)),
      },
    }),
    media: serving.files,
    headers: surroundings.headers,
    extra: surroundings.routes,
    door: createChatDoor({
      catalogue: { ...catalogue, routes: sold },
      desk: serving.credits,
      store: store.credits,
      bindings: serving.upstreams.bindings,
      stopping: serving.caller.stopping,
      owner,
      underWay: chats,
      publicUrl,
      log,
      now,
    }),
    draining: () => draining,
  });

  const failed = (error: unknown) => log.error({ err: error }, 'background task failed');
  const background = [
    every(LEASE_MS / 3, () => store.renew(owner, [...paid.working(), ...chats], now() + LEASE_MS), failed),
    every(LEASE_MS, () => serving.credits.releaseExpired(), failed),
    every(RECONCILE_EVERY_MS, () => reconcile({ store, rails: Object.values(rails), owner, now }), failed),
    every(REFRESH_EVERY_MS, () => networks.refresh(), failed),
    every(FORGET_EVERY_MS, () => store.forget(now() - KEPT_MS), failed),
  ];
  await surroundings.opened?.(serving.credits);
  const server = await listen(listener, config.host, config.port);
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`,
    sold,
    missing,
    async close() {
      draining = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      // Work goes on for callers who left, too: what they paid for is theirs.
      await within(config.drainMs, Promise.all([closed, paid.idle()]));
      serving.stop();
      server.closeAllConnections();
      await within(SETTLE_MS, paid.idle());
      for (const stop of background) stop();
      await serving.close();
      await store.close();
    },
  };
}
