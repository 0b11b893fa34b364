/**
 * One catalogue on sale: everything that is made from it. What outlives a catalogue (the store, the chains, what is at
 * risk) is handed in, so that one edition can take the place of another while both have calls under way.
 */
import type { RequestListener } from 'node:http';
import type { Router } from 'express';
import { canonicalJson } from '../canonical-json.ts';
import { isOnSale } from '../catalogue/on-sale.ts';
import { refundsOf } from '../catalogue/settings/refunds.ts';
import type { Catalogue, Network, Route } from '../catalogue/types.ts';
import { createDocuments } from '../discovery/index.ts';
import type { DocumentParts } from '../discovery/rail-documents.ts';
import { Problem } from '../errors.ts';
import { soldModels } from '../http/api-keys/models.ts';
import { createApiKeyRouter } from '../http/api-keys/router.ts';
import { openTopUps } from '../http/api-keys/top-up.ts';
import type { ClientOf } from '../http/client-address.ts';
import { ownOperations } from '../http/documents/index.ts';
import { createGatewayRouter, type RouterParts } from '../http/express.ts';
import { createPurchasesRouter } from '../http/purchases.ts';
import { createRailPathsRouter } from '../http/rail-paths.ts';
import { createRefundsRouter } from '../http/refunds.ts';
import { createListener } from '../http/server.ts';
import { createRouteFinder } from '../lifecycle/find.ts';
import { honouringEarlier } from '../lifecycle/honour.ts';
import { priceOf, readInput } from '../lifecycle/input.ts';
import { createLifecycle, type Lifecycle, type LifecycleParts } from '../lifecycle/lifecycle.ts';
import type { Limits } from '../limits/limits.ts';
import type { Log } from '../log.ts';
import { type OpenDoor, openDoor } from '../mcp/open.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Money } from '../money.ts';
import { CREDITS_PATH } from '../paths.ts';
import { confirmPurchase } from '../payment/confirm.ts';
import type { ExposureControl } from '../payment/exposure/control.ts';
import { exposurePolicy } from '../payment/exposure/policy.ts';
import type { Intervals } from '../payment/intervals.ts';
import type { PayableNetworks } from '../payment/networks.ts';
import type { Rail } from '../payment/rail.ts';
import { requestRefund } from '../payment/refunds/requested.ts';
import type { Platform } from '../platform.ts';
import { openPurchases } from '../purchases/purchases.ts';
import { railDocuments } from '../rails/documents.ts';
import { untilReplaced } from '../rails/until-replaced.ts';
import type { GatewayRequest } from '../request/request.ts';
import type { Ended } from '../request/visit.ts';
import type { Store } from '../store/store.ts';
import { openStorefront } from '../storefront/index.tsx';
import { samplesOf } from '../storefront/samples.ts';
import type { Config } from './config.ts';
import { confirmationsOn, type Lasting, openServing, withoutKeys } from './serving.ts';

/** What every edition shares. */
export interface Shared {
  readonly config: Config;
  readonly platform: Platform;
  readonly store: Store;
  readonly lasting: Lasting;
  readonly rails: ReadonlyMap<string, Rail>;
  readonly networks: Pick<PayableNetworks, 'find'>;
  readonly exposure: ExposureControl;
  readonly limits: Limits;
  /** Whom a request is counted to. */
  readonly clientOf: ClientOf;
  readonly metrics: Metrics;
  /** Names this instance. */
  readonly owner: string;
  readonly intervals: Intervals;
  readonly log: Log;
  /** Writes down what was asked and what came of it. */
  readonly ended: Ended;
  /** Of an asset, by its address. */
  decimalsOf(asset: string): number;
  /** As the catalogue names a network that is given by its CAIP-2 id. */
  idOf(network: string): string;
  /** For `/healthz`, of an edition that sells so many endpoints. */
  health(edition: { version: string; endpoints: number }): object;
  /** For `/readyz`. */
  readiness: RouterParts['readiness'];
  draining(): boolean;
  now(): number;
}

/** What a request asks for and costs. */
interface Asked {
  /** Its defaults filled in, as canonical JSON. */
  readonly input: string;
  readonly amount: Money;
}

export interface Edition {
  readonly catalogue: Catalogue;
  /** What is sold, and what is not for want of a key: route -> missing variables. */
  readonly sold: readonly Route[];
  readonly missing: ReadonlyMap<Route, readonly string[]>;
  /** To be mounted in an Express application. */
  readonly router: Router;
  /** The same for a server of its own. */
  readonly listener: RequestListener;
  /** For `/healthz`. */
  readonly health: RouterParts['health'];
  /** Upstream -> whether it is not asked for a while. */
  circuits(): ReadonlyMap<string, boolean>;
  /** Answers payments that its challenges asked for, once another edition is on sale. */
  readonly lifecycle: Pick<Lifecycle, 'answer' | 'bodyLimitOf'>;
  /** What its payments name. */
  readonly tools: OpenDoor['tools'];
  readonly apiKeys: Awaited<ReturnType<typeof openServing>>['apiKeys'];
  /** Undefined for a request that is not valid. */
  asked(request: GatewayRequest): Asked | undefined;
  /** From now on only what was offered before is honoured. */
  replaced(): void;
  /** Milliseconds since the epoch. */
  replacedAt(): number;
  renew(): Promise<unknown>;
  /** Resolves once no call is under way. */
  idle(): Promise<unknown>;
  /** Calls under way are given up. */
  stop(): void;
  close(): Promise<void>;
}

/** `earlier`: the editions whose offers are still good, the newest first. */
export async function openEdition(
  catalogue: Catalogue,
  shared: Shared & Pick<LifecycleParts, 'renewAll'>,
  earlier: () => readonly Pick<Edition, 'lifecycle' | 'tools' | 'asked' | 'replacedAt'>[],
): Promise<Edition> {
  const { config, platform, store, networks, owner, intervals, log, now } = shared;
  const { publicUrl } = config;
  const serving = await openServing(catalogue, shared);
  const missing = withoutKeys(catalogue, serving.upstreams);
  const offered = catalogue.routes.filter((route) => !missing.has(route) && shared.rails.has(route.rail));
  const openedAt = now();
  const sold = offered.filter((route) => isOnSale(route, openedAt));
  const withdrawn = offered.filter((route) => !sold.includes(route));
  let replacedAt = Number.POSITIVE_INFINITY;
  const asked = (request: GatewayRequest): Asked | undefined => {
    const route = offered.find(({ path }) => path === request.path);
    try {
      const input = route && readInput(route, request);
      return input && { input: canonicalJson(input), amount: route.price.quote(input) };
    } catch (error) {
      if (error instanceof Problem) return undefined;
      throw error;
    }
  };
  const rails = untilReplaced(shared.rails, {
    soldUntil: ({ endpoint }) => Math.min(replacedAt, endpoint.soldUntil),
    wasOtherwise({ request, amount }, offeredAt) {
      const then = earlier().findLast((edition) => edition.replacedAt() > offeredAt);
      const before = then?.asked(request);
      // What was signed for another price was never for that.
      return before?.amount === amount && before.input !== asked(request)?.input;
    },
    now,
  });

  const lifecycleOf = (routes: readonly Route[]): Lifecycle =>
    createLifecycle({ ...shared, routes: createRouteFinder(routes), rails, upstreams: serving.caller });
  const lifecycle = lifecycleOf(sold);
  // What was bought of an endpoint that is withdrawn can still be had.
  const bought = lifecycleOf(withdrawn);
  const before = () => earlier().map((edition) => edition.lifecycle);
  const honouring = honouringEarlier(lifecycle, withdrawn.length > 0 ? () => [bought, ...before()] : before);
  const routes = createRouteFinder(sold);
  const documentParts: DocumentParts = {
    service: catalogue.service,
    routes: sold,
    networks: new Map<string, Network>(
      [...catalogue.networks].filter(([, network]) => platform.payTo(network) !== undefined),
    ),
    payTo: platform.payTo,
    mode: platform.mode,
    publicUrl,
  };
  const models = soldModels({ ...catalogue, routes: sold }, serving.upstreams.bindings);
  const apiKeys = createApiKeyRouter({
    routes: sold,
    models,
    apiKeys: serving.apiKeys,
    store: store.credits,
    topUps: openTopUps(sold, {
      lifecycle: honouring,
      rails,
      apiKeys: serving.apiKeys,
      store: store.credits,
      confirm: (paymentId) =>
        confirmPurchase({ ...shared, wanted: (network) => confirmationsOn(catalogue, network) }, paymentId),
      ended: shared.ended,
      log,
    }),
    stopping: serving.caller.stopping,
    owner,
    creditsUrl: routes.sells('POST', CREDITS_PATH) ? publicUrl + CREDITS_PATH : undefined,
    leaseMs: intervals.leaseMs,
    waitMs: intervals.waitMs,
    limits: shared.limits,
    metrics: shared.metrics,
    log,
    now,
  });
  const purchases = openPurchases({ store, publicUrl, catalogue, mode: platform.mode, networks, now });
  const refunds = refundsOf(catalogue.service).endpoint;
  const documents = createDocuments(
    documentParts,
    railDocuments(documentParts, rails),
    ownOperations({
      models: [...models.keys()],
      refunds,
      channels: exposurePolicy(catalogue.service.exposure).channels,
    }),
  );
  const mediaUrl = config.mediaBucket?.publicUrl.replace(/\/$/, '') ?? `${publicUrl}/media`;
  const mcp = openDoor({
    lifecycle: honouring,
    rails,
    catalogue,
    routes: sold,
    withdrawn,
    networks: documentParts.networks,
    documents: documents.described,
    purchases,
    media: { prefix: `${mediaUrl}/`, find: serving.files },
    publicUrl,
    earlier: () => earlier().map(({ tools }) => tools),
    limits: shared.limits,
    log,
    ended: shared.ended,
  });
  const samples = samplesOf(config.catalogueDirectory);
  const storefront = openStorefront({
    ...documentParts,
    hasChat: models.size > 0,
    mediaUrl,
    forAgents: documents.served.get('/llms.txt'),
    priceOf,
    toolOf: mcp.nameOf,
    samples: samples.names,
    samplesDirectory: samples.directory,
    rpcUrl: platform.rpcUrl,
  });
  const railPaths = createRailPathsRouter(rails, shared);
  const served: RouterParts = {
    storefront,
    lifecycle: honouring,
    routes,
    rails,
    documents: documents.served,
    health: () => shared.health({ version: catalogue.version, endpoints: sold.length }),
    readiness: shared.readiness,
    media: serving.files,
    headers: { ...platform.headers, 'x-content-type-options': 'nosniff', 'turnpike-catalogue': catalogue.version },
    extra: platform.routes,
    apiKeys,
    mcp: mcp.handle,
    purchases: createPurchasesRouter(purchases, rails, shared.limits),
    railPaths: railPaths.router,
    refunds: refunds
      ? createRefundsRouter(
          (request) => requestRefund(request, { store, rails: shared.rails, idOf: shared.idOf, now }),
          shared.limits,
        )
      : undefined,
    log,
    ended: shared.ended,
    clientOf: shared.clientOf,
    draining: shared.draining,
  };
  const all = [lifecycle, bought];
  return {
    catalogue,
    sold,
    missing,
    router: createGatewayRouter(served),
    listener: createListener(served),
    health: served.health,
    circuits: serving.upstreams.circuits,
    lifecycle,
    tools: mcp.tools,
    apiKeys: serving.apiKeys,
    asked,
    replaced: () => {
      replacedAt = now();
    },
    replacedAt: () => replacedAt,
    renew: () => Promise.all([...all, apiKeys].map(({ renew }) => renew())),
    idle: () => Promise.all([...all, apiKeys, railPaths].map(({ idle }) => idle())),
    stop: serving.stop,
    close: async () => {
      await mcp.close();
      await serving.close();
    },
  };
}
