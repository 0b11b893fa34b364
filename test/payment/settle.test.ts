/** What becomes of a claimed payment when its money is moved, locked or given back, and what its payer is told. */
import t, { type Test } from 'tap';
import { createLog } from '../../src/log.ts';
import { refused, type Settlement, unknown } from '../../src/on-chain/settlement.ts';
import type { Hold } from '../../src/payment/hold.ts';
import { endHold, giveBack, lockPayment } from '../../src/payment/locking.ts';
import type { Rail, VerifiedPayment } from '../../src/payment/rail.ts';
import { recover } from '../../src/payment/recover.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { settlePayment } from '../../src/payment/settle.ts';
import { openSqliteStore } from '../../src/store/engines/sqlite.ts';
import { storeUnavailable } from '../../src/store/problem.ts';
import type { Claim, Payment, ReceiptedSettlement, Store } from '../../src/store/store.ts';
import { endingPauses } from '../pauses.ts';
import { existing, won } from '../store/arrivals.ts';
import { claimAt, sampleAnswer, sampleFacts } from '../store/samples.ts';

const NOW = 5;
const AMOUNT = 50_000n;
const QUERY = 'the query';

const moved = (transaction: string): Settlement => ({ state: 'settled', transaction, amount: AMOUNT });
const receiptOf = (transaction: string) => ({
  transaction,
  amount: `${AMOUNT}`,
  settledAt: NOW,
  details: { query: QUERY },
});
const receipt: Rail['receipt'] = (query, { transaction, amount }, settledAt) => ({
  transaction,
  amount: amount.toString(),
  settledAt,
  details: { query },
});

const silent = unknown('the node says nothing');
const noAnswer = unknown('no answer in time');
const declinedBy = refused('insufficient funds');
const spent: Settlement = { state: 'refused', reason: 'the nonce is used', spent: true };
const expired = refused('it expired');

const pending = { name: 'Problem', code: 'settlement_pending', headers: { 'retry-after': /\d/ } };
const inProgress = { name: 'Problem', code: 'payment_in_progress', headers: { 'retry-after': /\d/ } };

/** A payment that is claimed at 1 until 11, and answered, if so. */
async function claimed(t: Test, { isAnswered = true } = {}) {
  const store = openSqliteStore(':memory:');
  t.teardown(() => store.close());
  const claim = await won(store, sampleFacts('p'), claimAt(1));
  if (isAnswered) await store.fulfil(claim, sampleAnswer(), { now: 2 });
  const log = createLog('silent');
  const parts = (changes: Partial<Store> = {}) => ({ store: { ...store, ...changes }, log, now: () => NOW });
  return { store, claim, parts, payment: () => existing(store, 'p') };
}

/** Another instance takes the payment, as it may once its lease is over. */
async function takenOver({ store, payment }: { store: Store; payment(): Promise<Payment> }): Promise<void> {
  await won(store, await payment(), claimAt(100, { owner: 'another' }));
}

function settling(claim: Claim, settle: () => Promise<Settlement>, mayHaveSettled: boolean) {
  const asked: bigint[] = [];
  const verified: Partial<VerifiedPayment> = {
    recoveryQuery: QUERY,
    settle: async (amount) => {
      asked.push(amount);
      return settle();
    },
  };
  return { asked, toSettle: { claim, verified: verified as VerifiedPayment, mayHaveSettled } };
}

const railWhoseChainSays = (settlement: Settlement | Error | string) => ({
  receipt,
  async recover(query: string) {
    if (query !== QUERY) throw new Error(`asked for ${query}`);
    if (typeof settlement === 'string' || settlement instanceof Error) throw settlement;
    return settlement;
  },
});

const notSettled = (reason: string) => ({
  name: 'Refusal',
  kind: 'verification-failed',
  message: `the payment was not settled: ${reason}`,
  settlement: { recoveryQuery: QUERY, reason },
});

for (const [what, settlement, mayHaveSettled, chain, transaction] of [
  ['moves', moved('0xours'), false, silent, '0xours'],
  ['is refused, and its chain has it', declinedBy, false, moved('0xfound'), '0xfound'],
  ['has no answer, and its chain has it', noAnswer, false, moved('0xfound'), '0xfound'],
  ['was used before, and its chain has it', spent, true, moved('0xfound'), '0xfound'],
] as const) {
  t.test(`money that ${what} is received once, for the amount that is due`, async (t) => {
    const { claim, parts, payment } = await claimed(t);
    const { asked, toSettle } = settling(claim, async () => settlement, mayHaveSettled);
    const settled = await settlePayment(parts(), railWhoseChainSays(chain), toSettle, AMOUNT);
    t.same(settled, { receipt: receiptOf(transaction), isOurs: true });
    t.same(asked, [AMOUNT]);
    t.match(await payment(), { state: 'settled', receipt: receiptOf(transaction) });
  });
}

for (const [what, settlement, mayHaveSettled, chain, told, state, reason] of [
  ['refused', declinedBy, false, silent, notSettled('insufficient funds'), 'unsettled', 'insufficient funds'],
  ['refused', declinedBy, false, expired, notSettled('it expired'), 'unsettled', 'it expired'],
  ['without an answer', noAnswer, false, expired, notSettled('it expired'), 'unsettled', 'it expired'],
  ['refused after an earlier attempt', declinedBy, true, silent, pending, 'unknown', 'insufficient funds'],
  ['refused as used', spent, false, silent, pending, 'unknown', 'the nonce is used'],
  ['without an answer', noAnswer, false, silent, pending, 'unknown', 'no answer in time'],
  ['without an answer after an earlier attempt', noAnswer, true, silent, pending, 'unknown', 'no answer in time'],
] as const) {
  t.test(`a settlement that is ${what} is ${state}, where its chain says ${chain.state}`, async (t) => {
    const { claim, parts, payment } = await claimed(t);
    const { toSettle } = settling(claim, async () => settlement, mayHaveSettled);
    await t.rejects(settlePayment(parts(), railWhoseChainSays(chain), toSettle, AMOUNT), told);
    t.match(await payment(), { state, reason, receipt: undefined });
  });
}

t.test('who loses a payment while it settles leaves its end to the other, and a receipt is kept', async (t) => {
  for (const settlement of [declinedBy, noAnswer]) {
    const { claim, parts, payment, store } = await claimed(t);
    const settle = async () => {
      await takenOver({ store, payment });
      return settlement;
    };
    const { toSettle } = settling(claim, settle, false);
    await t.rejects(settlePayment(parts(), railWhoseChainSays(silent), toSettle, AMOUNT), inProgress);
    t.match(await payment(), { state: 'fulfilled', owner: 'another' });
  }
  const { claim, parts, payment, store } = await claimed(t);
  const settle = async () => {
    await takenOver({ store, payment });
    return moved('0xours');
  };
  const { toSettle } = settling(claim, settle, false);
  const settled = await settlePayment(parts(), railWhoseChainSays(silent), toSettle, AMOUNT);
  t.same(settled, { receipt: receiptOf('0xours'), isOurs: false });
  t.match(await payment(), { receipt: receiptOf('0xours') });
});

t.test('what came of a settlement outlasts a short outage of the database', async (t) => {
  const pauses = endingPauses(t);
  for (const [settlement, state] of [
    [moved('0xours'), 'settled'],
    [declinedBy, 'unsettled'],
  ] as const) {
    const { claim, parts, payment, store } = await claimed(t);
    let outages = 2;
    const out =
      <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        outages -= 1;
        if (outages >= 0) throw storeUnavailable('it starts again');
        return method(...args);
      };
    const { asked, toSettle } = settling(claim, async () => settlement, false);
    const changes = { settle: out(store.settle), giveUp: out(store.giveUp) };
    await settlePayment(parts(changes), railWhoseChainSays(silent), toSettle, AMOUNT).catch(() => undefined);
    t.match(await payment(), { state });
    t.equal(asked.length, 1, 'and money moves once');
  }
  t.equal(pauses.length, 4);
});

t.test('what is asked of a chain has an answer, whatever is thrown', async (t) => {
  const { payment } = await claimed(t);
  const asked = { ...(await payment()), recoveryQuery: QUERY };
  const said = (settlement: Settlement | Error | string) => recover(asked, railWhoseChainSays(settlement), () => NOW);
  t.same(await said(moved('0xfound')), { state: 'settled', receipt: receiptOf('0xfound') });
  t.same(await said(expired), expired);
  t.same(await said(new Error('no such network')), { state: 'unknown', reason: 'no such network' });
  t.same(await said('nonsense'), { state: 'unknown', reason: 'the payment cannot be asked about' });
});

t.test('nothing is asked of a chain where it is known what became of a payment, or nobody can ask', async (t) => {
  const { payment } = await claimed(t);
  const before = { ...(await payment()), recoveryQuery: QUERY };
  const rail = railWhoseChainSays(moved('0xfound'));
  const of = (changes: Partial<Payment>, asked: typeof rail | undefined = rail) =>
    recover({ ...before, ...changes }, asked, () => NOW);
  const kept = receiptOf('0xkept');
  t.same(await of({ state: 'settled', receipt: kept }), { state: 'settled', receipt: kept });
  t.same(await of({ state: 'owed', receipt: kept }), { state: 'settled', receipt: kept });
  t.equal(await of({ state: 'claimed', settleUpfront: false }), undefined, 'it is free');
  t.equal(await of({ state: 'released', settleUpfront: true }), undefined);
  t.match(await of({ state: 'claimed', settleUpfront: true }), { receipt: { transaction: '0xfound' } });
  t.match(await of({ state: 'unknown' }), { receipt: { transaction: '0xfound' } });
  const nobody = { state: 'unknown', reason: 'nothing here knows this way to pay any more' };
  t.same(await recover({ ...before, state: 'unknown' }, undefined, () => NOW), nobody);
});

const locking = (claim: Claim, mayHaveSettled = false) => ({
  claim,
  verified: { recoveryQuery: QUERY } as VerifiedPayment,
  mayHaveSettled,
});
const holdThat = (lock: Hold['lock']): Hold => ({ lock });
const tryAgain = new Refusal('verification-failed', 'the channel is busy');
const DECLINED = { state: 'declined', error: tryAgain } as const;

t.test('a payment that is locked goes on', async (t) => {
  const { claim, parts, payment } = await claimed(t, { isAnswered: false });
  const claims: Claim[] = [];
  const lock = async (locked: Claim) => {
    claims.push(locked);
    return moved('0xlocked');
  };
  await lockPayment(parts(), locking(claim), holdThat(lock));
  t.same(claims, [claim]);
  t.match(await payment(), { state: 'claimed', attempt: 1, owner: 'instance-1' });
});

t.test('one that another has by the time that it is locked is the other’s', async (t) => {
  const { claim, parts, payment, store } = await claimed(t, { isAnswered: false });
  const lock = async () => {
    await takenOver({ store, payment });
    return moved('0xlocked');
  };
  await t.rejects(lockPayment(parts(), locking(claim), holdThat(lock)), inProgress);
  t.match(await payment(), { state: 'claimed', owner: 'another' });
});

const notLocked = {
  name: 'Refusal',
  kind: 'verification-failed',
  message: 'the payment was not locked: insufficient funds',
  settlement: { recoveryQuery: QUERY, reason: 'insufficient funds' },
};

for (const [locked, told, state, reason] of [
  [DECLINED, tryAgain, 'released', 'the channel is busy'],
  [declinedBy, notLocked, 'unsettled', 'insufficient funds'],
  [noAnswer, pending, 'unknown', 'no answer in time'],
] as const) {
  t.test(`a payment whose lock is ${locked.state} is ${state}`, async (t) => {
    const { claim, parts, payment } = await claimed(t, { isAnswered: false });
    await t.rejects(
      lockPayment(
        parts(),
        locking(claim),
        holdThat(async () => locked),
      ),
      told,
    );
    t.match(await payment(), { state, reason });
  });

  t.test(`one whose lock is ${locked.state}, and that another has by then, is the other's`, async (t) => {
    const { claim, parts, payment, store } = await claimed(t, { isAnswered: false });
    const lock = async () => {
      await takenOver({ store, payment });
      return locked;
    };
    await t.rejects(lockPayment(parts(), locking(claim), holdThat(lock)), inProgress);
    t.match(await payment(), { state: 'claimed', owner: 'another' });
  });
}

t.test('a payment whose lock is refused stays unknown while what was sent before may lock it yet', async (t) => {
  const { claim, parts, payment } = await claimed(t, { isAnswered: false });
  const lock = async () => declinedBy;
  await t.rejects(lockPayment(parts(), locking(claim, true), holdThat(lock)), pending);
  t.match(await payment(), { state: 'unknown', reason: 'insufficient funds' });
});

t.test('a payment whose money its payer has back is over; anything else is left to the reconciler', async (t) => {
  for (const [release, when, state, reason] of [
    [async () => refused('given back'), 'now', 'unsettled', 'upstream_failed: given back'],
    [async () => noAnswer, 'later', 'unknown', 'upstream_failed'],
    [async () => moved('0xtaken'), 'taken', 'unknown', 'upstream_failed'],
  ] as const) {
    const { claim, parts, payment } = await claimed(t, { isAnswered: false });
    t.equal(await giveBack(parts(), claim, { release }, 'upstream_failed'), when);
    t.match(await payment(), { state, reason });
  }
});

t.test('nobody works for a payment whose money is being given back', async (t) => {
  const { claim, parts, payment, store } = await claimed(t, { isAnswered: false });
  const returned: boolean[] = [];
  const release = async () => {
    returned.push((await store.claim(await payment(), claimAt(NOW, { settleAgain: true }))).won);
    return refused('given back');
  };
  await giveBack(parts(), claim, { release }, 'upstream_failed');
  t.same(returned, [false]);
  t.match(await payment(), { state: 'unsettled', attempt: 1 });
});

t.test('what is given back of a payment that another has by then is the other’s to write down', async (t) => {
  const { claim, parts, payment, store } = await claimed(t, { isAnswered: false });
  const release = async () => {
    await takenOver({ store, payment });
    return refused('given back');
  };
  t.equal(await giveBack(parts(), claim, { release }, 'upstream_failed'), undefined);
  t.match(await payment(), { state: 'claimed', owner: 'another' });
});

t.test('a hold that nobody works on is taken for an answer that is kept, and given back otherwise', async (t) => {
  const ended: [string, boolean][] = [];
  const railThat = (became: Settlement | undefined) => ({
    receipt,
    endHold: async (query: string, isDone: boolean) => {
      ended.push([query, isDone]);
      return became;
    },
  });
  const now = () => NOW;
  const held: ReceiptedSettlement = { state: 'unknown', reason: 'it is locked', held: true };
  const done = { recoveryQuery: QUERY, answer: sampleAnswer() };
  const undone = { recoveryQuery: QUERY, answer: undefined };
  t.same(await endHold(railThat(moved('0xtaken')), done, held, now), {
    state: 'settled',
    receipt: receiptOf('0xtaken'),
  });
  t.same(await endHold(railThat(refused('given back')), undone, held, now), refused('given back'));
  t.equal(await endHold(railThat(undefined), undone, held, now), undefined, 'it is nobody’s any more');
  t.same(ended.splice(0), [
    [QUERY, true],
    [QUERY, false],
    [QUERY, false],
  ]);
  const others: readonly (ReceiptedSettlement | undefined)[] = [
    undefined,
    { state: 'settled', receipt: receiptOf('0xfound') },
    { state: 'refused', reason: 'it expired' },
    { state: 'unknown', reason: 'the node says nothing' },
  ];
  for (const became of others) {
    t.equal(await endHold(railThat(moved('0xtaken')), done, became, now), became, 'what is no hold stays as it is');
  }
  t.equal(await endHold({ receipt }, done, held, now), held, 'and what is locked by a rail that locks nothing');
  t.same(ended, []);
});
