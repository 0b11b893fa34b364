/** What a call buys of credit with a payment of its own, and how it is told what to pay. */
import t, { type Test } from 'tap';
import type { Input } from '../../../src/catalogue/types.ts';
import { openApiKeys } from '../../../src/credits/api-keys.ts';
import { openTopUps } from '../../../src/http/api-keys/top-up.ts';
import { createRouteFinder } from '../../../src/lifecycle/find.ts';
import { createLifecycle } from '../../../src/lifecycle/lifecycle.ts';
import { createLog } from '../../../src/log.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';
import { toDecimal, usd } from '../../../src/money.ts';
import { type Settlement, unknown } from '../../../src/on-chain/settlement.ts';
import type { Challenge, Credential, Quote, Rail, VerifiedPayment } from '../../../src/payment/rail.ts';
import { Refusal } from '../../../src/payment/refusal.ts';
import { Visit } from '../../../src/request/visit.ts';
import { openSqliteStore } from '../../../src/store/engines/sqlite.ts';
import type { Receipt } from '../../../src/store/store.ts';
import { usualLimits } from '../../limits/usual.ts';
import { noExposure } from '../../payment/exposure/none.ts';
import { mppRoute } from '../../payment/mpp/route.ts';
import { sampleHold } from '../../store/credits/credit-samples.ts';
import { sampleReceipt } from '../../store/samples.ts';

const NOW = 1_000_000;
const LEAST = '0.01';

/** The sale of credits as the catalogue has it. */
const sale = {
  ...mppRoute('/v1/credits', LEAST),
  rail: 'x402',
  methods: ['POST' as const],
  price: {
    ...mppRoute('/v1/credits', LEAST).price,
    fixed: false,
    quote: ({ amount_usd }: Input) => usd(String(amount_usd)),
  },
  request: { properties: { api_key: { type: 'string', pattern: '^tp_sandbox_' } } },
};

/** What else is sold there. */
const others = [
  { ...mppRoute('/v1/credits', '3'), methods: ['GET' as const] },
  { ...mppRoute('/v1/images', '3'), methods: ['POST' as const] },
];

/** A payment is a word: what is said of it is in the word. */
function railOn(world: { settlement: Settlement }): Rail {
  const verified = (amount: bigint): VerifiedPayment => ({
    network: 'chain-a',
    asset: 'asset-1',
    payer: 'payer-1',
    payTo: 'merchant-1',
    amount,
    decimals: 6,
    scheme: 'exact',
    upfront: undefined,
    offeredAt: 0,
    canSettleUpfront: true,
    holder: { isContract: false, balance: async () => 10n ** 9n },
    payerIsProven: true,
    recoveryQuery: '{}',
    settle: async () => world.settlement,
  });
  return {
    name: 'x402',
    http: {
      read({ headers }: { headers: Record<string, string> }): Credential | undefined {
        const word = headers['payment-signature'];
        if (word === undefined || word === 'of another kind') return undefined;
        return { id: word, fingerprint: word, isPrivate: true };
      },
      challenge: ({ quote }: Challenge) => ({
        status: 402,
        headers: {
          'payment-required': toDecimal(quote.amount),
          'www-authenticate': 'Sale',
          'content-type': 'text/sale',
        },
        body: '',
      }),
      receipt: ({ transaction }: Receipt) => ({ 'payment-response': transaction, 'turnpike-charged': 'much' }),
    },
    challenge: (quote: Quote, refusal?: Refusal, invalidParams?: Challenge['invalidParams']) => ({
      id: 'challenge',
      quote,
      refusal,
      invalidParams,
    }),
    async verify({ id }: Credential, { amount }: Quote) {
      if (id === 'too small') throw new Refusal('payment-insufficient', 'it is too small');
      return verified(amount);
    },
    receipt: () => sampleReceipt('0xmoved'),
  } as unknown as Rail;
}

async function openWorld(t: Test, { credit = '1', awaitsConfirmations = false } = {}) {
  const store = openSqliteStore(':memory:', { now: () => NOW });
  t.teardown(() => store.close());
  const apiKeys = openApiKeys({ store: store.credits, mode: 'sandbox', now: () => NOW });
  const { apiKey, id: keyId } = await apiKeys.create({ label: 'caller', credit: usd(credit) });
  const world = {
    settlement: { state: 'settled', transaction: '0xmoved', amount: 1n } as Settlement,
    /** What its chain says of a payment that is looked for. */
    isDeep: async (): Promise<boolean> => true,
  };
  const stopping = new AbortController();
  const rails = new Map([['x402', railOn(world)]]);
  const lifecycle = createLifecycle({
    routes: createRouteFinder([sale]),
    rails,
    store,
    exposure: noExposure,
    limits: usualLimits(() => NOW),
    upstreams: {
      stopping: stopping.signal,
      async call(_route, { amount_usd, api_key }, { paymentId }) {
        const amount = usd(String(amount_usd));
        const { shown } = await apiKeys.buy({ amount, apiKey: String(api_key), paymentId, awaitsConfirmations });
        return { key: shown };
      },
    },
    metrics: createMetrics(),
    owner: 'instance-1',
    decimalsOf: () => 6,
    log: createLog('silent'),
    now: () => NOW,
  });
  const ended: Visit[] = [];
  const confirming: string[] = [];
  const warnings: object[] = [];
  const topUps = openTopUps([...others, sale], {
    lifecycle,
    rails,
    apiKeys,
    store: store.credits,
    async confirm(paymentId) {
      confirming.push(paymentId);
      return (await world.isDeep()) && store.credits.confirm(paymentId);
    },
    ended: (visit) => void ended.push(visit),
    log: { warn: (details) => void warnings.push(details) },
  });
  if (!topUps) throw new Error('credits are sold here');
  const visit = new Visit('POST', () => {});
  const lacking = (bound: string) => ({ apiKey, keyId, bound: usd(bound), visit });
  return {
    store,
    keyId,
    world,
    topUps,
    stopping,
    ended,
    confirming,
    warnings,
    visit,
    lacking,
    buy: (bound: string, payment: string) => topUps.buy(lacking(bound), payment),
    offer: (bound: string) => topUps.offer(lacking(bound)),
    /** What the ledger has by now. Looks at nothing that would enter more. */
    async bought() {
      const entries = await store.credits.entries(keyId, 10);
      return entries.flatMap(({ kind, amount }) => (kind === 'purchase' ? [toDecimal(amount)] : []));
    },
  };
}

t.test('where no credits are sold, none can be bought on the way', (t) => {
  const unused = undefined as never;
  const parts = { lifecycle: unused, rails: unused, apiKeys: unused, store: unused, log: unused, confirm: unused };
  t.equal(openTopUps(others, { ...parts, ended: unused }), undefined);
  t.end();
});

t.test('a call is offered as much credit as it may cost, and no less than is sold at a time', async (t) => {
  const { offer } = await openWorld(t, { credit: '0.001' });
  t.same(await offer('0.0325'), { 'payment-required': '0.0325' });
  t.same(await offer('0.01'), { 'payment-required': '0.01' });
  t.same(await offer('0.002'), { 'payment-required': '0.01' });
});

t.test('a payment buys it for the key, and it can be spent at once', async (t) => {
  const { store, keyId, buy, bought, confirming, ended, visit } = await openWorld(t, { credit: '0.01' });
  t.same(await buy('0.5', 'good'), { 'payment-response': '0xmoved' });
  t.same(await bought(), ['0.5']);
  t.same(confirming, [], 'nobody counts confirmations of what counts already');
  const held = await store.credits.hold(sampleHold('call', usd('0.51'), { keyId, now: NOW, leaseUntil: NOW + 1 }));
  t.match(held, { held: true, balance: 0n });
  t.match(ended, [{ status: 200, method: 'POST', requestId: visit.requestId, isWithin: true }]);
});

t.test('a payment that is not taken buys nothing, and is told why with what to pay', async (t) => {
  const { buy, bought, ended } = await openWorld(t);
  const refused = { name: 'ApiKeyProblem', code: 'payment_refused', headers: { 'payment-required': '2.5' } };
  await t.rejects(buy('2.5', 'too small'), { ...refused, message: 'The payment was not taken: it is too small' });
  await t.rejects(buy('2.5', 'of another kind'), {
    ...refused,
    message: 'The payment was not taken: it cannot be read',
  });
  t.same(await bought(), []);
  t.match(ended, [{ status: 402 }, { status: 402 }]);
});

t.test('a payment that comes to nothing yet is told as any other of the sale is', async (t) => {
  const { world, buy, bought, stopping, offer } = await openWorld(t, { credit: '0.01' });
  world.settlement = unknown('no answer in time');
  await t.rejects(buy('2.5', 'slow'), {
    name: 'Problem',
    code: 'settlement_pending',
    message: /The chain has not confirmed/,
    headers: { 'retry-after': /^\d+$/ },
  });
  stopping.abort();
  await t.rejects(buy('2.5', 'late'), { code: 'draining', headers: { 'retry-after': '5', connection: 'close' } });
  t.same(await bought(), []);
  t.same(await offer('2.6'), {}, 'and nothing is offered that cannot be bought now');
});

t.test('nothing is offered to a key that the sale does not take', async (t) => {
  const { topUps, lacking } = await openWorld(t);
  t.same(await topUps.offer({ ...lacking('2.5'), apiKey: 'tp_live_of_elsewhere' }), {});
});

t.test('what awaits confirmations counts once its payment lies deep enough', async (t) => {
  const { buy, bought, confirming } = await openWorld(t, { awaitsConfirmations: true });
  t.same(await buy('2.5', 'deep'), { 'payment-response': '0xmoved' });
  t.same(confirming, ['deep']);
  t.same(await bought(), ['2.5']);
});

t.test('what is not deep enough yet is bought all the same, and who asks again need not pay again', async (t) => {
  const { world, store, buy, offer, bought, warnings, visit } = await openWorld(t, {
    credit: '1',
    awaitsConfirmations: true,
  });
  world.isDeep = async () => false;
  await buy('2.5', 'first');
  const err = new Error('the chain does not answer');
  world.isDeep = async () => {
    throw err;
  };
  t.same(await buy('0.5', 'second'), { 'payment-response': '0xmoved' });
  t.same(warnings, [
    { requestId: visit.requestId, payment: 'first', err },
    { requestId: visit.requestId, payment: 'second', err },
  ]);
  t.same(await bought(), []);
  const pending = {
    name: 'ApiKeyProblem',
    code: 'credits_pending',
    message: 'Credit that is paid for counts in a moment: send the same request again without a payment',
    headers: { 'retry-after': '2' },
  };
  await t.rejects(offer('4'), pending, 'with what the key has, it is enough');
  await t.rejects(offer('3.999999'), pending);
  t.same(await offer('4.000001'), { 'payment-required': '4.000001' });
  await store.credits.confirm('first');
  await t.rejects(offer('4'), pending, 'some of it counts by now');
});
