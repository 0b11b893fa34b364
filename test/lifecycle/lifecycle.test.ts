/** The steps of a request, in the words of its outcome and of what its visit notes. */
import t from 'tap';
import type { Input, Route } from '../../src/catalogue/types.ts';
import { Problem } from '../../src/errors.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { usd } from '../../src/money.ts';
import { refused, unknown } from '../../src/on-chain/settlement.ts';
import { createExposureControl } from '../../src/payment/exposure/control.ts';
import { exposurePolicy } from '../../src/payment/exposure/policy.ts';
import { usualIntervals } from '../../src/payment/intervals.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { Visit } from '../../src/request/visit.ts';
import type { Store } from '../../src/store/store.ts';
import { mppRoute } from '../payment/mpp/route.ts';
import { openSale, TRANSACTION } from './sale.ts';

/** An image whose price goes by its size. */
const bySize: Route = {
  ...mppRoute('/mpp/a'),
  request: { type: 'object', properties: { size: { type: 'number', default: 2 } }, required: ['prompt'] },
  price: { ...mppRoute('/mpp/a').price, quote: ({ size }: Input) => usd('0.01') * BigInt(Number(size)) },
  listing: { price: usd('0.01'), minPrice: undefined },
};

/** Costs nothing where no size is asked for. */
const free: Route = {
  ...bySize,
  endpoint: { ...bySize.endpoint, free: true },
  networks: ['chain-a', 'chain-b'],
  request: { type: 'object', properties: { size: { type: 'number', default: 0 } } },
};

function withResolvers() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const visitOf = (client?: string) => {
  const visit = new Visit('POST', () => {});
  visit.client = client;
  return visit;
};

t.test('what is not sold is a problem, without its body', async (t) => {
  const elsewhere = { ...mppRoute('/x402/b'), rail: 'x402' };
  const { ask } = openSale(t, { routes: [mppRoute('/mpp/a'), elsewhere] });
  const readBody = async () => {
    throw new Error('its body is read');
  };
  for (const [path, code, rail] of [
    ['/mpp/none', 'unknown_path', undefined],
    ['/x402/b', 'unknown_path', 'x402'],
  ] as const) {
    const outcome = await ask({ path, readBody });
    t.match(outcome, { kind: 'problem', problem: { code }, isClaimed: false });
    t.equal('rail' in outcome && outcome.rail, rail);
  }
  const outcome = await ask({ method: 'PUT', readBody });
  t.match(outcome, {
    kind: 'problem',
    rail: 'mpp',
    problem: { code: 'method_not_allowed', headers: { allow: 'GET, POST' } },
  });
});

t.test('a body is read up to the limit of what it asks for', async (t) => {
  const { ask } = openSale(t, { routes: [{ ...mppRoute('/mpp/a'), bodyLimitBytes: 77 }] });
  const readBody = async (limit: number) => {
    throw new Problem('body_too_large', `more than ${limit}`);
  };
  t.match(await ask({ readBody }), {
    problem: { code: 'body_too_large', message: 'more than 77' },
    rail: 'mpp',
  });
});

t.test('who sends no payment is told the price of the request, and nothing is done', async (t) => {
  const { ask, store, seen } = openSale(t, { routes: [bySize] });
  const outcome = await ask({ body: { prompt: 'fog', size: 3 } });
  t.match(outcome, { kind: 'challenge', rail: 'mpp', isClaimed: false, requestId: /^.{36}$/ });
  if (outcome.kind !== 'challenge') return;
  const { quote, refusal, invalidParams } = outcome.challenge;
  t.strictSame(
    [quote.amount, quote.deadlineMs, quote.isSecret, refusal, invalidParams],
    [usd('0.03'), 1_000, false, undefined, undefined],
  );
  t.same(seen, { asked: 0, settled: [] });
  t.same(await store.list({ limit: 1 }), []);
});

for (const [what, body, invalidParams] of [
  ['does not fit', { size: 3 }, [{ path: '/prompt', message: 'is required' }]],
  ['is no object', [], [{ path: '/', message: 'The body must be a JSON object, such as {}' }]],
] as const) {
  t.test(`a request that ${what} is told the listed price, and what is wrong with it`, async (t) => {
    const { ask } = openSale(t, { routes: [bySize] });
    const outcome = await ask({ body });
    if (outcome.kind !== 'challenge') throw new Error(outcome.kind);
    t.equal(outcome.challenge.quote.amount, usd('0.01'));
    t.strictSame(outcome.challenge.invalidParams, invalidParams);
  });

  t.test(`a request that ${what} and is paid for charges nothing`, async (t) => {
    const { pay, store, seen } = openSale(t, { routes: [bySize] });
    t.match(await pay('p', { body }), { kind: 'problem', problem: { status: 400 }, isClaimed: false, rail: 'mpp' });
    t.same(seen, { asked: 0, settled: [] });
    t.equal(await store.find('p'), undefined);
  });
}

t.test('where nothing costs anything, a request that does not fit is told so without a price', async (t) => {
  const listing = { price: 0n, minPrice: undefined };
  const { ask, pay } = openSale(t, { routes: [{ ...free, listing, request: bySize.request }] });
  for (const outcome of [await ask({ body: { size: 0 } }), await pay('p', { body: { size: 0 } })]) {
    t.match(outcome, {
      kind: 'problem',
      problem: { code: 'invalid_request', details: [{ path: '/prompt', message: 'is required' }] },
    });
  }
  t.match(await ask({ isQuote: true }), { kind: 'challenge' }, 'who asks for the price alone is told that');
});

t.test('what a payment bought is had again where its request is not valid any more, and by nobody else', async (t) => {
  const { pay, store } = openSale(t, { routes: [{ ...bySize, request: {} }] });
  const body = { size: 3 };
  const first = await pay('p', { body });
  const changed = openSale(t, { routes: [bySize], store });
  t.match(first, { kind: 'result', replayed: false });
  const visit = visitOf();
  const again = await changed.pay('p', { body, visit });
  t.match(again, { kind: 'result', replayed: true, isClaimed: false });
  if (first.kind === 'result' && again.kind === 'result') t.same(again.answer, first.answer);
  t.match(visit, { paymentId: 'p', isReplayed: true, amount: '0.03', transaction: TRANSACTION });
  for (const [payment, other] of [
    ['p', { size: 4 }],
    ['q', body],
  ] as const) {
    t.match(await changed.pay(payment, { body: other }), { problem: { code: 'invalid_request' } });
  }
  t.same(changed.seen, { asked: 0, settled: [] });
});

t.test('who may be charged yet is not told to pay once more where the request is not valid any more', async (t) => {
  const routes = [{ ...bySize, request: {} }];
  const body = { size: 3 };
  const begun = withResolvers();
  const going = withResolvers();
  const upstream = () => {
    begun.resolve(undefined);
    return going.promise;
  };
  const unanswered = openSale(t, { routes, settling: () => unknown('no answer') });
  const { store } = unanswered;
  t.match(await unanswered.pay('unanswered', { body }), { problem: { code: 'settlement_pending' } });
  const paid = openSale(t, { routes, store, verified: { upfront: 'above' }, upstream });
  const paying = paid.pay('paid', { body });
  await begun.promise;
  const changed = openSale(t, { routes: [bySize], store });
  for (const payment of ['unanswered', 'paid']) {
    t.match(await changed.pay(payment, { body }), { problem: { code: 'settlement_pending' } }, payment);
    t.match(await changed.pay(payment, { body: { size: 4 } }), { problem: { code: 'invalid_request' } });
  }
  going.resolve({ text: 'fog' });
  t.match(await paying, { kind: 'result' });
  t.match(await changed.pay('paid', { body }), { kind: 'result', replayed: true });
  t.same(changed.seen, { asked: 0, settled: [] });
});

t.test('a payment that cannot be read is told so beside the price', async (t) => {
  const { pay } = openSale(t);
  t.match(await pay('unreadable'), { kind: 'challenge', challenge: { refusal: { message: 'it cannot be read' } } });
});

t.test('more than one payment is a problem', async (t) => {
  const { ask } = openSale(t);
  t.match(await ask({ headers: { pay: ['p', 'q'] } }), { problem: { code: 'several_credentials' } });
});

t.test('a payment that is not good is told why beside the price, and is nobody’s yet', async (t) => {
  const verifying = () => {
    throw new Refusal('verification-failed', 'the signature is wrong');
  };
  const { pay, store, seen } = openSale(t, { verifying });
  t.match(await pay('p'), {
    kind: 'challenge',
    isClaimed: false,
    challenge: { refusal: { message: 'the signature is wrong' }, invalidParams: undefined },
  });
  t.same(seen, { asked: 0, settled: [] });
  t.equal(await store.find('p'), undefined);
});

t.test('what nobody foresaw is an internal error, and says nothing of itself', async (t) => {
  const fails = () => {
    throw new TypeError('secret');
  };
  const expected = {
    kind: 'problem',
    rail: 'mpp',
    problem: { code: 'internal_error', message: /^The gateway failed/ },
  };
  t.match(await openSale(t, { verifying: fails }).pay('p'), expected);
  const priceless = { ...bySize, price: { ...bySize.price, quote: fails } };
  t.match(await openSale(t, { routes: [priceless] }).ask({ body: { prompt: 'fog' } }), expected);
  const get = () => fails();
  const headers = Object.defineProperty({}, 'pay', { get });
  t.match(await openSale(t).ask({ headers }), expected);
});

t.test('a payment buys one answer, and the same payment gets it again', async (t) => {
  const { pay, store, seen } = openSale(t);
  const bought = await pay('p');
  t.match(bought, {
    kind: 'result',
    rail: 'mpp',
    isClaimed: true,
    answer: { status: 200, contentType: 'application/json', body: '{"text":"fog"}' },
    receipt: { transaction: TRANSACTION, amount: '50000' },
    replayed: false,
  });
  t.match(await pay('p'), { ...bought, requestId: /./, replayed: true });
  t.same(seen, { asked: 1, settled: [50_000n] });
  t.match(await store.find('p'), { state: 'settled', owner: '' });
});

t.test('a payment that was claimed and then not settled is told why beside the price, and gets nothing', async (t) => {
  const { pay, store, seen } = openSale(t, { settling: () => refused('the balance is gone') });
  t.match(await pay('p'), {
    kind: 'challenge',
    isClaimed: true,
    challenge: { refusal: { message: /the balance is gone/ } },
  });
  t.same(seen, { asked: 1, settled: [50_000n] });
  t.match(await store.find('p'), { state: 'unsettled' });
});

t.test('what costs nothing is given, by the first of its networks and with no receipt', async (t) => {
  const { ask, pay, store } = openSale(t, {
    routes: [free],
    upstream({ network, payer, isRepeated, paymentId, mayGoOn, reportCost }) {
      reportCost('0.01');
      return { network, payer, isRepeated, paymentId, mayGoOn: mayGoOn() };
    },
  });
  const outcome = await ask();
  const { requestId } = outcome;
  const given = { network: 'chain-a', payer: 'nobody', isRepeated: false, paymentId: requestId, mayGoOn: true };
  t.strictSame(outcome, {
    requestId,
    isClaimed: false,
    kind: 'result',
    rail: 'mpp',
    answer: { status: 200, contentType: 'application/json', body: JSON.stringify(given) },
    receipt: undefined,
    replayed: false,
  });
  t.match(await pay('p'), { kind: 'result', receipt: undefined }, 'a payment that comes along is left alone');
  t.equal(await store.find('p'), undefined);
});

t.test('nothing is given where only the price is asked, or where it is not free', async (t) => {
  const { ask, seen } = openSale(t, { routes: [free, { ...free, path: '/mpp/b', endpoint: bySize.endpoint }] });
  for (const request of [{ isQuote: true }, { path: '/mpp/b' }, { body: { size: 1 } }, { body: { size: 'big' } }]) {
    t.match(await ask(request), { kind: 'challenge' }, JSON.stringify(request));
  }
  t.equal(seen.asked, 0);
});

for (const [what, headers, isQuote, marks] of [
  ['comes without a payment', {}, false, { isPaying: false, isProbe: true }],
  ['asks for the price alone', {}, true, { isPaying: false, isProbe: false }],
  ['comes with a payment that cannot be read', { pay: 'unreadable' }, false, { isPaying: true, isProbe: false }],
  ['pays', { pay: 'p' }, false, { isPaying: true, isProbe: false }],
] as const) {
  t.test(`it is noted of a visit that it ${what}`, async (t) => {
    const { ask } = openSale(t);
    const visit = visitOf();
    const { requestId } = await ask({ headers, visit, ...(isQuote && { isQuote }) });
    t.equal(requestId, visit.requestId);
    t.match(visit, { ...marks, endpoint: 'mpp/a', route: 'mpp/a', door: 'mpp' });
  });
}

t.test('a tool call is noted by its tool, and the endpoint behind it', async (t) => {
  const { pay } = openSale(t);
  const visit = visitOf();
  visit.door = 'mcp';
  visit.route = 'the tool';
  t.match(await pay('p', { transport: 'mcp', tool: { name: 'the tool', meta: {} }, visit }), { kind: 'result' });
  t.match(visit, { endpoint: 'mpp/a', route: 'the tool', door: 'mcp', payer: 'payer-1' });
});

t.test('it is noted whose a payment is, what moved, and how long each step took', async (t) => {
  const { pay } = openSale(t);
  const visit = visitOf();
  await pay('p', { visit });
  t.match(visit, {
    network: 'chain-a',
    payer: 'payer-1',
    paymentId: 'p',
    attempt: 1,
    isReplayed: false,
    amount: '0.05',
    transaction: TRANSACTION,
  });
  t.same(
    visit.steps.map(({ step }) => step),
    ['challenge', 'verified', 'claimed', 'settled'],
  );
  const longest = Math.ceil(visit.ms);
  for (const { step, ms } of visit.steps.slice(1)) t.ok(ms <= longest, `${step} takes no longer than the whole`);
  t.ok((visit.upstreamMs ?? longest + 1) <= longest);

  const again = visitOf();
  await pay('p', { visit: again });
  t.match(again, {
    network: 'chain-a',
    payer: 'payer-1',
    paymentId: 'p',
    attempt: undefined,
    isReplayed: true,
    amount: '0.05',
    transaction: TRANSACTION,
  });
});

t.test('of a payment that is not settled no amount is noted, and that its settlement failed', async (t) => {
  const { pay } = openSale(t, { settling: () => refused('the balance is gone') });
  const visit = visitOf();
  await pay('p', { visit });
  t.match(visit, { paymentId: 'p', amount: undefined, transaction: undefined });
  t.equal(visit.steps.at(-1)?.step, 'settlement failed');
});

t.test('work for what an earlier payment under the key is owed is noted as that payment’s', async (t) => {
  let isDown = true;
  const upstream = () => {
    if (isDown) throw new Problem('upstream_failed');
    return {};
  };
  const { pay, seen } = openSale(t, { verified: { upfront: 'above' }, upstream });
  const headers = { 'idempotency-key': 'k' };
  t.match(await pay('p', { headers }), { problem: { code: 'result_owed' }, receipt: { transaction: TRANSACTION } });
  isDown = false;
  const visit = visitOf();
  t.match(await pay('q', { headers, visit }), { kind: 'result', replayed: false, isClaimed: true });
  t.match(visit, { paymentId: 'p', attempt: 2, amount: '0.05', transaction: TRANSACTION, isReplayed: false });
  t.same(seen, { asked: 2, settled: [50_000n] });
});

t.test('who asks for prices may do so as often as the limit says, and who pays does not ask', async (t) => {
  const { ask, pay } = openSale(t, { limits: { address: { unpaidPerMinute: 1 } } });
  const come = () => ({ visit: visitOf('192.0.2.1') });
  t.match(await pay('p', come()), { kind: 'result' });
  t.match(await ask(come()), { kind: 'challenge' });
  t.match(await ask(come()), { problem: { code: 'rate_limited' } });
  t.match(await pay('q', come()), { kind: 'result' });
  t.match(await ask(), { kind: 'challenge' }, 'nobody in particular');
});

for (const [what, first, verifying, settling, then] of [
  ['a payment that cannot be read', 'unreadable', undefined, undefined, 'rate_limited'],
  ['a payment that is not good', 'p', new Refusal('verification-failed', 'no'), undefined, 'rate_limited'],
  ['a payment that was claimed and not settled', 'p', undefined, refused('gone'), undefined],
  ['a payment that is good', 'p', undefined, undefined, undefined],
] as const) {
  t.test(`${what} ${then ? 'counts' : 'does not count'} as refused`, async (t) => {
    let isFirst = true;
    const { pay } = openSale(t, {
      limits: { address: { refusedPerMinute: 1 } },
      verifying() {
        if (isFirst && verifying) throw verifying;
      },
      settling: (amount) => (isFirst && settling) || { state: 'settled', transaction: TRANSACTION, amount },
    });
    await pay(first, { visit: visitOf('192.0.2.1') });
    isFirst = false;
    const outcome = await pay('q', { visit: visitOf('192.0.2.1') });
    t.match(outcome, then ? { problem: { code: then } } : { kind: 'result' });
  });
}

t.test('asking for a price counts as no refusal', async (t) => {
  const { ask, pay } = openSale(t, { limits: { address: { refusedPerMinute: 1 } } });
  await ask({ visit: visitOf('192.0.2.1') });
  t.match(await pay('p', { visit: visitOf('192.0.2.1') }), { kind: 'result' });
});

t.test('a payer has as many calls under way as the limit says, and another once one is over', async (t) => {
  const { promise: answered, resolve: answer } = withResolvers();
  const { pay } = openSale(t, { limits: { payer: { underWay: 1 } }, upstream: () => answered });
  const first = pay('p');
  await new Promise(setImmediate);
  t.match(await pay('q'), { problem: { code: 'rate_limited' } });
  answer({});
  t.match(await first, { kind: 'result' });
  t.match(await pay('q'), { kind: 'result' });
});

t.test('only what is worked on here is prolonged, and only while it is', async (t) => {
  const renewed: unknown[] = [];
  const stored = (store: Store): Store => ({
    ...store,
    renew(owner, claims, leaseUntil) {
      renewed.push([owner, claims, leaseUntil]);
      return store.renew(owner, claims, leaseUntil);
    },
  });
  const { pay, lifecycle, clock } = openSale(t, {
    stored,
    intervals: { ...usualIntervals, leaseMs: 7_000 },
    async upstream() {
      clock.now += 1;
      await lifecycle.renew();
      return {};
    },
  });
  await pay('p');
  t.strictSame(renewed.splice(0), [['instance-1', [{ id: 'p', attempt: 1 }], 1_007_001]]);
  await lifecycle.renew();
  t.strictSame(renewed, [['instance-1', [], 1_007_001]]);
});

t.test('it is idle once nothing is under way, also what came meanwhile', async (t) => {
  const { promise: answered, resolve: answer } = withResolvers();
  const { pay, ask, lifecycle } = openSale(t, { upstream: () => answered });
  await lifecycle.idle();
  const ended: string[] = [];
  const paying = pay('p').then(() => ended.push('paid'));
  const idle = lifecycle.idle().then(() => ended.push('idle'));
  await ask();
  await new Promise(setImmediate);
  t.same(ended, []);
  answer({});
  await Promise.all([paying, idle]);
  t.same(ended, ['paid', 'idle']);
});

t.test('of large bodies that come together each has its reading and its pricing in a turn of its own', async (t) => {
  let turn = 0;
  const nextTurn = () => {
    turn += 1;
    next = setImmediate(nextTurn);
  };
  let next = setImmediate(nextTurn);
  t.teardown(() => clearImmediate(next));
  const steps: [string, number][] = [];
  const route: Route = {
    ...mppRoute('/mpp/a'),
    get request() {
      steps.push(['read', turn]);
      return {};
    },
    get price() {
      steps.push(['priced', turn]);
      return mppRoute('/mpp/a').price;
    },
  };
  const { ask } = openSale(t, { routes: [route] });
  const body = Buffer.from(JSON.stringify({ prompt: 'x'.repeat(262_144) }));
  await Promise.all([ask({ body }), ask({ body })]);
  t.same(
    steps.map(([step]) => step),
    ['read', 'priced', 'read', 'priced'],
    'what was begun comes before what waits',
  );
  t.equal(new Set(steps.map(([, at]) => at)).size, 4);
});

t.test('what a payer without a record has under way counts until the losses are measured after its work', async (t) => {
  const exposure = createExposureControl({
    policy: exposurePolicy({ new: '0.50', perHour: '0.70' }),
    store: { losses: async () => [] },
    idOf: (network) => network,
    worth: () => 0n,
    metrics: createMetrics(),
    log: createLog('silent'),
    now: () => 1_000_000,
  });
  const left = () => {
    const { limits, release } = exposure.reserve(0n, 6);
    release();
    return limits.unproven;
  };
  const seen: unknown[] = [];
  const { pay } = openSale(t, {
    routes: [mppRoute('/mpp/a', '0.40')],
    exposure,
    async upstream() {
      await exposure.refresh();
      seen.push(left());
      return {};
    },
  });
  t.match(await pay('p'), { kind: 'result' });
  t.same(seen, [300_000n]);
  await exposure.refresh();
  t.equal(left(), 500_000n);
});
