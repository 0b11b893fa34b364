/**
 * One lifecycle on a real store. What runs on other machines does what a test says: the chain of its rail, and its upstream.
 * A request pays by its header `pay`, which names a payment.
 */
import type { Test } from 'tap';
import type { Input, LimitsFile, Route } from '../../src/catalogue/types.ts';
import { Problem } from '../../src/errors.ts';
import { createRouteFinder } from '../../src/lifecycle/find.ts';
import type { FulfilContext } from '../../src/lifecycle/fulfil.ts';
import { createLifecycle, type IncomingRequest, type Lifecycle } from '../../src/lifecycle/lifecycle.ts';
import type { Outcome } from '../../src/lifecycle/outcome.ts';
import { openLimits } from '../../src/limits/limits.ts';
import { createLog, type Log } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { toAtomic } from '../../src/money.ts';
import type { Settlement, Transfer } from '../../src/on-chain/settlement.ts';
import type { ExposureControl } from '../../src/payment/exposure/control.ts';
import type { Intervals } from '../../src/payment/intervals.ts';
import type { Challenge, Credential, Quote, Rail, VerifiedPayment } from '../../src/payment/rail.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { ownTurn } from '../../src/request/large-bodies.ts';
import type { GatewayRequest } from '../../src/request/request.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Receipt, Store } from '../../src/store/store.ts';
import { noExposure } from '../payment/exposure/none.ts';
import { mppRoute } from '../payment/mpp/route.ts';

export interface SaleParts {
  readonly routes?: readonly Route[];
  /** What is special of every payment. */
  readonly verified?: Partial<VerifiedPayment>;
  /** Before a payment counts as good. */
  readonly verifying?: () => void | Promise<void>;
  readonly settling?: (amount: bigint) => Settlement | Promise<Settlement>;
  /** What the chain says of any payment. */
  readonly recovering?: () => Settlement;
  readonly upstream?: (context: FulfilContext, input: Input, route: Route) => unknown;
  readonly limits?: LimitsFile;
  readonly exposure?: ExposureControl;
  readonly intervals?: Intervals;
  readonly log?: Log;
  /** Another sale's. */
  readonly store?: Store;
  /** How the lifecycle has the store. */
  readonly stored?: (store: Store) => Store;
}

/** What a request says besides `{}`, posted to `/mpp/a`. */
export type Asked = Partial<IncomingRequest> & { readonly body?: unknown };

export interface Sale {
  readonly lifecycle: Lifecycle;
  readonly store: Store;
  /** What the upstream was asked and what was settled, in atomic units. */
  readonly seen: { asked: number; readonly settled: bigint[] };
  readonly clock: { now: number };
  /** Lets the gateway stop. */
  readonly stop: AbortController;
  /** Without a payment. */
  ask(request?: Asked): Promise<Outcome>;
  pay(payment: string, request?: Asked): Promise<Outcome>;
}

export const TRANSACTION = '0xmoved';
const DECIMALS = 6;

function read({ headers: { pay } }: Pick<GatewayRequest, 'headers'>): Credential | undefined {
  if (pay === undefined) return undefined;
  if (typeof pay !== 'string') throw new Problem('several_credentials');
  if (pay === 'unreadable') throw new Refusal('malformed-credential', 'it cannot be read');
  return { id: pay, fingerprint: `fingerprint of ${pay}`, isPrivate: true };
}

export function openSale(t: Pick<Test, 'teardown'>, parts: SaleParts = {}): Sale {
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const store = parts.store ?? openSqliteStore(':memory:', { now });
  if (!parts.store) t.teardown(() => store.close());
  const { routes = [mppRoute('/mpp/a')], log = createLog('silent'), stored = (own: Store) => own } = parts;
  const seen = { asked: 0, settled: [] as bigint[] };
  const stop = new AbortController();
  const metrics = createMetrics();
  const moved = (amount: bigint): Settlement => ({ state: 'settled', transaction: TRANSACTION, amount });
  const verified = (quote: Quote): VerifiedPayment => ({
    network: 'chain-a',
    asset: 'asset-1',
    payer: 'payer-1',
    payTo: 'merchant-1',
    amount: toAtomic(quote.amount, DECIMALS),
    decimals: DECIMALS,
    scheme: 'exact',
    upfront: undefined,
    offeredAt: 0,
    canSettleUpfront: true,
    holder: { isContract: false, balance: async () => 10n ** 30n },
    payerIsProven: true,
    recoveryQuery: '{}',
    async settle(due) {
      const amount = toAtomic(due, DECIMALS);
      seen.settled.push(amount);
      return (parts.settling ?? moved)(amount);
    },
    ...parts.verified,
  });
  const wire = { read };
  const rail: Pick<Rail, 'name' | 'challenge' | 'verify' | 'recover' | 'receipt'> & { http: object; mcp: object } = {
    name: 'mpp',
    http: wire,
    mcp: wire,
    challenge: (quote, refusal, invalidParams): Challenge => ({ id: 'challenge', quote, refusal, invalidParams }),
    async verify(_credential, quote) {
      await parts.verifying?.();
      return verified(quote);
    },
    recover: async () => parts.recovering?.() ?? { state: 'unknown', reason: 'no answer' },
    receipt: (_query: string, { transaction, amount }: Transfer, settledAt: number): Receipt => ({
      transaction,
      amount: amount.toString(),
      settledAt,
      details: {},
    }),
  };
  const lifecycle = createLifecycle({
    routes: createRouteFinder(routes),
    rails: new Map([[rail.name, rail as unknown as Rail]]),
    store: stored(store),
    exposure: parts.exposure ?? noExposure,
    limits: openLimits({ file: parts.limits, metrics, log, now }),
    upstreams: {
      stopping: stop.signal,
      async call(route, input, context) {
        seen.asked += 1;
        return parts.upstream ? parts.upstream(context, input, route) : { text: 'fog' };
      },
    },
    metrics,
    owner: 'instance-1',
    ...(parts.intervals && { intervals: parts.intervals }),
    decimalsOf: (asset) => (asset === 'asset-1' ? DECIMALS : 0),
    log,
    now,
  });
  const ask = ({ body = {}, ...request }: Asked = {}) =>
    lifecycle.answer({
      transport: 'http',
      method: 'POST',
      path: '/mpp/a',
      query: '',
      headers: {},
      async readBody() {
        const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
        await ownTurn(bytes);
        return bytes;
      },
      ...request,
    });
  return {
    lifecycle,
    store,
    seen,
    clock,
    stop,
    ask,
    pay: (payment, request = {}) => ask({ ...request, headers: { ...request.headers, pay: payment } }),
  };
}
