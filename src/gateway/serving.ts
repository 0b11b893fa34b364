/** What serves a paid call: the providers, where their files are kept, and the sale of credits. */
import { sellsCredits } from '../catalogue/sells-credits.ts';
import type { Catalogue, Route } from '../catalogue/types.ts';
import { openApiKeys } from '../credits/api-keys.ts';
import { soldModels } from '../http/api-keys/models.ts';
import type { UpstreamCaller } from '../lifecycle/fulfil.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Platform } from '../platform.ts';
import type { Store } from '../store/store.ts';
import type { CreditSeller } from '../upstream/adapter.ts';
import { openUpstreams, type Upstreams } from '../upstream/bindings.ts';
import { type Bought, openBought } from '../upstream/bought.ts';
import { openCache } from '../upstream/cache.ts';
import { openDownloader } from '../upstream/http/download.ts';
import { openTurns, type TurnsAt } from '../upstream/http/turns.ts';
import { openDirectoryMediaStore, serveMedia } from '../upstream/media/directory.ts';
import { openS3MediaStore } from '../upstream/media/s3.ts';
import type { Config } from './config.ts';
import { mediaIn } from './disk.ts';
import { shipped } from './shipped.ts';

/** What credits bought on this network (its neutral id, or CAIP-2) wait for. */
export const confirmationsOn = ({ networks }: Catalogue, name: string): number =>
  [...networks.values()].find(({ id, live, sandbox }) => [id, live.caip2, sandbox.caip2].includes(name))
    ?.confirmations ?? 1;

/** What serves paid calls and is the same whatever catalogue is on sale. */
export interface Lasting {
  readonly bought: Bought;
  readonly turnsAt: TurnsAt;
}

/** To be called once for a process. */
export const openLasting = (store: Store, now: () => number): Lasting => ({
  bought: openBought({ store, now }),
  turnsAt: openTurns(),
});

interface ServingParts {
  readonly config: Config;
  readonly platform: Platform;
  readonly store: Store;
  readonly lasting: Lasting;
  readonly metrics: Metrics;
  readonly log: Log;
  now(): number;
}

/** Calls the providers, and keeps what they make. */
export async function openServing(
  catalogue: Catalogue,
  { config, platform, store, lasting, metrics, log, now }: ServingParts,
) {
  const upstreams = openUpstreams({
    catalogue,
    ...shipped,
    secretOf: platform.secretOf,
    ...(platform.baseUrlOf && { baseUrlOf: platform.baseUrlOf }),
    turnsAt: lasting.turnsAt,
    sandbox: platform.mode === 'sandbox',
    metrics,
    log,
  });
  const downloads = openDownloader({
    originOf: upstreams.originOf,
    trustedOrigins: platform.trustedOrigins,
    ...(platform.resolve && { resolve: platform.resolve }),
    ...(platform.readFrom && { readFrom: platform.readFrom }),
  });
  const directory = mediaIn(config.dataDirectory);
  const bucket = config.mediaBucket && (await openS3MediaStore({ ...config.mediaBucket, downloads }));
  const media = bucket ?? openDirectoryMediaStore({ directory, publicUrl: `${config.publicUrl}/media`, downloads });
  const cache = openCache({ store, now });
  const apiKeys = openApiKeys({ store: store.credits, mode: platform.mode, now });
  const salesPaidOn = (network: string): CreditSeller => ({
    buy: (order) => apiKeys.buy({ ...order, awaitsConfirmations: confirmationsOn(catalogue, network) > 1 }),
  });
  const stopping = new AbortController();
  const caller: UpstreamCaller = {
    stopping: stopping.signal,
    demand: (route, { api_key: apiKey }) =>
      sellsCredits(route) && typeof apiKey === 'string' ? apiKeys.demandUsable(apiKey) : undefined,
    call: (route, input, context) =>
      lasting.bought.attempt(context, (once) =>
        // With every member from the beginning: to add one to a copy costs several times as much as to change it there.
        upstreams.call(route, input, {
          endpoint: route.endpoint.id,
          network: context.network,
          caller: context.payer,
          paymentId: context.paymentId,
          requestId: context.requestId,
          trace: context.trace,
          signal: context.signal,
          mayGoOn: context.mayGoOn,
          reportCost: context.reportCost,
          exchanged: context.exchanged,
          emit: context.emit,
          reportUse: undefined,
          reportOutput: undefined,
          media,
          once,
          downloads,
          cache,
          credits: salesPaidOn(context.network),
          attestationRoot: platform.attestationRoot,
          now,
        }),
      ),
  };
  return {
    upstreams,
    caller,
    apiKeys,
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

/**
 * Routes whose every upstream lacks a key: route -> the variables that are missing. Credits pay for models alone, so they
 * are not sold either where no model is.
 */
export function withoutKeys(
  { routes, upstreams: settings }: Pick<Catalogue, 'routes' | 'upstreams'>,
  upstreams: Pick<Upstreams, 'available' | 'bindings'>,
): Map<Route, readonly string[]> {
  const missing = new Map<Route, readonly string[]>();
  for (const route of routes) {
    const available = upstreams.available(route);
    if (available !== true) missing.set(route, available.missing);
  }
  const models = routes.filter(({ priceOptions }) => priceOptions.rule === 'usage-tokens');
  const available = models.filter((route) => !missing.has(route));
  if (soldModels({ routes: available, upstreams: settings }, upstreams.bindings).size === 0) {
    const wanted = [...new Set(models.flatMap((route) => missing.get(route) ?? []))];
    for (const route of routes.filter(sellsCredits)) missing.set(route, wanted);
  }
  return missing;
}
