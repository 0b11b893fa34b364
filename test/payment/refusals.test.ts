/** What payers are told of payments that are not taken, and of those that can buy nothing any more. */
import t from 'tap';
import { paymentProblem } from '../../src/payment/payment-problem.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { refuseOwedForGood, refuseSpent } from '../../src/payment/spent.ts';
import type { Payment } from '../../src/store/store.ts';
import { sampleAnswer, sampleFacts, sampleReceipt } from '../store/samples.ts';

t.test('a refusal says why, and what its payer needs to do better', (t) => {
  const cause = new Error('the signature is too short');
  const settlement = { recoveryQuery: '{}', reason: 'insufficient funds' };
  const correction = { code: 'wrong_domain', network: 'eip155:1', extra: { name: 'USDC' } };
  const refusal = new Refusal('verification-failed', 'used', { cause, upfront: 'contract', settlement, correction });
  t.ok(refusal instanceof Error);
  const { name, message, kind, upfront } = refusal;
  t.same(
    { name, message, kind, upfront },
    { name: 'Refusal', message: 'used', kind: 'verification-failed', upfront: 'contract' },
  );
  t.equal(refusal.settlement, settlement);
  t.equal(refusal.correction, correction);
  t.equal(refusal.cause, cause);
  const bare = new Refusal('payment-expired', 'too late');
  t.same([bare.upfront, bare.settlement, bare.correction, bare.cause], [undefined, undefined, undefined, undefined]);
  t.end();
});

t.test('the 402 says what a call costs and whether it can be paid, or why the payment was not taken', (t) => {
  const base = 'https://paymentauth.org/problems/';
  const unpaid = { type: `${base}payment-required`, title: 'Payment required', status: 402, challengeId: 'c' };
  t.same(paymentProblem('c', '0.05', undefined), {
    ...unpaid,
    detail: 'This call costs 0.05 USD. Pay one of the offers and send the same request again.',
  });
  t.same(paymentProblem('c', '0.05', undefined, true), paymentProblem('c', '0.05', undefined));
  t.same(paymentProblem('c', '0.05', undefined, false), {
    ...unpaid,
    detail: 'This call costs 0.05 USD and cannot be paid at the moment: no network settles it now. Ask again later.',
  });
  for (const isPayable of [true, false]) {
    t.same(paymentProblem('c', '0.05', new Refusal('payment-expired', 'it was good until noon'), isPayable), {
      type: `${base}payment-expired`,
      title: 'The payment has expired',
      status: 402,
      detail: 'it was good until noon',
      challengeId: 'c',
    });
  }
  t.end();
});

const payment = (changes: Partial<Payment>): Payment => ({
  ...sampleFacts('p', { fingerprint: 'its own', requestDigest: 'its own' }),
  state: 'released',
  attempt: 1,
  owner: '',
  leaseUntil: 0,
  answer: undefined,
  receipt: undefined,
  cost: undefined,
  reason: undefined,
  createdAt: 1,
  updatedAt: 1,
  ...changes,
});

const shown = { id: 'p', fingerprint: 'its own', isPrivate: true };
const refusal = (message: string) => ({ name: 'Refusal', kind: 'invalid-challenge', message });
const goesOnFailing = { code: 'result_owed', message: /the provider goes on failing/ };
const refundDue = (reason: string) => ({
  code: 'result_owed',
  message: `Paid, but refused for good (${reason}): the operator's refund is due`,
});

for (const [what, changes, told] of [
  [
    'unsettled',
    { state: 'unsettled', reason: 'it expired' },
    {
      name: 'Refusal',
      kind: 'verification-failed',
      message: 'this payment could not be settled (it expired): sign a new one',
      settlement: { recoveryQuery: '{"nonce":"0x01"}', reason: 'it expired' },
    },
  ],
  ['tried three times', { attempt: 3 }, refusal('this payment was tried 3 times and never charged: sign a new one')],
  ['owed and refused by the provider', { state: 'owed', reason: 'content_refused' }, refundDue('content_refused')],
  ['owed and impossible', { state: 'owed', reason: 'not_found', attempt: 20 }, refundDue('not_found')],
  ['owed for the twentieth time', { state: 'owed', reason: 'upstream_failed', attempt: 20 }, goesOnFailing],
  [
    'to be given back',
    { state: 'refunded' },
    {
      code: 'refunded',
      message: 'There was no result for this payment, and it is given back: its transaction follows',
    },
  ],
  [
    'given back',
    { state: 'refunded', reason: '0xback' },
    {
      code: 'refunded',
      message: 'There was no result for this payment, and it is given back: transaction 0xback',
    },
  ],
] as const) {
  t.test(`a payment that is ${what} buys nothing any more, and its payer is told why`, (t) => {
    t.throws(() => refuseSpent(payment(changes), shown, 'its own'), told);
    t.end();
  });
}

t.test('a payment that can still buy something is not refused', (t) => {
  const { answer, receipt } = { answer: sampleAnswer(), receipt: sampleReceipt() };
  for (const changes of [
    { state: 'released', attempt: 2 },
    { state: 'claimed', attempt: 3 },
    { state: 'fulfilled', attempt: 3 },
    { state: 'settled', attempt: 20, reason: 'content_refused' },
    { state: 'settled', answer, receipt },
    { state: 'unknown', attempt: 20, reason: 'no answer' },
    { state: 'owed', attempt: 19, reason: 'upstream_failed' },
    { state: 'owed', attempt: 3 },
  ] as const) {
    t.doesNotThrow(() => refuseSpent(payment(changes), shown, 'its own'), JSON.stringify(changes));
  }
  t.doesNotThrow(() => refuseSpent(payment({ attempt: 3 }), { ...shown, attempts: 4 }, 'its own'));
  t.throws(
    () => refuseSpent(payment({ attempt: 4 }), { ...shown, attempts: 4 }, 'its own'),
    refusal('this payment was tried 4 times and never charged: sign a new one'),
  );
  t.doesNotThrow(() => refuseOwedForGood(payment({ state: 'released', reason: 'content_refused', attempt: 20 })));
  t.end();
});

t.test('a stranger learns nothing of a payment, and its own payer not from another request', (t) => {
  for (const state of ['released', 'settled', 'unsettled', 'owed', 'refunded'] as const) {
    const known = payment({ state, attempt: 20, reason: 'content_refused' });
    t.throws(
      () => refuseSpent(known, { ...shown, fingerprint: "a stranger's" }, 'its own'),
      refusal('this authorization has been used: sign a new one'),
    );
    t.throws(
      () => refuseSpent(known, shown, 'another'),
      refusal('this payment belongs to another request: sign a new one for this one'),
    );
  }
  t.end();
});
