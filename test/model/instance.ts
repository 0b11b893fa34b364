/** An instance of the gateway: the real steps, claims and reconciler on the real store, waiting where the model says. */

import { createRouteFinder } from '../../src/lifecycle/find.ts';
import { createLifecycle } from '../../src/lifecycle/lifecycle.ts';
import type { Outcome as Ending } from '../../src/lifecycle/outcome.ts';
import type { Log } from '../../src/log.ts';
import { createExposureControl } from '../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../src/payment/exposure/policy.ts';
import type { Rail } from '../../src/payment/rail.ts';
import { reconcile } from '../../src/payment/reconcile.ts';
import type { GatewayRequest } from '../../src/request/request.ts';
import type { Store } from '../../src/store/store.ts';
import { usualLimits } from '../limits/usual.ts';
import type { Money } from './money.ts';
import type { Process } from './process.ts';
import type { Upstream } from './upstream.ts';

/** As long as the gateway's own. */
export const LEASE_MS = 30_000;

export interface PaidRequest extends Pick<GatewayRequest, 'method' | 'path' | 'query' | 'body'> {
  /** Headers. */
  readonly proof: Readonly<Record<string, string>>;
  readonly idempotencyKey: string | undefined;
}

export interface Instance {
  readonly process: Process;
  now(): number;
  readonly rail: Rail;
  /** As its code asks it. */
  readonly store: Store;
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
  readonly money: Money;
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
  const { channels } = store;
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
    cover: (claim) => once(`cover ${claim.id}, attempt ${claim.attempt}`, () => writing(store.cover(claim))),
    fulfil: (claim, ...args) =>
      once(`fulfil ${claim.id}, attempt ${claim.attempt}`, () => writing(store.fulfil(claim, ...args))),
    settle: (claim, ...args) =>
      once(`settle ${claim.id}, attempt ${claim.attempt}`, () => writing(store.settle(claim, ...args))),
    giveUp: (claim, state, ...args) =>
      once(`giveUp ${claim.id}, attempt ${claim.attempt}, as ${state}`, () =>
        writing(store.giveUp(claim, state, ...args)),
      ),
    resolve: (id, settlement, ...args) =>
      once(`resolve ${id} as ${settlement.state}`, () => writing(store.resolve(id, settlement, ...args))),
    takeUnknown: (attempt, by) => once(`takeUnknown ${attempt.id}`, () => writing(store.takeUnknown(attempt, by))),
    channels: {
      ...channels,
      find: (id) => once('channels.find', () => channels.find(id)),
      findFor: (...args) => once('channels.findFor', () => channels.findFor(...args)),
      reserve: (claim, ...args) =>
        once(`channels.reserve for ${claim.id}, attempt ${claim.attempt}`, () =>
          writing(channels.reserve(claim, ...args)),
        ),
      adopt: (...args) => once('channels.adopt', () => writing(channels.adopt(...args))),
      sync: (id, state, now) =>
        once(`channels.sync ${state.balance}, of which ${state.totalClaimed} are claimed`, () =>
          writing(channels.sync(id, state, now)),
        ),
      unclaimed: (...args) => once('channels.unclaimed', () => channels.unclaimed(...args)),
      take: (ids, purpose, ...args) =>
        once(`channels.take for a ${purpose}`, () => writing(channels.take(ids, purpose, ...args))),
      letGo: (ids, purpose, until) =>
        once(`channels.letGo of a ${purpose}`, () => writing(channels.letGo(ids, purpose, until))),
    },
  };
}

export function openInstance(parts: InstanceParts): Instance {
  const { process, money, upstream, now } = parts;
  const keys = new Set<string>();
  let inBackground = false;
  const store = awaitedStore(parts, keys, () => inBackground);
  const idOf = (network: string) => network;
  const exposure = createExposureControl({
    policy: exposurePolicy({ channels: true }),
    store: { losses: async () => [] },
    idOf,
    worth: () => 0n,
    metrics,
    log,
    now,
  });
  const rail = money.openRail({ waits: process.waits, store, exposure, now });
  const rails = new Map([[rail.name, rail]]);
  const lifecycle = createLifecycle({
    routes: createRouteFinder([money.route]),
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
    now,
    rail,
    store,
    state() {
      const { limits, release } = exposure.reserve(0n, 6);
      release();
      return [process.state(), `${limits.unproven}`];
    },
    keys,
    request: ({ proof, idempotencyKey, body, ...request }, ended) =>
      process.begin(async () => {
        const headers = { ...proof, 'idempotency-key': idempotencyKey };
        ended(await lifecycle.answer({ ...request, transport: 'http', headers, readBody: async () => body }));
      }),
    reconcile: () =>
      process.begin(async () => {
        await reconcile({ store, rails, owner: process.name, log, now });
      }),
    async renew() {
      inBackground = true;
      let renewed: Promise<void> | undefined;
      await process.runs(() => {
        renewed = lifecycle.renew();
      });
      // A store that takes longer than a step has to have answered before the next.
      await renewed;
      inBackground = false;
    },
  };
}
