/** Everything that a run goes through: the store's payments, the chain, the provider, instances, requests and time. */
import { createHash } from 'node:crypto';
import type { Outcome as Ending } from '../../src/lifecycle/outcome.ts';
import { requestDigest } from '../../src/payment/request-digest.ts';
import type { Payment, Store } from '../../src/store/store.ts';
import { type Guide, Violation } from './explore.ts';
import { type Instance, LEASE_MS, openInstance } from './instance.ts';
import { type Money, openMoney } from './money.ts';
import { openProcess } from './process.ts';
import { OWN } from './rail.ts';
import { type Asked, faultOfCalls, faultOfEnding, faultOfKey, faultOfPayment } from './rules.ts';
import type { Arrival, Scenario } from './scenario.ts';
import { type Tape, taped } from './tape.ts';
import { openUpstream, type Upstream } from './upstream.ts';

/** Milliseconds since the epoch when every run begins. */
const BEGINNING = 1_700_000_000_000;

/** A request that was sent, and what it got. */
export interface Sent extends Asked {
  charged: ReadonlySet<string>;
  ending?: Ending;
}

export interface Step {
  readonly label: string;
  /** The instance that does it. */
  readonly by?: string;
  happen(): Promise<void>;
}

export interface World {
  readonly scenario: Scenario;
  readonly money: Money;
  readonly upstream: Upstream;
  readonly instances: ReadonlyMap<string, Instance>;
  /** As all instances have it. */
  readonly store: Store;
  /** What was done so far. */
  readonly steps: readonly string[];
  now(): number;
  /** The store's name of what it pays for its request. */
  idOf(arrival: Arrival): string;
  /** Opened when it is named first. */
  instance(name: string): Instance;
  /** By their ids, as they stand. */
  payments(): Promise<ReadonlyMap<string, Payment>>;
  /** Lets time pass; whoever is awake prolongs its leases meanwhile. */
  pass(milliseconds: number): Promise<void>;
  /** Sends what the arrival brings; `changes`: something else instead. */
  send(arrival: Arrival, to: Instance, changes?: { by?: string; prompt?: string }): Promise<Sent>;
  /** One step, and what must hold after it. Throws Violation. */
  take(step: Step): Promise<void>;
  /** All that decides what can follow; `besides`: what the world does not know of. */
  state(besides: unknown): Promise<string>;
  /** The same without those who have nothing to do any more. */
  remains(): Promise<string>;
  fail(message: string): never;
}

export function openWorld(scenario: Scenario, store: Store, tape: Tape, { isRepeating }: Guide): World {
  const money = openMoney(scenario, () => time);
  const remembered = money.noticed(taped(store, tape, isRepeating));
  const { route } = money;
  const requestFor = (prompt: string) => {
    const request = { method: 'POST', path: route.path, query: '', body: Buffer.from(JSON.stringify({ prompt })) };
    return { request, digest: requestDigest({ ...request, transport: 'http', headers: {} }) };
  };
  const idOf = (arrival: Arrival): string => money.idOf(arrival, requestFor(arrival.prompt).digest);
  const ids = [...new Set(scenario.arrivals.map(idOf))];
  const competing = scenario.arrivals.filter(({ idempotencyKey, identifier }) => idempotencyKey ?? identifier);
  const competingIds = [...new Set(competing.map(idOf))];
  const instances = new Map<string, Instance>();
  /** As each instance last learnt. */
  const charged = new Map<string, ReadonlySet<string>>();
  const everSent: [string, Sent][] = [];
  const checked = new Set<Sent>();
  const steps: string[] = [];
  let time = 0;
  let changes = 0;
  let read: { changes: number; payments: Map<string, Payment> } | undefined;

  const now = () => BEGINNING + time;
  const changed = () => {
    changes += 1;
  };
  const upstream = openUpstream({
    answers: scenario.upstream,
    kill: (name) => instances.get(name)?.process.die(),
  });

  async function pass(milliseconds: number): Promise<void> {
    for (const until = time + milliseconds; time < until; ) {
      const isWorking = [...instances.values()].some(({ process }) => process.isBusy && process.condition !== 'dead');
      time = isWorking ? Math.min(until, time + LEASE_MS / 3) : until;
      changed();
      for (const { process, renew } of instances.values()) {
        await process.goOn();
        if (process.condition === 'awake') await renew();
      }
    }
  }

  function open(name: string): Instance {
    const acted = () => charged.set(name, money.charged());
    const process = openProcess({ name, now, changes: () => changes, acted });
    const instance = openInstance({ process, store: remembered, money, upstream, changed, now });
    instances.set(name, instance);
    return instance;
  }

  async function readFrom(source: Pick<Store, 'find'>): Promise<Map<string, Payment>> {
    const found = new Map<string, Payment>();
    for (const id of ids) {
      const payment = await source.find(id);
      if (payment) found.set(id, payment);
    }
    return found;
  }

  /** Each run reads them after the same steps. */
  async function payments(): Promise<Map<string, Payment>> {
    if (read?.changes !== changes) read = { changes, payments: await readFrom(remembered) };
    return read.payments;
  }

  async function send(arrival: Arrival, to: Instance, { by = OWN, prompt = arrival.prompt } = {}): Promise<Sent> {
    const { idempotencyKey } = arrival;
    const { request, digest } = requestFor(prompt);
    const sent: Sent = { id: money.idOf(arrival, digest), prompt, digest, isOwn: by === OWN, charged: new Set() };
    everSent.push([arrival.name, sent]);
    await to.request({ ...request, proof: money.proof(arrival, by), idempotencyKey }, (ending) => {
      sent.ending = ending;
      sent.charged = charged.get(to.process.name) ?? sent.charged;
    });
    return sent;
  }

  function fail(message: string): never {
    throw new Violation(money.inWords(message), steps);
  }

  async function check(): Promise<void> {
    const known = await payments();
    for (const [name, payment] of known) {
      const fault = faultOfPayment(payment, money) ?? faultOfCalls(payment, upstream, money.mostUnpaidCalls, now());
      if (fault) fail(`${name} ${fault}`);
    }
    for (const [name, sent] of everSent) {
      if (!sent.ending || checked.has(sent)) continue;
      checked.add(sent);
      const fault = faultOfEnding(sent, sent.ending, [...known.values()], money);
      if (fault) fail(`${name} ${fault}`);
    }
    const fault =
      faultOfKey(competingIds, money) ?? (await money.fault([...known.values()], remembered, upstream, now()));
    if (fault) fail(fault);
  }

  async function remains(): Promise<unknown[]> {
    const found = read?.changes === changes ? read.payments : await readFrom(store);
    const rows = [...found.values()];
    const names = new Set([...instances.values()].flatMap(({ keys }) => [...keys]));
    const kept = await Promise.all([...names].map((key) => store.cached(key, 0)));
    return [time, rows, kept, await money.state(store), upstream.state()];
  }

  const digest = (all: unknown) => createHash('sha1').update(JSON.stringify(all)).digest('base64');

  return {
    scenario,
    money,
    upstream,
    now,
    idOf,
    store: remembered,
    instances,
    steps,
    instance: (name) => instances.get(name) ?? open(name),
    payments,
    pass,
    send,
    async take({ label, happen }) {
      steps.push(money.inWords(label));
      await happen();
      for (const { process } of instances.values()) await process.goOn();
      await check();
    },
    async state(besides) {
      const parts = [...instances.values()].map((instance) => [instance.process.name, instance.state()]);
      return digest([besides, parts, await remains()]);
    },
    remains: async () => digest(await remains()),
    fail,
  };
}
