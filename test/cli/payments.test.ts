import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { openCommands } from '../commands.ts';
import { won } from '../store/arrivals.ts';
import { sampleHold, sampleKey, samplePurchase } from '../store/credits/credit-samples.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const run = openCommands(t);

async function open(t: Test, fill: (store: Store) => Promise<void>) {
  const data = t.testdir({});
  const store = openSqliteStore(join(data, 'turnpike.sqlite'));
  await fill(store);
  await store.close();
  return async (...words: string[]): Promise<string> => {
    const { code, out, err } = await run('payments', words, { TURNPIKE_DATA: data });
    t.equal(code, 0, err);
    return out;
  };
}

async function sell(store: Store, id: string, route: string, amount: string, cost?: string): Promise<void> {
  const claim = await won(store, sampleFacts(id, { route, amount: '999' }), claimAt(Date.now()));
  await store.fulfil(claim, sampleAnswer(), { now: Date.now(), ...(cost && { cost }) });
  await store.settle(claim, { ...sampleReceipt(`tx-${id}`), amount }, Date.now());
}

t.test('lists payments, newest first, with what moved', async (t) => {
  const payments = await open(t, async (store) => {
    await sell(store, 'one', 'image/one', '50000');
    const claim = await won(store, sampleFacts('two', { route: 'image/two', amount: '1' }), claimAt(Date.now() + 1));
    await store.giveUp(claim, 'released', 'upstream_failed', Date.now());
  });
  const [head, first, second] = (await payments()).split('\n');
  t.match(head, /^time \(UTC\) +state +rail +route +amount +network +payer +transaction or reason$/);
  t.match(first, /released +x402 +image\/two +0\.000001 USD +chain-a +payer-1 +upstream_failed$/);
  t.match(second, /settled +x402 +image\/one +0\.05 USD +chain-a +payer-1 +tx-one$/);
  t.equal((await payments('--limit', '1')).trim().split('\n').length, 2);
  t.match(await payments('--owed'), /^nothing is owed in \S+\n$/);
});

t.test('a number of payments that no database can count is refused with what is taken', async (t) => {
  for (const limit of ['0', '1.5', 'ten', '1e300', '9007199254740993']) {
    const { code, err } = await run('payments', ['--limit', limit], { TURNPIKE_DATA: t.testdir({}) });
    t.equal(code, 1, limit);
    t.match(err, `--limit is a number of 1 or more: got ${limit}\n`);
  }
});

t.test('lists what has to be refunded', async (t) => {
  const payments = await open(t, async (store) => {
    await sell(store, 'fine', 'image/one', '50000');
    const claim = await won(store, sampleFacts('owed', { route: 'video/two' }), claimAt(Date.now()));
    await store.settle(claim, { ...sampleReceipt('0xdef'), amount: '500000' }, Date.now());
    await store.giveUp(claim, 'owed', 'upstream_failed', Date.now());
    const final = await won(store, sampleFacts('final', { route: 'video/three' }), claimAt(Date.now() + 1));
    await store.settle(final, { ...sampleReceipt('0xabc'), amount: '500000' }, Date.now());
    await store.giveUp(final, 'owed', 'content_refused', Date.now());
  });
  t.match((await payments('--owed')).trim().split('\n'), [
    /^time/,
    /refund due +x402 +video\/three +0\.5 USD +chain-a +payer-1 +0xabc$/,
    /owed +x402 +video\/two +0\.5 USD +chain-a +payer-1 +0xdef$/,
  ]);
});

t.test('lists all that is owed, however much that is, unless it is told how many', async (t) => {
  const payments = await open(t, async (store) => {
    for (let each = 0; each < 60; each += 1) {
      const claim = await won(store, sampleFacts(`owed-${each}`), claimAt(Date.now() + each));
      await store.settle(claim, sampleReceipt(`tx-${each}`), Date.now());
      await store.giveUp(claim, 'owed', 'upstream_failed', Date.now());
    }
  });
  const lines = async (...words: string[]) => (await payments(...words)).trim().split('\n').slice(1);
  t.match((await lines('--owed')).at(-1), / tx-0$/, 'who has waited the longest');
  t.equal((await lines('--owed')).length, 60);
  t.equal((await lines('--owed', '--limit', '5')).length, 5);
  t.equal((await lines()).length, 50);
});

t.test('tells price, cost and margin of every endpoint, over all doors', async (t) => {
  const payments = await open(t, async (store) => {
    await sell(store, 'a', 'llm/sage', '2000', '0.0015');
    await sell(store, 'b', 'llm/sage', '1000');
    await sell(store, 'c', 'image/one', '50000');
    await sell(store, 'd', 'credits/credits', '5000000');
    await sell(store, 'e', 'prepaid', '2000000');
    const grant = { amount: 1_000_000n, reference: 'start', note: 'to start with' };
    await store.credits.addKey(sampleKey('key'), grant, 1);
    for (const id of ['d', 'e']) await store.credits.purchase(samplePurchase(id, sampleKey('key')), 1);
    await store.credits.hold(sampleHold('call', 5_000n, { model: 'sage' }));
    await store.credits.settle('call', { price: 1_100n, cost: 1_000_000_000n, note: 'used' }, Date.now());
  });
  const lines = (await payments('--margins', '--since', '1h')).split('\n');
  t.match(lines[0], /^paid by +endpoint +calls +sold +cost known of +for +cost +margin$/);
  t.match(lines[1], /^credits +v1\/chat\/completions sage +1 +0\.0011 +1 +0\.0011 +0\.001 +0\.0001 +9\.1 %$/);
  t.match(lines[2], /^x402 +image\/one +1 +0\.05 +0 +- +- +- +-$/);
  t.match(lines[3], /^x402 +llm\/sage +2 +0\.003 +1 +0\.002 +0\.0015 +0\.0005 +25\.0 %$/);
  t.match(lines[5], /^7 USD of credits were bought/, 'wherever the catalogue sells them');
});

t.test('lists who cost what was worked for and never paid, the worst first', async (t) => {
  const lose = async (store: Store, id: string, payer: string, at: number) => {
    const claim = await won(store, sampleFacts(id, { payer, amount: '60000' }), claimAt(at));
    await store.fulfil(claim, sampleAnswer(), { now: at });
    await store.giveUp(claim, 'unsettled', 'the payer has too few tokens', at);
  };
  const payments = await open(t, async (store) => {
    await sell(store, 'paid', 'image/one', '50000');
    await lose(store, 'one', 'payer-1', Date.now());
    await lose(store, 'two', 'payer-2', Date.now());
    await lose(store, 'three', 'payer-2', Date.now());
    await lose(store, 'long ago', 'payer-3', Date.now() - 2 * 86_400_000);
  });
  t.match((await payments('--losses')).trim().split('\n'), [
    /^lost \(USD\) +calls +network +route +payer$/,
    /^ *0\.12 +2 +chain-a +image\/sample +payer-2$/,
    /^ *0\.06 +1 +chain-a +image\/sample +payer-1$/,
  ]);
});
