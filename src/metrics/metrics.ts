/** What an operator watches, in Prometheus' words. No label ever names a payer. */
import {
  type Aggregator,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { atomicToDecimal, type Money, toDecimal } from '../money.ts';

/** What became of a payment that a request came with. */
export type PaymentOutcome = 'settled' | 'unsettled' | 'unknown' | 'released' | 'owed' | 'failed';

export interface Metrics {
  /** `network` is a neutral id, or CAIP-2 where the rail has chains of its own. */
  payment(labels: {
    readonly rail: string;
    readonly scheme: string;
    readonly network: string;
    readonly outcome: PaymentOutcome;
  }): void;
  /** `reason` is a name of `upfrontReasons`. */
  settledFirst(reason: string): void;
  /** Work that was done and will not be paid; of what may be lost, nothing first: alerts see that it grows. */
  lost(labels: { readonly network: string; readonly endpoint: string }, worth: Money): void;
  refunded(labels: { readonly network: string }, worth: Money): void;
  /** a network, a route or all payers without a record settle first because of losses, or do not any more. */
  settlesFirst(part: string, does: boolean): void;
  /** A request that was answered 429, for its address or payer. */
  limited(labels: { readonly by: 'address' | 'payer'; readonly what: string }): void;
  /** A request that has been answered; `route` never holds what a stranger made up. */
  request(labels: { readonly route: string; readonly method: string; readonly status: number }, ms: number): void;
  /** One exchange with a provider; no status: it gave none. */
  exchange(upstream: string, status: number | undefined, ms: number): void;
  /** As a provider counted them. */
  tokens(model: string, use: { readonly promptTokens: number; readonly completionTokens: number }): void;
  /** However it ended. */
  settlement(labels: { readonly rail: string; readonly network: string }, ms: number): void;
  revenue(labels: { readonly endpoint: string; readonly rail: string; readonly network: string }, worth: Money): void;
  /** In dollars, where the provider says so. */
  cost(labels: { readonly endpoint: string; readonly upstream: string }, dollars: string): void;
  /** A channel whose voucher was claimed, or which the contract would turn down. */
  claimed(labels: { readonly network: string; readonly outcome: 'claimed' | 'refused' }): void;
  reloaded(outcome: 'loaded' | 'unchanged' | 'refused'): void;
  /** Asks for what is only known when somebody reads: once, before the first `text`. */
  standing(ask: () => Promise<Standing>): void;
  readonly contentType: string;
  /** Prometheus' text format. */
  text(): Promise<string>;
  /** The same as data, for a sum over processes (`sum.ts`). */
  snapshot(): Promise<Snapshot>;
}

/** Every metric as it stands in one process, in prom-client's shape: can be sent to another. */
export type Snapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/** How things stand at the moment. */
export interface Standing {
  /** The catalogue's version. */
  readonly catalogue: string;
  /** Undefined while the store cannot be asked. */
  readonly owed: { readonly results: number; readonly worth: Money } | undefined;
  readonly creditLiability: Money | undefined;
  /** Network -> whether a facilitator in reach settles there. */
  readonly facilitators: ReadonlyMap<string, boolean>;
  /** Network -> what this process settles from there. */
  readonly gas: ReadonlyMap<string, { readonly balance: bigint; readonly decimals: number }>;
  /** Network -> what is charged to channels there and not claimed. */
  readonly unclaimed: ReadonlyMap<string, { readonly amount: bigint; readonly decimals: number }>;
  /** Upstream -> whether it is not asked for a while, for it failed too often. */
  readonly openCircuits: ReadonlyMap<string, boolean>;
}

/** OpenTelemetry's, in seconds and in tokens. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Each gateway has a registry of its own: several may live in one process. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const payments = new Counter({
    name: 'turnpike_payments_total',
    help: 'Payments that were found good, by what became of them',
    labelNames: ['rail', 'scheme', 'network', 'outcome'],
    registers,
  });
  const settledFirst = new Counter({
    name: 'turnpike_settled_first_total',
    help: 'Payments that settled before the work, by the reason',
    labelNames: ['reason'],
    registers,
  });
  const refunded = new Counter({
    name: 'turnpike_refunds_usd_total',
    help: 'Dollars that were given back',
    labelNames: ['network'],
    registers,
  });
  const lost = new Counter({
    name: 'turnpike_lost_usd_total',
    help: 'Dollars whose settlement failed after the work was done',
    labelNames: ['network', 'endpoint'],
    registers,
  });
  const settlesFirst = new Gauge({
    name: 'turnpike_settles_first',
    help: '1 while losses make a network, a route or payers without a record settle first',
    labelNames: ['part'],
    aggregator: 'max',
    registers,
  });
  const histogram = (name: string, help: string, labelNames: string[], buckets = SECONDS) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  /** No process has a part of what a gauge tells: over several it is what `aggregator` picks, and no sum. */
  const gauge = (name: string, help: string, labelNames: string[] = [], aggregator: Aggregator = 'max') =>
    new Gauge({ name, help, labelNames, aggregator, registers });
  const requests = histogram('http_server_request_duration_seconds', 'Requests, until their answers were out', [
    'http_route',
    'http_request_method',
    'http_response_status_code',
  ]);
  const exchanges = histogram(
    'http_client_request_duration_seconds',
    'Exchanges with providers, their bodies included',
    ['upstream', 'http_response_status_code'],
  );
  const tokens = histogram(
    'gen_ai_client_token_usage',
    'Tokens of calls to models, where their providers count them',
    ['gen_ai_request_model', 'gen_ai_token_type'],
    TOKENS,
  );
  const settlements = histogram('turnpike_settlement_duration_seconds', 'Settlements, however they ended', [
    'rail',
    'network',
  ]);
  const revenue = counter('turnpike_revenue_usd_total', 'Dollars that were settled', ['endpoint', 'rail', 'network']);
  const costs = counter('turnpike_upstream_cost_usd_total', 'Dollars that providers said they charged', [
    'endpoint',
    'upstream',
  ]);
  const limited = counter('turnpike_limited_total', 'Requests beyond what their caller may ask for', ['by', 'what']);
  const reloads = counter('turnpike_catalogue_reloads_total', 'Times the catalogue was loaded again', ['outcome']);
  // A counter that comes with its first count was never seen to grow, and no alert fires on it.
  for (const outcome of ['loaded', 'unchanged', 'refused']) reloads.inc({ outcome }, 0);
  const claims = counter('turnpike_channel_claims_total', 'Channels whose vouchers were to be claimed', [
    'network',
    'outcome',
  ]);
  const unclaimed = gauge(
    'turnpike_channel_unclaimed_usd',
    'Dollars that calls were charged and that are not claimed',
    ['network'],
  );
  const catalogue = gauge('turnpike_catalogue_info', '1 for the catalogue that is sold', ['version']);
  const owedResults = gauge('turnpike_owed_results', 'Payments that were settled and have no result');
  const owedDollars = gauge('turnpike_owed_usd', 'What they came to, in dollars');
  const liability = gauge('turnpike_credit_liability_usd', 'What is left of prepaid credits, in dollars');
  const facilitators = gauge('turnpike_facilitator_up', '1 where a facilitator in reach settles', ['network'], 'min');
  const gas = gauge('turnpike_signer_gas_balance', 'What a signer of this process has, in coins of its chain', [
    'network',
  ]);
  const circuits = gauge('turnpike_circuit_state', '1 while a provider is not asked, for it failed too often', [
    'upstream',
  ]);
  let standing: (() => Promise<Standing>) | undefined;

  const dollars = (money: Money | undefined): number => (money === undefined ? Number.NaN : Number(toDecimal(money)));
  async function take(): Promise<void> {
    const now = await standing?.();
    if (now === undefined) return;
    for (const labelled of [catalogue, facilitators, gas, unclaimed, circuits]) labelled.reset();
    catalogue.set({ version: now.catalogue }, 1);
    for (const [network, isUp] of now.facilitators) facilitators.set({ network }, isUp ? 1 : 0);
    for (const [network, { balance, decimals }] of now.gas) {
      gas.set({ network }, Number(atomicToDecimal(balance, decimals)));
    }
    for (const [network, { amount, decimals }] of now.unclaimed) {
      unclaimed.set({ network }, Number(atomicToDecimal(amount, decimals)));
      for (const outcome of ['claimed', 'refused']) claims.inc({ network, outcome }, 0);
    }
    for (const [upstream, isOpen] of now.openCircuits) circuits.set({ upstream }, isOpen ? 1 : 0);
    owedResults.set(now.owed?.results ?? Number.NaN);
    owedDollars.set(dollars(now.owed?.worth));
    liability.set(dollars(now.creditLiability));
  }

  return {
    request({ route, method, status }, ms) {
      const known = METHODS.has(method) ? method : '_OTHER';
      const labels = { http_route: route, http_request_method: known, http_response_status_code: status };
      requests.observe(labels, ms / 1000);
    },
    exchange: (upstream, status, ms) =>
      exchanges.observe({ upstream, http_response_status_code: status ?? 'none' }, ms / 1000),
    tokens(model, { promptTokens, completionTokens }) {
      tokens.observe({ gen_ai_request_model: model, gen_ai_token_type: 'input' }, promptTokens);
      tokens.observe({ gen_ai_request_model: model, gen_ai_token_type: 'output' }, completionTokens);
    },
    limited: (labels) => limited.inc({ ...labels }),
    settlement: (labels, ms) => settlements.observe({ ...labels }, ms / 1000),
    revenue: (labels, worth) => revenue.inc({ ...labels }, Number(toDecimal(worth))),
    cost: (labels, charged) => costs.inc({ ...labels }, Number(charged)),
    claimed: (labels) => claims.inc({ ...labels }),
    reloaded: (outcome) => reloads.inc({ outcome }),
    standing(ask) {
      standing = ask;
    },
    payment: (labels) => payments.inc({ ...labels }),
    settledFirst: (reason) => settledFirst.inc({ reason }),
    refunded: (labels, worth) => refunded.inc({ ...labels }, Number(toDecimal(worth))),
    lost: (labels, worth) => lost.inc({ ...labels }, Number(toDecimal(worth))),
    settlesFirst: (part, does) => settlesFirst.set({ part }, does ? 1 : 0),
    contentType: registry.contentType,
    async text() {
      await take();
      return await registry.metrics();
    },
    async snapshot() {
      await take();
      return await registry.getMetricsAsJSON();
    },
  };
}
