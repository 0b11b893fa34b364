/** What the console shows is what happened: at every door, on the chains, and in the books. */
import t from 'tap';
import type {
  KeyPage,
  KeyRow,
  NetworkRow,
  Overview,
  PaymentDetail,
  PaymentPage,
  Slice,
  UpstreamRow,
} from '../../src/console/figures.ts';
import { usd } from '../../src/money.ts';
import { payV2, request, sendProof, signProof } from '../clients.ts';
import { httpDoor, mcpDoor, type Way } from '../road/doors.ts';
import { startConsole, TOKEN } from './client.ts';

const { gateway, admin, get, ask } = await startConsole({ tempo: true, intervals: { reconcileEveryMs: 50 } });
t.teardown(gateway.stop);

const PICTURE = 'image/family-e-2';
const PRICE = usd('0.06');
const picture = (prompt: string) => request(gateway, `/${PICTURE}`, { prompt });
const named = (slices: readonly Slice[], name: string) => slices.find((slice) => slice.name === name);

const ways: readonly Way[] = [
  { rail: 'x402', network: 'chain-c' },
  { rail: 'mpp', network: 'tempo' },
];

interface BookRow {
  readonly kind: string;
  readonly dollars: string;
  readonly upstream_cost: string | null;
}

async function books(): Promise<BookRow[]> {
  const now = Date.now();
  const answer = await fetch(`${admin}/console/api/export?from=${now - 3_600_000}&to=${now + 3_600_000}&format=jsonl`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const lines = (await answer.text()).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as BookRow);
}

const sumOf = (rows: readonly BookRow[], ...kinds: string[]) =>
  rows.filter(({ kind }) => kinds.includes(kind)).reduce((sum, { dollars }) => sum + usd(dollars), 0n);

const { apiKey } = gateway.state as { apiKey?: string };

/** As the gateway's own records have it. */
let credited = 0n;

t.test('what is bought at every door is in the figures, in the books and on the chains, to the unit', async (t) => {
  const earnedBefore = await gateway.earned('chain-c');
  let pictures = 0;
  for (const door of [httpDoor(gateway), mcpDoor(gateway)]) {
    for (const way of ways) {
      pictures += 1;
      const input = { prompt: `a lighthouse, number ${pictures}` };
      const proof = await door.sign(way, `/${PICTURE}`, input);
      t.match(await door.ask(way, `/${PICTURE}`, input, proof), { kind: 'answer', isReplayed: false });
    }
  }
  const again = picture('a lighthouse, once more');
  const proof = await signProof(gateway, 'chain-c', again);
  t.equal((await sendProof(again, proof)).status, 200);
  t.equal((await sendProof(again, proof)).status, 200, 'a replay moves nothing');
  pictures += 1;
  await gateway.fault({ upstream: 'predictions', fault: 'refuse' });
  t.equal((await payV2(gateway, 'chain-c', picture('a storm'))).status, 400, 'and so does what is not delivered');
  t.equal((await payV2(gateway, 'chain-c', request(gateway, '/v1/credits', { amount_usd: '5' }))).status, 200);
  credited = usd('5');
  const chat = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50 }),
  });
  await chat.text();

  const overview = await get<Overview>('overview');
  const rows = await books();
  const revenue = usd(overview.totals.revenue);
  const charged = sumOf(rows, 'credits charged');
  t.ok(charged > 0n);
  t.equal(revenue, BigInt(pictures) * PRICE + charged);
  t.equal(revenue, sumOf(rows, 'payment', 'credits charged'), 'as in the books');
  t.equal(usd(overview.creditsSold), credited);
  const earned = (await gateway.earned('chain-c')) - earnedBefore;
  t.equal(usd(named(overview.networks, 'chain-c')?.revenue ?? '0') + credited, earned, 'as on the chain');

  const x402 = named(overview.doors, 'x402');
  t.match(x402, { calls: 5, failures: 1, revenue: '0.12' });
  t.match(named(overview.doors, 'mcp'), { calls: 2, failures: 0, revenue: '0.12' });
  t.match(named(overview.doors, 'mpp'), { calls: 1, failures: 0, revenue: '0.06' });
  t.match(named(overview.doors, 'api-key'), { calls: 1, failures: 0 });
  t.match(named(overview.endpoints, PICTURE), { calls: 7, failures: 1, revenue: '0.3', challenges: 6 });
  t.ok((overview.totals.p50 ?? 0) > 0 && (overview.totals.p95 ?? 0) >= (overview.totals.p50 ?? 0));
  t.equal(overview.totals.calls, 9);
  t.equal(overview.stepMs, 3_600_000);
  t.equal(overview.series.length, (overview.to - overview.from) / overview.stepMs);
  t.equal(
    overview.series.reduce((sum, step) => sum + usd(step.revenue), 0n),
    revenue,
    'the steps are the whole',
  );
  t.match(overview, { mode: 'sandbox', isWhole: true, attention: { owed: { count: 0, worth: '0' } } });

  const days = await get<Overview>(`overview?from=${Date.now() - 30 * 86_400_000}&to=${Date.now()}`);
  t.match(days, { stepMs: 86_400_000, totals: { revenue: overview.totals.revenue, calls: 9 } });
  const before = await get<Overview>(`overview?from=${Date.now() - 9 * 3_600_000}&to=${Date.now() - 5 * 3_600_000}`);
  t.match(before.totals, { calls: 0, revenue: '0', cost: '0', margin: '0' });
});

t.test('who was asked for it is told with how that went, and where the gateway is paid', async (t) => {
  const rows = await get<UpstreamRow[]>('upstreams');
  const predictions = rows.find(({ name }) => name === 'predictions');
  t.match(predictions, { isOpen: false, missing: [] });
  // How often it is asked whether it is ready is a matter of how long it takes.
  t.ok(Number(predictions?.calls) >= 6, 'every exchange counts', { calls: predictions?.calls });
  const paidOn = async () => (await get<NetworkRow[]>('networks')).find(({ id }) => id === 'chain-c');
  let network = await paidOn();
  // A chain that is slow to say what its signer has is not waited for.
  while (network && !network.signer) network = await paidOn();
  t.match(network, {
    payTo: gateway.state.payTo['chain-c'],
    facilitator: String,
    signer: { address: /^0x/, coin: 'ETH', isLow: false },
  });
});

t.test('payments are listed by whatever is asked for, page by page', async (t) => {
  const list = async (query: string) => (await get<PaymentPage>(`payments?${query}`)).payments;
  const all = await list('');
  t.equal(all.length, 7);
  t.equal((await list(`endpoint=${PICTURE}&state=settled`)).length, 5);
  t.match(await list('state=released'), [{ endpoint: PICTURE, reason: 'content_refused' }]);
  t.equal((await list('network=chain-c&state=settled')).length, 4);
  const [{ transaction = '', payer = '' } = {}] = await list('state=settled&network=chain-c');
  t.match(await list(`transaction=${transaction}`), [{ transaction, payer }]);
  t.match(await list(`transaction=${'f'.repeat(64)}`), []);
  t.ok((await list(`payer=${payer.toLowerCase()}`)).length >= 4);
  t.match(await ask('GET', 'payments?state=lost'), { status: 400, body: { field: 'state', error: /claimed, / } });
  t.match(await ask('GET', 'payments?after=x'), { status: 400, body: { field: 'after' } });
  t.match(await ask('GET', 'payments/none'), { status: 404, body: { error: /no such payment/ } });
});

t.test('a payment tells what it went through, and a refund of it arrives on its chain', async (t) => {
  const before = await gateway.spendable('chain-c');
  const answer = await payV2(gateway, 'chain-c', picture('a refund'));
  t.equal(answer.status, 200);
  const [row] = (await get<PaymentPage>(`payments?endpoint=${PICTURE}`)).payments;
  const path = `payments/${encodeURIComponent(row?.id ?? '')}`;
  const detail = await get<PaymentDetail>(path);
  const steps = detail.timeline.map(({ step }) => step);
  t.same(
    steps.filter((step) => step !== 'upstream'),
    ['challenge', 'verified', 'claimed', 'settled', 'answered'],
  );
  t.ok(detail.timeline.some(({ step, detail }) => step === 'upstream' && detail === 'predictions: 201'));
  t.match(detail, { state: 'settled', amount: '0.06', left: '0.06', refunds: [] });
  t.equal(detail.timeline.find(({ step }) => step === 'settled')?.detail, detail.transaction);

  const refund = (body: object) => ask<PaymentDetail & { error: string }>('POST', `${path}/refund`, body);
  t.match(await refund({ amount: '0.02' }), { status: 400, body: { field: 'reason' } });
  t.match(await refund({ amount: 'much', reason: 'why' }), { status: 400, body: { field: 'amount' } });
  t.match(await refund({ reason: 'why', to: '0x' }), { status: 400, body: { field: 'to' } });
  const form = { amount: '0.02', reason: 'too dark', reference: 'one-form' };
  t.match(await refund(form), { status: 200, body: { left: '0.04' } });
  t.match(await refund(form), { status: 200, body: { left: '0.04', refunds: { length: 1 } } }, 'sent again, done once');
  t.match(await refund({ ...form, amount: '0.01' }), {
    status: 409,
    body: { error: /begin anew .*0\.04 USDC is left/ },
  });
  t.match(await refund({ ...form, reference: 'x'.repeat(101) }), { status: 400, body: { field: 'reference' } });
  const delivered = await refund({ reason: 'never came', state: 'owed' });
  t.match(delivered, {
    status: 409,
    body: { error: /may have been delivered: look at it again .*0\.04 USDC is left/ },
  });
  const refused = await refund({ amount: '0.05', reason: 'too dark', state: 'settled' });
  t.match(refused, { status: 409, body: { error: /more than is left of it \(0\.04 USDC is left\)/ } });
  while ((await gateway.spendable('chain-c')) !== before - PRICE + 20_000n);
  let after: PaymentDetail;
  do after = await get<PaymentDetail>(path);
  while (after.refunds[0]?.state !== 'sent');
  t.match(after.timeline.at(-1), { step: 'refunded', detail: /^0\.02 USDC: 0x/ });
  t.equal((await get<Overview>('overview')).totals.refunds, '0.02');
  t.equal(sumOf(await books(), 'refund'), usd('0.02'));
});

t.test('a key is made, used, topped up, bounded and disabled', async (t) => {
  const made = await ask<{ key: KeyRow; secret: string }>('POST', 'keys', { label: 'a friend', credits: '2' });
  const { key, secret } = made.body;
  t.match(key, { label: 'a friend', balance: '2', spentToday: '0' });
  const chat = async () => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vendor3-5.6-luna', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9 }),
    });
    await answer.text();
    return answer.status;
  };
  t.equal(await chat(), 200);
  const find = async () => (await get<KeyPage>('keys')).keys.find(({ id }) => id === key.id);
  const used = await find();
  t.equal(usd(used?.balance ?? '0') + usd(used?.spentToday ?? '0'), usd('2'));
  t.ok(usd(used?.spentToday ?? '0') > 0n);
  const change = (body: object) => ask<KeyRow>('POST', `keys/${key.id}`, body);
  t.match(await change({ topUp: '1', note: 'thanks', dailyLimit: '0.000001' }), {
    status: 200,
    body: { dailyLimit: '0.000001' },
  });
  t.equal(await chat(), 429, 'beyond what it may spend in a day');
  t.notOk('dailyLimit' in (await change({ dailyLimit: null })).body);
  t.equal(await chat(), 200);
  t.match(await change({ topUp: '-1' }), { status: 400, body: { field: 'topUp' } });
  const form = { topUp: '3', reference: 'one-form' };
  const answerTo = async (sent: object) => {
    const { status, body } = await change(sent);
    return { status, body };
  };
  const added = await answerTo(form);
  t.same(await answerTo(form), added, 'a form that is sent again adds once');
  t.match(await change({ ...form, topUp: '4', dailyLimit: '1' }), { status: 409, body: { field: 'topUp' } });
  t.match(await change({ ...form, reference: 'two words' }), { status: 400, body: { field: 'reference' } });
  t.same(
    (await get<KeyPage>('keys')).keys.find(({ id }) => id === key.id),
    added.body,
    'and nothing else is done',
  );
  t.match(await change({ disabled: true }), { status: 200, body: { disabledAt: Number } });
  t.equal(await chat(), 401);
  t.match(await change({ disabled: false }), { status: 409 });
  t.match(await change({ topUp: '1', reference: 'wasted' }), {
    status: 409,
    body: { field: 'topUp', error: /disabled/ },
  });
  t.match(await ask('POST', 'keys/none', { disabled: true }), { status: 404 });
  t.match(await ask('POST', 'keys', { credits: '1' }), { status: 400, body: { field: 'label' } });
  t.notMatch(JSON.stringify(await get('keys')), secret);
});
