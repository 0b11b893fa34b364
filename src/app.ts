/** Puts the parts together. */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
import type { EvmOptions } from './payment/mpp/evm.ts';
import { createPayableNetworks, type PayableNetwork, type PayableNetworks } from './payment/networks.ts';
import { type MppRail, openMppRail } from './payment/rails/mpp.ts';
import { openX402Rail } from './payment/rails/x402.ts';
import { reconcile } from './payment/reconcile.ts';
import { openStore } from './store/open.ts';
import type { Surroundings } from './surroundings.ts';
import { adapters } from './upstream/adapters/index.ts';
import { openUpstreams } from './upstream/bindings.ts';
import { openCache } from './upstream/cache.ts';
import { openDownloader } from './upstream/download.ts';
import { openDirectoryMediaStore, serveMedia } from './upstream/media-directory.ts';
import { openS3MediaStore } from './upstream/media-s3.ts';
import { recipes } from './upstream/recipes/index.ts';

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

/** Calls `task` again and again, never two at a time. Answers how to stop it. */
function every(milliseconds: number, log: Log, task: () => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout;
  const next = () => {
    timer = setTimeout(async () => {
      await task().catch((error: unknown) => log.error({ err: error }, 'background task failed'));
      if (!stopped) next();
    }, milliseconds).unref();
  };
  let stopped = false;
  next();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

/** MPP is paid with EIP-3009 where USDC on Base is, and on Tempo where that is configured. */
const MPP_EVM_NETWORK = 'chain-c';

function openMpp(
  { mpp: { secrets, realm, tempo } }: Surroundings,
  publicUrl: string,
  networks: PayableNetworks,
  log: Log,
  now: () => number,
): MppRail | undefined {
  const network = networks.find(MPP_EVM_NETWORK);
  if (!tempo && !network?.rpcUrl) {
    log.warn({}, `nothing is sold over MPP: neither Tempo nor ${MPP_EVM_NETWORK} can be paid`);
    return undefined;
  }
  return openMppRail({
    secrets,
    realm: realm ?? new URL(publicUrl).hostname,
    now,
    ...(tempo && { tempo }),
    ...(network?.rpcUrl && { evm: evmCharge(network, network.rpcUrl) }),
  });
}

function evmCharge({ caip2, asset, payTo, facilitator }: PayableNetwork, rpcUrl: string): EvmOptions {
  const { address, decimals, name = '', version = '' } = asset;
  return {
    chainId: Number(caip2.split(':')[1]),
    asset: { address, decimals, name, version },
    payTo,
    rpcUrl,
    facilitator,
  };
}

export async function openApp(
  config: Config,
  catalogue: Catalogue,
  surroundings: Surroundings,
  log: Log,
  now: () => number = Date.now,
): Promise<App> {
  const { mode } = surroundings;
  const owner = randomUUID();
  const stopping = new AbortController();
  const store = await openStore({
    file: join(config.dataDirectory, 'turnpike.sqlite'),
    ...(config.databaseUrl && { databaseUrl: config.databaseUrl }),
  });

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

  const upstreams = openUpstreams({
    catalogue,
    adapters,
    recipes,
    secretOf: surroundings.secretOf,
    ...(surroundings.baseUrlOf && { baseUrlOf: surroundings.baseUrlOf }),
    sandbox: mode === 'sandbox',
    log,
  });
  const downloads = openDownloader({
    trustedOrigins: [...upstreams.origins, ...surroundings.trustedOrigins],
    ...(surroundings.resolve && { resolve: surroundings.resolve }),
    ...(surroundings.readFrom && { readFrom: surroundings.readFrom }),
  });
  const mediaDirectory = join(config.dataDirectory, 'media');
  const bucket = config.mediaBucket && (await openS3MediaStore({ ...config.mediaBucket, downloads }));
  const media =
    bucket ?? openDirectoryMediaStore({ directory: mediaDirectory, publicUrl: `${config.publicUrl}/media`, downloads });
  const cache = openCache({ store, now });
  const desk = openCreditsDesk({ store: store.credits, mode, now });
  const caller: UpstreamCaller = {
    stopping: stopping.signal,
    call: (route, input, context) =>
      upstreams.call(route, input, {
        ...context,
        endpoint: route.endpoint.id,
        media,
        downloads,
        cache,
        credits: desk,
        now,
      }),
  };

  const missing = new Map<Route, readonly string[]>();
  for (const route of catalogue.routes) {
    const available = upstreams.available(route);
    if (available !== true) missing.set(route, available.missing);
  }
  const x402 = openX402Rail({ networks, publicUrl: config.publicUrl, now });
  const mpp = openMpp(surroundings, config.publicUrl, networks, log, now);
  const rails = { x402, ...(mpp && { mpp }) };
  const sold = catalogue.routes.filter((route) => !missing.has(route) && rails[route.rail]);

  const router = createRouter(sold);
  const paid = createHandler({ router, rails, store, upstreams: caller, owner, log, now });
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
      publicUrl: config.publicUrl,
      mppOffers: (route, amount) => mpp?.offers(route, amount) ?? [],
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
    media: bucket ? undefined : serveMedia(mediaDirectory),
    headers: surroundings.headers,
    extra: surroundings.routes,
    door: createChatDoor({
      catalogue: { ...catalogue, routes: sold },
      desk,
      store: store.credits,
      bindings: upstreams.bindings,
      stopping: stopping.signal,
      owner,
      underWay: chats,
      publicUrl: config.publicUrl,
      log,
      now,
    }),
    draining: () => draining,
  });

  const background = [
    every(LEASE_MS / 3, log, () => store.renew(owner, [...paid.working(), ...chats], now() + LEASE_MS)),
    every(LEASE_MS, log, () => desk.releaseExpired()),
    every(RECONCILE_EVERY_MS, log, () => reconcile({ store, rails: Object.values(rails), owner, now })),
    every(REFRESH_EVERY_MS, log, () => networks.refresh()),
    every(FORGET_EVERY_MS, log, () => store.forget(now() - KEPT_MS)),
  ];
  await surroundings.opened?.(desk);
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
      stopping.abort();
      server.closeAllConnections();
      await within(SETTLE_MS, paid.idle());
      for (const stop of background) stop();
      await upstreams.close();
      await downloads.close();
      bucket?.close();
      await store.close();
    },
  };
}

/** Waits for the promise, but no longer than that. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const overdue = new AbortController();
  const waited = delay(milliseconds, undefined, { signal: overdue.signal }).catch(() => undefined);
  await Promise.race([promise, waited]);
  overdue.abort();
}
