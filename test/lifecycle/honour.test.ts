/** A payer who signed what an earlier catalogue offered, and comes after the change. */
import t, { type Test } from 'tap';
import { Problem } from '../../src/errors.ts';
import { honouringEarlier } from '../../src/lifecycle/honour.ts';
import { refused } from '../../src/on-chain/settlement.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { mppRoute } from '../payment/mpp/route.ts';
import { type Asked, openSale, type SaleParts, TRANSACTION } from './sale.ts';

const route = mppRoute('/mpp/a');
const notTaken: SaleParts = {
  verifying() {
    throw new Refusal('verification-failed', 'the price has changed');
  },
};
const fails: SaleParts = {
  upstream() {
    throw new Problem('upstream_failed');
  },
};

/** The present sale and earlier ones, the latest first. Answers who has worked for the request, besides what it got. */
async function come(t: Test, present: SaleParts, earlier: readonly SaleParts[], asked: Asked = { headers: signed }) {
  const sale = openSale(t, present);
  const sales = [sale, ...earlier.map((parts) => openSale(t, { store: sale.store, ...parts }))];
  const [, ...others] = sales.map(({ lifecycle }) => lifecycle);
  let reads = 0;
  const { body = {}, ...request } = asked;
  const outcome = await honouringEarlier(sale.lifecycle, () => others).answer({
    transport: 'http',
    method: 'POST',
    path: '/mpp/a',
    query: '',
    headers: {},
    async readBody(limit) {
      reads += 1;
      const bytes = Buffer.from(JSON.stringify(body));
      if (bytes.length > limit) throw new Problem('body_too_large');
      return bytes;
    },
    ...request,
  });
  return { outcome, reads, asked: sales.map(({ seen }) => seen.asked) };
}

const signed = { pay: 'p', 'payment-signature': 'signed' };

for (const [what, present] of [
  ['sells nothing there', { routes: [] }],
  ['takes another method', { routes: [{ ...route, methods: ['GET'] }] }],
  ['takes less of a body', { routes: [{ ...route, bodyLimitBytes: 1 }] }],
  ['takes another request', { routes: [{ ...route, request: { required: ['prompt'] } }] }],
  ['asks for another price', notTaken],
] as const satisfies readonly [string, SaleParts][]) {
  t.test(`where the catalogue ${what} by now, a payment buys what was offered`, async (t) => {
    const { outcome, reads, asked } = await come(t, present, [{}]);
    t.match(outcome, { kind: 'result', isClaimed: true });
    t.same(asked, [0, 1]);
    t.equal(reads, 1, 'its body comes once');
  });
}

t.test('what is owed for a request that is not valid by now is worked for by the catalogue that took it', async (t) => {
  const changed: SaleParts = { routes: [{ ...route, request: { required: ['prompt'] } }] };
  let isDown = true;
  const upstream = () => {
    if (isDown) throw new Problem('upstream_failed');
    return {};
  };
  const first = openSale(t, { verified: { upfront: 'above' }, upstream });
  t.match(await first.pay('p'), { problem: { code: 'result_owed' } });
  isDown = false;
  const { store, lifecycle, seen } = first;
  const present = openSale(t, { ...changed, store });
  t.match(await present.pay('p'), { problem: { code: 'result_owed', message: /not served any more/ } });
  const answered = await honouringEarlier(present.lifecycle, () => [lifecycle]).answer({
    transport: 'http',
    method: 'POST',
    path: '/mpp/a',
    query: '',
    headers: signed,
    readBody: async () => Buffer.from('{}'),
  });
  t.match(answered, { kind: 'result', receipt: { transaction: TRANSACTION } });
  t.same(seen, { asked: 2, settled: [50_000n] });
});

t.test('of several earlier catalogues the first that takes a payment has it', async (t) => {
  t.same((await come(t, notTaken, [notTaken, {}, {}])).asked, [0, 0, 1, 0]);
  const { outcome, asked } = await come(t, notTaken, [fails, {}]);
  t.match(outcome, { problem: { code: 'upstream_failed' } });
  t.same(asked, [0, 1, 0]);
});

t.test('where no catalogue takes a payment, the present one’s answer stands', async (t) => {
  const { outcome } = await come(t, { routes: [] }, [notTaken]);
  t.match(outcome, { problem: { code: 'unknown_path' } });
});

for (const [what, present, ending] of [
  ['was taken', {}, { kind: 'result' }],
  ['was taken and came to nothing', fails, { problem: { code: 'upstream_failed' } }],
  ['was taken and not settled', { settling: () => refused('gone') }, { kind: 'challenge', isClaimed: true }],
] as const satisfies readonly [string, SaleParts, object][]) {
  t.test(`a payment that ${what} is offered to no earlier catalogue`, async (t) => {
    const { outcome, asked } = await come(t, present, [{}]);
    t.match(outcome, ending);
    t.same(asked, [1, 0]);
  });
}

const free = { ...mppRoute('/mpp/a', '0'), endpoint: { ...route.endpoint, free: true } };

t.test('what costs nothing by now is given, whatever it cost before', async (t) => {
  const { outcome, asked } = await come(t, { routes: [free] }, [{}]);
  t.match(outcome, { kind: 'result', receipt: undefined });
  t.same(asked, [1, 0]);
});

t.test('what cost nothing before is neither given nor sold for nothing any more', async (t) => {
  const { outcome, asked } = await come(t, { routes: [] }, [{ routes: [free] }]);
  t.match(outcome, { problem: { code: 'unknown_path' } });
  t.same(asked, [0, 0]);
});

t.test('what has nothing to do with the catalogue is told at once', async (t) => {
  const verifying = () => {
    throw new Problem('store_unavailable');
  };
  const { outcome, asked } = await come(t, { verifying }, [{}]);
  t.match(outcome, { problem: { code: 'store_unavailable' }, isClaimed: false });
  t.same(asked, [0, 0]);
});

for (const [what, request, isHonoured] of [
  ['in a header of x402', { headers: { 'payment-signature': 'signed', pay: 'p' } }, true],
  ['in an older header of x402', { headers: { 'x-payment': 'signed', pay: 'p' } }, true],
  ['in the header Authorization', { headers: { authorization: 'Payment signed', pay: 'p' } }, true],
  ['not at all', { headers: { pay: 'p' } }, false],
  [
    'in what a tool call says beside its arguments',
    { tool: { name: 'a', meta: { payment: 'signed' } }, headers: { pay: 'p' } },
    true,
  ],
  ['nowhere in a tool call', { tool: { name: 'a', meta: {} }, headers: signed }, false],
] as const) {
  t.test(`what comes with a payment ${what} is ${isHonoured ? '' : 'not '}shown to earlier catalogues`, async (t) => {
    const { outcome, asked, reads } = await come(t, notTaken, [{}], request);
    t.equal(outcome.kind, isHonoured ? 'result' : 'challenge');
    t.same(asked, [0, isHonoured ? 1 : 0]);
    t.equal(reads, 1);
  });
}

t.test('a body that no catalogue takes is too large for the present one, too', async (t) => {
  const body = { prompt: 'fog' };
  const { length } = JSON.stringify(body);
  const small = { routes: [{ ...route, bodyLimitBytes: length - 1 }] };
  const enough = { routes: [{ ...route, bodyLimitBytes: length }] };
  const tooLarge = { problem: { code: 'body_too_large' } };
  t.match((await come(t, small, [small], { body, headers: signed })).outcome, tooLarge);
  const { outcome, asked } = await come(t, small, [small, enough], { body, headers: signed });
  t.match(outcome, { kind: 'result', isClaimed: true });
  t.same(asked, [0, 0, 1], 'and one that is too large for some is taken by the next');
});

t.test('where there is no earlier catalogue, the present one answers', async (t) => {
  const { outcome } = await come(t, notTaken, []);
  t.equal(outcome.kind, 'challenge');
});
