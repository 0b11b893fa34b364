/** What an operator watches, in Prometheus' words. No label ever names a payer. */
import { Counter, Gauge, Registry } from 'prom-client';
import { type Money, toDecimal } from '../money.ts';

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
  /** Work that was done and will not be paid. */
  lost(labels: { readonly network: string; readonly endpoint: string }, worth: Money): void;
  /** a network, a route or all payers without a record settle first because of losses, or do not any more. */
  settlesFirst(part: string, does: boolean): void;
  readonly contentType: string;
  /** Prometheus' text format. */
  text(): Promise<string>;
}

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
    registers,
  });
  return {
    payment: (labels) => payments.inc({ ...labels }),
    settledFirst: (reason) => settledFirst.inc({ reason }),
    lost: (labels, worth) => lost.inc({ ...labels }, Number(toDecimal(worth))),
    settlesFirst: (part, does) => settlesFirst.set({ part }, does ? 1 : 0),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
