/** How a scenario is paid: the chain, the rail that pays on it, and what must be true of both. */
import type { Route } from '../../src/catalogue/types.ts';
import type { Outcome as Ending } from '../../src/lifecycle/outcome.ts';
import type { ExposureControl } from '../../src/payment/exposure/control.ts';
import type { Rail } from '../../src/payment/rail.ts';
import type { Payment, Store } from '../../src/store/store.ts';
import { openChannelMoney } from './channel-money.ts';
import type { Instance } from './instance.ts';
import type { Await } from './operation.ts';
import type { Arrival, Scenario } from './scenario.ts';
import { openSettledMoney } from './settled-money.ts';
import type { Upstream } from './upstream.ts';
import type { Step, World } from './world.ts';

export interface RailParts {
  readonly waits: Await;
  /** As the instance asks it. */
  readonly store: Store;
  readonly exposure: ExposureControl;
  now(): number;
}

/** What is wrong, if anything. */
type Fault = string | undefined;

export interface Money {
  readonly route: Route;
  /** The store's name of what the arrival pays for a request. */
  idOf(arrival: Pick<Arrival, 'payment'>, digest: string): string;
  /** Headers by which it is paid; `by`: who shows them. */
  proof(arrival: Pick<Arrival, 'payment' | 'identifier'>, by: string): Readonly<Record<string, string>>;
  /** A step in the names of the scenario. */
  inWords(label: string): string;
  openRail(parts: RailParts): Rail;
  /** The store as every instance has it: what is written there is noticed. */
  noticed(store: Store): Store;
  /** What is there before anything else, and what happens besides the arrivals. */
  begin(world: World): Promise<void>;
  /** Whether the payment has moved money. */
  isCharged(id: string): boolean;
  /** What has, and what may yet. */
  charged(): ReadonlySet<string>;
  /** Upstream calls for one payment that nobody has paid. */
  readonly mostUnpaidCalls: number;
  /** At every moment. */
  fault(payments: readonly Payment[], store: Store, upstream: Upstream, now: number): Promise<Fault>;
  /** Once everything works, of who comes back. */
  faultOfReturn(arrival: Arrival, ending: Ending): Fault;
  /** What is done while nobody calls, besides the reconciler's rounds. */
  background?(instance: Instance): Promise<void>;
  /** After that. */
  faultAtTheEnd(): Fault;
  /** What was sent without an answer lands, or is lost. */
  steps(): Step[];
  /** The rest of the run: every answer is the honest one. */
  calmDown(): void;
  /** All that decides what can follow. */
  state(store: Store): Promise<unknown>;
}

export const openMoney = (scenario: Scenario, time: () => number): Money =>
  'channel' in scenario ? openChannelMoney(scenario, time) : openSettledMoney(scenario, time);
