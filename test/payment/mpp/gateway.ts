import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Test } from 'tap';
import type { Route } from '../../../src/catalogue/types.ts';
import { createListener, listen } from '../../../src/http/server.ts';
import { createRouteFinder } from '../../../src/lifecycle/find.ts';
import { createLifecycle } from '../../../src/lifecycle/lifecycle.ts';
import { createLog } from '../../../src/log.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import type { MppRail } from '../../../src/rails/mpp/rail.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import { UpstreamProblem } from '../../../src/upstream/problem.ts';
import { usualLimits } from '../../limits/usual.ts';
import { noExposure } from '../exposure/none.ts';

/** The gateway's own lifecycle with one rail, and an upstream that counts its calls. */
export async function startGateway(t: Test, rail: MppRail, routes: readonly Route[]) {
  const store = openSqliteStore(':memory:');
  const seen = { upstreamCalls: 0, upstreamFails: false, settleUpfront: [] as boolean[] };
  const finder = createRouteFinder(routes);
  const rails = new Map([[rail.name, rail]]);
  const lifecycle = createLifecycle({
    routes: finder,
    rails,
    store: {
      ...store,
      claim: (facts, options) => {
        seen.settleUpfront.push(facts.settleUpfront);
        return store.claim(facts, options);
      },
    },
    upstreams: {
      stopping: new AbortController().signal,
      call: async () => {
        seen.upstreamCalls += 1;
        if (seen.upstreamFails) throw new UpstreamProblem('failed', 'test', 'failed on purpose');
        return { text: 'paid' };
      },
    },
    exposure: noExposure,
    limits: usualLimits(),
    metrics: createMetrics(),
    owner: 'test',
    log: createLog('silent'),
    decimalsOf: () => 6,
    now: Date.now,
  });
  const listener = createListener({
    lifecycle,
    routes: finder,
    rails,
    documents: new Map(),
    health: () => ({}),
    readiness: () => ({ ok: true, body: { status: 'ready' } }),
    storefront: {
      router: express.Router(),
      front: (_request, _response, next) => next(),
      answersFor: () => false,
      pageInPlaceOf: () => undefined,
    },
    media: undefined,
    mcp: undefined,
    headers: {},
    extra: undefined,
    apiKeys: { router: express.Router(), complete: async () => {} },
    refunds: undefined,
    purchases: express.Router(),
    railPaths: express.Router(),
    log: createLog('silent'),
    ended: () => {},
    clientOf: () => undefined,
    draining: () => false,
  });
  const server = await listen(listener, '127.0.0.1', 0);
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await lifecycle.idle();
    await store.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, store };
}
