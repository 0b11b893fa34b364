/** An instance of the gateway: the real steps, claims and reconciler on the real store, waiting where the model says. */

import { createRouteFinder } from '../../src/lifecycle/find.ts';
import { createLifecycle } from '../../src/lifecycle/lifecycle.ts';
import type { Outcome as Ending } from '../../src/lifecycle/outcome.ts';
import type { Log } from '../../src/log.ts';
import { createExposureControl } from '../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../src/payment/exposure/policy.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { reconcile } from '../../src/payment/reconcile.ts';
import type { GatewayRequest } from '../../src/request.ts';
import type { Store } from '../../src/store/store.ts';
import { usualLimits } from '../limits/usual.ts';
import type { Process } from './process.ts';
import { PROOF, type Proof } from './rail.ts';
import { route } from './sold.ts';
import type { Upstream } from './upstream.ts';

/** As long as the gateway's own. */
export const LEASE_MS = 30_000;

export interface PaidRequest extends Pick<GatewayRequest, 'method' | 'path' | 'query' | 'body'> {
  readonly proof: Proof;
  readonly idempotencyKey: string | undefined;
}

export interface Instance {
  readonly process: Process;
  /** Names of keys that it ever took payments under. */
  readonly keys: ReadonlySet<string>;
  request(request: PaidRequest, ended: (ending: Ending) => void): Promise<void>;
  reconcile(): Promise<void>;
  /** What the gateway does in the background for what it works on. */
  renew(): Promise<void>;
  /** All that decides what it will do next. */
  state(): unknown;
}

export interface InstanceParts {
  readonly process: Process;
  readonly store: Store;
  readonly rail: Rail;
  readonly upstream: Upstream;
  /** Something may have been written. */
  changed(): void;
  now(): number;
}

const log: Log = { debug() {}, info() {}, warn() {}, error() {} };
const metrics = { payment() {}, settledFirst() {}, settlement() {}, settlesFirst() {} };

/** Each method that the steps of a payment use is an operation, except what happens in the background. */
function awaitedStore(
  { process, store, changed }: InstanceParts,
  keys: Set<string>,
  inBackground: () => boolean,
): Store {
  const once = <Result>(label: string, happen: () => Promise<Result>): Promise<Result> =>
    process.waits(`store.${label}`, () => [{ label: 'done', happen }], { isQuick: true });
  const writing = async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    changed();
    return result;
  };
  return {
    ...store,
    async renew(owner, claims, leaseUntil) {
      if (claims.length === 0) return [];
      const renew = () => writing(store.renew(owner, claims, leaseUntil));
      const names = claims.map(({ id, attempt }) => `${id}, attempt ${attempt}`).join('; ');
      if (!inBackground()) return once(`renew ${names}`, renew);
      const kept = await renew();
      process.learns(`has ${kept.length} of ${names} until ${leaseUntil}`);
      return kept;
    },
    find: (id) => once(`find ${id}`, () => store.find(id)),
    cached: (...args) => once('cached', () => store.cached(...args)),
    list: (filter) => once(`list ${filter.states?.join(', ')}`, () => store.list(filter)),
    claim(facts, options) {
      for (const { name } of options.keys ?? []) keys.add(name);
      return once(`claim ${facts.id}`, () => writing(store.claim(facts, options)));
    },
    fulfil: (claim, ...args) =>
      once(`fulfil ${claim.id}, attempt ${claim.attempt}`, () => writing(store.fulfil(claim, ...args))),
    settle: (claim, ...args) =>
      once(`settle ${claim.id}, attempt ${claim.attempt}`, () => writing(store.settle(claim, ...args))),
    giveUp: (claim, state, ...args) =>
      once(`giveUp ${claim.id}, attempt ${claim.attempt}, as ${state}`, () =>
        writing(store.giveUp(claim, state, ...args)),
      ),
    resolve: (id, settlement, now) =>
      once(`resolve ${id} as ${settlement.state}`, () => writing(store.resolve(id, settlement, now))),
  };
}

export function openInstance(parts: InstanceParts): Instance {
  const { process, rail, upstream, now } = parts;
  const keys = new Set<string>();
  let inBackground = false;
  const store = awaitedStore(parts, keys, () => inBackground);
  const rails = new Map([[rail.name, rail]]);
  const idOf = (network: string) => network;
  const exposure = createExposureControl({
    policy: exposurePolicy(),
    store: { losses: async () => [] },
    idOf,
    worth: () => 0n,
    metrics,
    log,
    now,
  });
  const lifecycle = createLifecycle({
    routes: createRouteFinder([route]),
    rails,
    store,
    exposure,
    limits: usualLimits(now),
    upstreams: upstream.caller(process.name, process.waits),
    metrics,
    owner: process.name,
    log,
    decimalsOf: () => 6,
    now,
  });

  return {
    process,
    state() {
      const { limits, release } = exposure.reserve(0n, 6);
      release();
      return [process.state(), `${limits.unproven}`];
    },
    keys,
    request: ({ proof, idempotencyKey, body, ...request }, ended) =>
      process.begin(async () => {
        const headers = { [PROOF]: JSON.stringify(proof), 'idempotency-key': idempotencyKey };
        ended(await lifecycle.answer({ ...request, transport: 'http', headers, readBody: async () => body }));
      }),
    reconcile: () =>
      process.begin(async () => {
        await reconcile({ store, rails, owner: process.name, log, now });
      }),
    async renew() {
      inBackground = true;
      await process.runs(lifecycle.renew);
      inBackground = false;
    },
  };
}
