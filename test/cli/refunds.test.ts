/** Refunds that an operator sends from a wallet of their own, and says so. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { openCommands } from '../commands.ts';
import { won } from '../store/arrivals.ts';
import { addFunded, sampleHold } from '../store/credits/credit-samples.ts';
import { claimAt, sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

const run = openCommands(t);
const PAID = `0x${'a'.repeat(64)}`;
const MINE = `0x${'b'.repeat(64)}`;
const PAYMENT = 'c'.repeat(64);

/** A gateway's data with a delivered payment of 0.05 dollars, which nobody works on. */
async function open(t: Test) {
  const data = t.testdir({});
  const within = async <Found>(use: (store: Store) => Promise<Found>): Promise<Found> => {
    const store = openSqliteStore(join(data, 'turnpike.sqlite'));
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  };
  await within(async (store) => {
    const claim = await won(store, sampleFacts(PAYMENT, { amount: '50000' }), claimAt(1));
    await store.fulfil(claim, sampleAnswer(), { now: 2 });
    await store.settle(claim, { ...sampleReceipt(PAID), amount: '50000' }, 3);
  });
  const refund = (...words: string[]) => run('refund', words, { TURNPIKE_DATA: data });
  const said = async (...words: string[]): Promise<string> => {
    const { code, out, err } = await refund(...words);
    t.equal(code, 0, err);
    return out;
  };
  const refused = async (...words: string[]): Promise<string> => {
    const { code, err } = await refund(...words);
    t.equal(code, 1);
    return err;
  };
  return { within, said, refused };
}

t.test('what was sent by hand is said to be, and waits for no key any more', async (t) => {
  const { within, said, refused } = await open(t);
  await said(PAID, '--reason', 'too dark');
  t.match(await said('--list'), new RegExp(`wanted +0\\.05 USD +chain-a +payer-1 +${PAYMENT} +- +too dark`));
  t.match(await refused(PAID, '--sent', 'by bank'), /--sent takes a transaction/);
  t.match(await said(PAID, '--sent', MINE), `0.05 USD went back to payer-1 on chain-a by ${MINE}: no gateway sends it`);
  t.match(await said('--list'), new RegExp(`sent +0\\.05 USD .* ${PAYMENT} +${MINE}`));
  t.same(await within((store) => store.refunds.open(5)), []);
  t.match(await refused(PAID, '--sent', MINE), /no refund waits; --list shows which do/);
  t.match(await refused(MINE, '--sent', MINE), /is no payment here/);
});

t.test('of several refunds of a payment, the amount says which was sent', async (t) => {
  const { within, said, refused } = await open(t);
  await said(PAID, '--amount', '0.02');
  await said(PAID);
  t.match(await refused(PAID, '--sent', MINE), /several refunds wait \(0\.02 USD, 0\.03 USD\): say which by --amount/);
  t.match(await refused(PAID, '--sent', MINE, '--amount', '0.05'), /no refund of this amount waits/);
  await said(PAID, '--sent', MINE, '--amount', '0.03');
  t.match(await within((store) => store.refunds.of(PAYMENT)), [
    { amount: '20000', state: 'wanted' },
    { amount: '30000', state: 'sent', transaction: MINE },
  ]);
});

t.test('what a gateway is sending just now is not taken for sent by hand', async (t) => {
  const { within, said, refused } = await open(t);
  await said(PAID);
  await within(async (store) => {
    const [refund] = await store.refunds.take({ owner: 'a', now: 10, leaseUntil: 20, limit: 1 });
    if (refund) await store.refunds.sending(refund, '{"nonce":"1"}', 11);
  });
  t.match(await refused(PAID, '--sent', MINE), /a gateway is sending it, or was when it stopped: see in a minute/);
  t.match(await within((store) => store.refunds.of(PAYMENT)), [{ state: 'sending', transaction: undefined }]);
});

t.test('the list shows every refund that waits, however many were sent since', async (t) => {
  const { within, said } = await open(t);
  await said(PAID);
  await within(async (store) => {
    for (let later = 0; later < 60; later += 1) {
      const paymentId = String(later).padStart(64, 'd');
      const claim = await won(store, sampleFacts(paymentId), claimAt(1));
      await store.fulfil(claim, sampleAnswer(), { now: 2 });
      await store.settle(claim, sampleReceipt(`0x${paymentId}`), 3);
      const asked = { paymentId, reason: 'too dark', isAutomatic: false, now: store.now() + later };
      await store.refunds.want(asked);
      await store.refunds.sent({ paymentId, number: 1 }, `0x${'e'.repeat(64)}`, asked.now);
    }
  });
  const lines = (await said('--list')).trimEnd().split('\n');
  t.match(lines.at(-1), new RegExp(`wanted +0\\.05 USD .* ${PAYMENT}`), 'the oldest of all');
  t.equal(lines.filter((line) => / sent /.test(line)).length, 50, 'the last of what was sent');
});

t.test('a call of a key that is disabled is refused with what to do instead', async (t) => {
  const { within, said, refused } = await open(t);
  await within(async (store) => {
    await addFunded(store, 1_000_000n);
    await store.credits.hold(sampleHold('call', 500_000n));
    await store.credits.settle('call', { price: 250_000n, note: 'used' }, 1_100);
  });
  t.match(await said('call', '--amount', '0.1'), /^0\.1 USD are given back to key, which has 0\.85 USD\n$/);
  await within((store) => store.credits.disableKey('key', 1_200));
  t.equal(
    await refused('call'),
    'call: its key is disabled or expired, and nobody could spend it (0.15 USD is left); nothing is given back: make another key for whoever has it, with as much (npm run keys)\n',
  );
});
