/** What comes of the work: an answer that is kept, or a problem and what then becomes of the payment. */
import t from 'tap';
import type { Route } from '../../src/catalogue/types.ts';
import { Problem } from '../../src/errors.ts';
import { type FulfilContext, fulfilFree } from '../../src/lifecycle/fulfil.ts';
import { createLog, type Log } from '../../src/log.ts';
import { type Money, usd } from '../../src/money.ts';
import { refused, type Settlement, unknown, unused } from '../../src/on-chain/settlement.ts';
import type { Hold } from '../../src/payment/hold.ts';
import { Visit } from '../../src/request/visit.ts';
import { MediaNotStored } from '../../src/upstream/media/store.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';
import { type Host, inside, withModelTime } from '../model/time.ts';
import { mppRoute } from '../payment/mpp/route.ts';
import { sampleReceipt } from '../store/samples.ts';
import { openSale, TRANSACTION } from './sale.ts';

const upstreamProblem = (...[failure, options]: [UpstreamProblem['failure'], { publicMessage: string }?]) =>
  new UpstreamProblem(failure, 'provider', 'for the log alone', options);

const failed = upstreamProblem('failed');
const throws = (error: unknown) => () => {
  throw error;
};

const AGAIN = 'send the same request with the same payment to get it without a new charge';

for (const [what, error, code, message, headers, owed] of [
  [
    'a provider that fails',
    failed,
    'upstream_failed',
    'The provider failed; nothing was charged',
    {},
    'The provider failed',
  ],
  [
    'a provider that takes too long',
    upstreamProblem('timeout'),
    'upstream_timeout',
    'The provider took too long; nothing was charged',
    {},
    'The provider took too long',
  ],
  [
    'a provider of whom too much is asked',
    upstreamProblem('throttled', { publicMessage: 'too much at a time' }),
    'too_many_requests',
    'too much at a time',
    { 'retry-after': '60' },
    'too much at a time',
  ],
  [
    'a file that cannot be stored',
    new MediaNotStored(new Error('the disk is full')),
    'media_unavailable',
    'What was made cannot be stored now; nothing was charged: the same payment gets it in a moment',
    { 'retry-after': '10' },
    'What was made cannot be stored now: the same payment gets it in a moment',
  ],
  [
    'a problem of the gateway’s own',
    new Problem('store_unavailable', 'in a moment', { headers: { 'retry-after': '5' } }),
    'store_unavailable',
    'in a moment',
    { 'retry-after': '5' },
    'in a moment',
  ],
  [
    'what nobody foresaw',
    new TypeError('secret'),
    'internal_error',
    'The gateway failed; the log has the request id',
    {},
    'The gateway failed; the log has the request id',
  ],
] as const) {
  t.test(`after ${what} nothing is charged, and the payment is free`, async (t) => {
    const { pay, store, seen } = openSale(t, { upstream: throws(error) });
    const outcome = await pay('p');
    t.match(outcome, { kind: 'problem', isClaimed: true, rail: 'mpp', receipt: undefined, problem: { code, message } });
    t.strictSame(outcome.kind === 'problem' && outcome.problem.headers, headers);
    t.same(seen, { asked: 1, settled: [] });
    t.match(await store.find('p'), { state: 'released', reason: code, answer: undefined });
  });

  t.test(`where it settled first, after ${what} its result is owed`, async (t) => {
    const { pay, store, seen } = openSale(t, { upstream: throws(error), verified: { upfront: 'above' } });
    const outcome = await pay('p');
    t.match(outcome, {
      kind: 'problem',
      receipt: { transaction: TRANSACTION, amount: '50000' },
      problem: {
        code: 'result_owed',
        message: `Paid, but there is no result yet (${code}: ${owed}): ${AGAIN}`,
        cause: error,
      },
    });
    t.strictSame(outcome.kind === 'problem' && outcome.problem.headers, headers);
    t.same(seen, { asked: 1, settled: [50_000n] });
    t.match(await store.find('p'), { state: 'owed', reason: code, answer: undefined });
  });
}

/** Lists in lists: JSON.parse takes more of them than JSON.stringify does. */
const tooDeep = (): unknown => JSON.parse(`{"text": "fog", "deep": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`);

t.test('an answer that cannot be written down again is none: the payment is free, or its result owed', async (t) => {
  const whole = openSale(t, { upstream: tooDeep });
  t.match(await whole.pay('p'), { kind: 'problem', problem: { code: 'upstream_invalid_result' } });
  t.match(await whole.store.find('p'), { state: 'released', reason: 'upstream_invalid_result' });
  t.same(whole.seen, { asked: 1, settled: [] });
  const first = openSale(t, { upstream: tooDeep, verified: { upfront: 'above' } });
  t.match(await first.pay('p'), { kind: 'problem', problem: { code: 'result_owed' } });
  t.match(await first.store.find('p'), { state: 'owed', reason: 'upstream_invalid_result' });
});

for (const [failure, code] of [
  ['content-refused', 'content_refused'],
  ['not-found', 'not_found'],
  ['invalid-input', 'invalid_request'],
] as const) {
  t.test(`what a provider refuses for good is a ${code}, and a refund is due where it settled first`, async (t) => {
    const upstream = throws(upstreamProblem(failure, { publicMessage: 'not that one' }));
    const after = openSale(t, { upstream });
    t.match(await after.pay('p'), { problem: { code, message: 'not that one', headers: {} } });
    t.match(await after.store.find('p'), { state: 'released' });
    const first = openSale(t, { upstream, verified: { upfront: 'above' } });
    const message = `Paid, but refused for good (${code}: not that one): the operator's refund is due`;
    t.match(await first.pay('p'), { problem: { code: 'result_owed', message } });
  });
}

for (const [code, failure] of [
  ['upstream_unavailable', 'unavailable'],
  ['upstream_invalid_result', 'malformed'],
] as const) {
  t.test(`an upstream that is ${failure} is a problem ${code}`, async (t) => {
    const { pay } = openSale(t, { upstream: throws(upstreamProblem(failure)) });
    t.match(await pay('p'), { problem: { code } });
  });
}

t.test('a result that does not fit its schema is none', async (t) => {
  const routes = [{ ...mppRoute('/mpp/a'), result: { type: 'object', required: ['text'] } }];
  let result = {};
  const { pay, store, seen } = openSale(t, { routes, upstream: () => result });
  t.match(await pay('p'), { problem: { code: 'upstream_invalid_result' } });
  t.match(await store.find('p'), { state: 'released', answer: undefined });
  result = { text: 'fog' };
  t.match(await pay('p'), { kind: 'result', answer: { body: '{"text":"fog"}' } });
  t.same(seen, { asked: 2, settled: [50_000n] });
});

t.test('what fails while the gateway stops can be sent again, unless it is refused for good', async (t) => {
  const draining = { code: 'draining', headers: { 'retry-after': '5', connection: 'close' } };
  for (const [error, upfront, problem] of [
    [failed, undefined, { ...draining, message: /nothing was charged: send the same request again/ }],
    [upstreamProblem('not-found'), undefined, { code: 'not_found' }],
    [
      failed,
      'above',
      { code: 'result_owed', message: `Paid, but there is no result yet (the gateway is shutting down): ${AGAIN}` },
    ],
  ] as const) {
    const sale = openSale(t, {
      verified: { upfront },
      upstream({ signal }) {
        sale.stop.abort();
        t.ok(signal.aborted);
        throw error;
      },
    });
    t.match(await sale.pay('p'), { problem });
  }
});

t.test('a free call that fails is the same problem, and nothing is kept of it', async (t) => {
  const route = { ...mppRoute('/mpp/a', '0'), endpoint: { ...mppRoute('/mpp/a').endpoint, free: true } };
  const sale = openSale(t, { routes: [route], upstream: throws(upstreamProblem('throttled')) });
  t.match(await sale.ask(), {
    kind: 'problem',
    isClaimed: false,
    receipt: undefined,
    problem: { code: 'too_many_requests', headers: { 'retry-after': '60' } },
  });
  t.same(await sale.store.list({ limit: 1 }), []);
});

t.test('an upstream is told who pays for what, and whether it was asked for this before', async (t) => {
  const heard: Partial<FulfilContext>[] = [];
  const trace = { id: 'a'.repeat(32), isSampled: true };
  const { pay, store } = openSale(t, {
    upstream({ network, payer, requestId, trace, paymentId, isRepeated, emit, mayGoOn, reportCost, exchanged }) {
      heard.push({ network, payer, requestId, trace, paymentId, isRepeated, emit });
      t.ok(mayGoOn());
      exchanged?.('provider', 200, 2);
      exchanged?.('other', undefined, 3);
      reportCost('0.0125');
      if (heard.length === 1) throw failed;
      return {};
    },
  });
  const visits = [1, 2].map(() => new Visit('POST', () => {}, trace));
  for (const visit of visits) {
    await pay('p', { visit });
    t.equal(visit.cost, '0.0125');
    const exchanges = visit.steps.filter(({ step }) => step === 'upstream');
    t.match(exchanges, [
      { ms: 2, detail: 'provider: 200' },
      { ms: 3, detail: 'other: no answer' },
    ]);
  }
  const told = { network: 'chain-a', payer: 'payer-1', trace, paymentId: 'p', emit: undefined };
  t.strictSame(
    heard,
    visits.map(({ requestId }, index) => ({ ...told, requestId, isRepeated: index === 1 })),
  );
  t.match(await store.find('p'), { attempt: 2, cost: '0.0125' });
  t.match(await pay('q'), { kind: 'result' }, 'nobody takes notes');
  t.match(await store.find('q'), { cost: '0.0125' });
});

t.test('no cost is kept where the provider tells none', async (t) => {
  const { pay, store } = openSale(t);
  await pay('p');
  t.equal((await store.find('p'))?.cost, undefined);
});

t.test('once a call is over, nothing that happens stops it any more', async (t) => {
  const signals: AbortSignal[] = [];
  const sale = openSale(t, {
    upstream({ signal }) {
      signals.push(signal);
      return {};
    },
  });
  await sale.pay('p');
  sale.stop.abort();
  t.same(
    signals.map(({ aborted }) => aborted),
    [false],
  );
});

/** Free calls in a time of their own. */
function inTime() {
  let time = 0;
  let timers: { readonly at: number; readonly call: () => void }[] = [];
  const host: Host = {
    after(milliseconds, call) {
      const timer = { at: time + milliseconds, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    pause: () => Promise.reject(new Error('nobody pauses')),
  };
  return {
    timers: () => timers.map(({ at }) => at),
    runs: (code: () => void) => inside(host, code),
    async pass(until: number) {
      time = until;
      const due = timers.filter(({ at }) => at <= time);
      timers = timers.filter(({ at }) => at > time);
      for (const { call } of due) await inside(host, call);
    },
  };
}

for (const [what, isStopping, lasting, times, code] of [
  ['has a second after its deadline to say so itself', false, undefined, [45_000, 45_999, 46_000], 'upstream_timeout'],
  ['has a second to say so where the gateway stops already', true, undefined, [0, 999, 1_000], 'draining'],
  ['may take as long as its deadline', false, 30_000, [29_999, 30_000], undefined],
  ['may answer within that second', false, 45_500, [45_499, 45_500], undefined],
] as const) {
  t.test(`an adapter ${what}`, (t) =>
    withModelTime(async () => {
      const { runs, pass, timers } = inTime();
      const stop = new AbortController();
      if (isStopping) stop.abort();
      let ended: unknown;
      const call = () =>
        new Promise((resolve) => {
          if (lasting !== undefined) setTimeout(resolve, lasting, 'fog');
        });
      const route = mppRoute('/mpp/a', '0', 45_000);
      const order = { route, input: {}, network: '', requestId: 'r', visit: undefined };
      const parts = { upstreams: { call, stopping: stop.signal }, log: createLog('silent') };
      await runs(() => {
        fulfilFree(parts, order).then(
          () => {
            ended = 'answered';
          },
          (error: Problem) => {
            ended = error.code;
          },
        );
      });
      for (const time of times.slice(0, -1)) {
        await pass(time);
        t.equal(ended, undefined, `${time}`);
      }
      await pass(times.at(-1) ?? 0);
      t.equal(ended, code ?? 'answered');
      if (lasting === 30_000) t.same(timers(), [], 'nothing is waited for any more');
    }),
  );
}

for (const [envelope, body] of [
  [undefined, '{"text":"fog"}'],
  ['data', '{"success":true,"data":{"text":"fog"}}'],
  ['flag', '{"success":true,"text":"fog"}'],
] as const) {
  t.test(`what is paid is what was used, where the price says so: in the envelope ${envelope}`, async (t) => {
    const actual = (_input: unknown, result: unknown): Money => {
      t.match(result, { text: 'fog' });
      t.equal(JSON.stringify(result), envelope === 'data' ? '{"text":"fog"}' : body);
      return usd('0.03');
    };
    const route: Route = { ...mppRoute('/mpp/a'), envelope, price: { ...mppRoute('/mpp/a').price, actual } };
    const { pay, seen } = openSale(t, { routes: [route] });
    t.match(await pay('p'), { answer: { body }, receipt: { amount: '30000' } });
    t.same(seen.settled, [30_000n]);
  });
}

const streaming: Route = { ...mppRoute('/mpp/a'), streams: true, result: { type: 'string' } };

for (const [what, route, isLive, upfront, isPassedOn] of [
  ['is passed on as it comes, once it is paid for', streaming, true, 'above', true],
  ['is kept whole until it is paid for', streaming, true, undefined, false],
  ['is given whole to who wants it whole', streaming, false, 'above', false],
  ['is given whole where its endpoint does not stream', mppRoute('/mpp/a'), true, 'above', false],
] as const) {
  t.test(`an answer ${what}`, async (t) => {
    const came: unknown[] = [];
    const live = { begin: (head: object) => came.push(head), write: (text: string) => came.push(text) };
    const { pay } = openSale(t, {
      routes: [route],
      verified: { upfront },
      upstream({ emit }) {
        emit?.('one ');
        emit?.('two');
        return 'one two';
      },
    });
    const outcome = await pay('p', isLive ? { live } : {});
    const { requestId } = outcome;
    const contentType = route.streams ? 'text/event-stream' : 'application/json';
    const body = route.streams ? 'one two' : '"one two"';
    t.match(outcome, {
      kind: 'result',
      receipt: { transaction: TRANSACTION },
      answer: { status: 200, contentType, body },
    });
    if (!isPassedOn) return t.same(came, []);
    const answer = { status: 200, contentType, body: '' };
    const receipt = { transaction: TRANSACTION, amount: '50000', settledAt: 1_000_000, details: {} };
    t.strictSame(came, [{ rail: 'mpp', answer, receipt, replayed: false, requestId }, 'one ', 'two']);
  });
}

t.test('an answer that is kept is settled again, and not worked for again', async (t) => {
  let settlement: Settlement | undefined = unused('no answer');
  const { pay, store, seen } = openSale(t, {
    settling: (amount) => settlement ?? { state: 'settled', transaction: TRANSACTION, amount },
    recovering: () => unused('not seen'),
  });
  t.match(await pay('p'), { problem: { code: 'settlement_pending' }, isClaimed: true });
  t.match(await store.find('p'), { state: 'unknown', answer: { body: '{"text":"fog"}' } });
  settlement = undefined;
  t.match(await pay('p'), { kind: 'result', replayed: false, answer: { body: '{"text":"fog"}' } });
  t.same(seen, { asked: 1, settled: [50_000n, 50_000n] });
});

t.test('who is owed a result gets it without a new charge', async (t) => {
  let isDown = true;
  const { pay, seen, store } = openSale(t, {
    verified: { upfront: 'above' },
    upstream() {
      if (isDown) throw failed;
      return {};
    },
  });
  await pay('p');
  isDown = false;
  t.match(await pay('p'), { kind: 'result', replayed: false, receipt: { transaction: TRANSACTION } });
  t.same(seen, { asked: 2, settled: [50_000n] });
  t.match(await store.find('p'), { state: 'settled', attempt: 2 });
});

const locked: Settlement = { state: 'settled', transaction: '0xlocked', amount: 50_000n };

/** A sale whose payments are locked; `steps`: in their order. */
function openHeld(t: Parameters<typeof openSale>[0], hold: Partial<Hold>, upstream: () => unknown = () => ({})) {
  const steps: string[] = [];
  const sale = openSale(t, {
    verified: {
      upfront: 'held',
      hold: {
        async lock() {
          steps.push('locked');
          return locked;
        },
        ...hold,
        ...(hold.release && {
          async release() {
            steps.push('given back');
            return (await hold.release?.()) ?? unknown('');
          },
        }),
      },
    },
    settling(amount) {
      steps.push('settled');
      return { state: 'settled', transaction: TRANSACTION, amount };
    },
    upstream() {
      steps.push('asked');
      return upstream();
    },
  });
  return { ...sale, steps };
}

t.test('a payment that is locked is locked before the work, and taken after it', async (t) => {
  const { pay, steps } = openHeld(t, { release: async () => refused('given back') });
  t.match(await pay('p'), { kind: 'result', receipt: { transaction: TRANSACTION } });
  t.same(steps, ['locked', 'asked', 'settled']);
});

t.test('where nothing can be locked, nothing is worked for', async (t) => {
  const { pay, seen, store } = openHeld(t, { lock: async () => refused('the balance is gone') });
  t.match(await pay('p'), {
    kind: 'challenge',
    challenge: { refusal: { message: /not locked: the balance is gone/ } },
  });
  t.same(seen, { asked: 0, settled: [] });
  t.match(await store.find('p'), { state: 'unsettled' });
});

for (const [what, release, state] of [
  ['is given back', async () => refused('given back'), 'unsettled'],
  ['is left to be given back', async () => unknown('no answer'), 'unknown'],
  ['is free with its claim', undefined, 'released'],
] as const) {
  t.test(`what was locked for work that fails ${what}`, async (t) => {
    const { pay, steps, store } = openHeld(t, { ...(release && { release }) }, throws(failed));
    t.match(await pay('p'), { problem: { code: 'upstream_failed' }, receipt: undefined });
    t.same(steps, ['locked', 'asked', ...(release ? ['given back'] : [])]);
    t.match(await store.find('p'), { state, answer: undefined });
  });
}

t.test('whose money is still locked is not told that it is back', async (t) => {
  const noRoom = new MediaNotStored(new Error('the disk is full'));
  const { pay, store } = openHeld(t, { release: async () => unknown('no answer') }, throws(noRoom));
  const message = /; what was locked is not back yet, and follows: sign another payment$/;
  t.match(await pay('p'), { problem: { code: 'refunded', message, headers: { 'retry-after': '10' } } });
  t.match(await store.find('p'), { state: 'unknown', reason: 'media_unavailable' });
});

t.test(
  'whose money turns out to be taken already is told to send the same payment again, not another one',
  async (t) => {
    const taken: Hold['release'] = async () => ({ state: 'settled', transaction: '0xtaken', amount: 1n });
    for (const error of [failed, new MediaNotStored(new Error('the disk is full'))]) {
      const { pay, store } = openHeld(t, { release: taken }, throws(error));
      const message = /^What was locked for this payment is taken: send the same request with the same payment again/;
      t.match(await pay('p'), { problem: { code: 'settlement_pending', message, headers: { 'retry-after': '3' } } });
      t.match(await store.find('p'), { state: 'unknown' }, 'to be found as settled, and owed');
    }
  },
);

for (const [error, code] of [
  [new TypeError('secret'), 'internal_error'],
  [new Problem('store_unavailable', 'in a moment', { headers: { 'retry-after': '5' } }), 'store_unavailable'],
] as const) {
  t.test(`who has back what was locked is not told to send it again: ${code}`, async (t) => {
    const { pay, store } = openHeld(t, { release: async () => refused('given back') }, throws(error));
    const message = /^The (gateway failed|database cannot be used now); what was locked is given back: sign another/;
    t.match(await pay('p'), { problem: { code: 'refunded', message } });
    t.match(await store.find('p'), { state: 'unsettled', reason: `${code}: given back` });
    t.match(await pay('p'), { kind: 'challenge' }, 'it buys nothing any more');
    const whole = openHeld(t, {}, throws(error));
    t.match(await whole.pay('p'), { problem: { code } }, 'what is free with its claim is good');
  });
}

t.test('who is charged nothing is told of the money that lies ready', async (t) => {
  const receipt = sampleReceipt('0xready');
  const details = [{ path: '/size', message: 'too large' }];
  const problem = new Problem('invalid_request', 'not that one', { details, headers: { 'retry-after': '7' } });
  const { pay } = openHeld(t, { told: () => receipt }, throws(problem));
  const outcome = await pay('p');
  if (outcome.kind !== 'problem') throw new Error(outcome.kind);
  t.strictSame(outcome.receipt, receipt);
  const { code, message, headers } = outcome.problem;
  t.strictSame(
    [code, message, headers, outcome.problem.details],
    ['invalid_request', 'not that one', { 'retry-after': '7' }, details],
  );
});

t.test('an operator is not told of a failed call that another instance goes on with', async (t) => {
  const told: string[] = [];
  const log: Log = { ...createLog('silent'), warn: (_details: object, text: string) => told.push(text) };
  const sale = openSale(t, {
    log,
    async upstream({ signal }) {
      const [payment] = await sale.store.list({ limit: 1 });
      if (!payment) throw new Error('nothing is claimed');
      sale.clock.now += 31_000;
      const { now } = sale.clock;
      const options = { owner: 'another', now, leaseUntil: now + 30_000, maxAttempts: 3, maxOwedAttempts: 5 };
      await sale.store.claim(payment, options);
      await sale.lifecycle.renew();
      t.ok(signal.aborted, 'and its work is stopped');
      throw failed;
    },
  });
  t.match(await sale.pay('p'), { problem: { code: 'payment_in_progress' } });
  t.same(told, []);
  t.match(await sale.store.find('p'), { state: 'claimed', owner: 'another' });
});
