/** What is counted of a payment, and against whom. */
import t from 'tap';
import { Problem, type ProblemCode } from '../../src/errors.ts';
import { counted, endOf } from '../../src/lifecycle/count.ts';
import type { ClaimedPayment } from '../../src/payment/claim.ts';
import { Refusal } from '../../src/payment/refusal.ts';
import { UpstreamProblem } from '../../src/upstream/problem.ts';

const settlement = { recoveryQuery: '{}', reason: 'used' };
const labels = { rail: 'x402', scheme: 'batch-settlement', network: 'chain-c' };
const verified = { network: 'chain-c', scheme: 'batch-settlement' };

/** All that is counted, in its order. */
function openCount() {
  const seen: unknown[] = [];
  const parts = {
    metrics: { payment: (said: object) => seen.push(said), settledFirst: (reason: string) => seen.push(reason) },
    gate: { ended: (how: unknown) => seen.push(how) },
  } as unknown as Parameters<typeof counted>[0];
  return { seen, parts };
}

const owed = (failure: UpstreamProblem['failure']) =>
  new Problem('result_owed', undefined, { cause: new UpstreamProblem(failure, 'provider', 'for the log') });

const givenBack = (code: ProblemCode) => new Problem('refunded', undefined, { cause: new Problem(code) });

for (const [what, error, outcome, end, endIfHeld] of [
  ['it was not taken', new Refusal('verification-failed', 'busy'), 'released', 'failed', 'wasted'],
  ['it was not settled', new Refusal('verification-failed', 'used', { settlement }), 'unsettled', 'wasted', 'wasted'],
  ['the provider failed', new Problem('upstream_failed'), 'released', 'other', 'wasted'],
  ['the provider refused it for good', new Problem('content_refused'), 'released', 'failed', 'wasted'],
  ['the gateway stopped', new Problem('draining'), 'released', 'other', 'other'],
  ['it was settled first and the provider failed', owed('failed'), 'owed', 'other', 'other'],
  ['it was settled first and refused for good', owed('content-refused'), 'owed', 'wasted', 'wasted'],
  ['it was settled first and nobody says why', new Problem('result_owed'), 'owed', 'other', 'other'],
  ['nobody knows yet', new Problem('settlement_pending'), 'unknown', 'other', 'other'],
  ['another instance took it over', new Problem('payment_in_progress'), 'failed', 'other', 'other'],
  ['the database was away', new Problem('store_unavailable'), 'failed', 'other', 'other'],
  ['the gateway failed', new Problem('internal_error'), 'failed', 'other', 'other'],
  ['the gateway stopped and gave it back', givenBack('draining'), 'released', 'other', 'other'],
  ['the gateway failed and gave it back', givenBack('internal_error'), 'released', 'other', 'other'],
  ['what was made was not stored and it was given back', givenBack('media_unavailable'), 'released', 'other', 'wasted'],
  ['nobody foresaw it', new TypeError('what'), 'failed', 'other', 'other'],
] as const) {
  t.test(`where ${what}, it is ${outcome}`, async (t) => {
    for (const [hold, isHeld] of [
      [undefined, false],
      [{}, true],
      [{ deposited: () => true }, true],
      [{ deposited: () => false }, false],
    ] as const) {
      const { seen, parts } = openCount();
      const claimed = { verified: { ...verified, hold } } as unknown as ClaimedPayment;
      await t.rejects(
        counted(parts, 'x402', claimed, () => Promise.reject(error)),
        error,
      );
      t.strictSame(seen, [{ ...labels, outcome }, isHeld ? endIfHeld : end]);
    }
    t.equal(endOf(error), end, 'the same of a call with a key');
  });
}

t.test('a provider that refuses a call with a key for good counts against the key', async (t) => {
  t.equal(endOf(new UpstreamProblem('not-found', 'provider', 'for the log')), 'failed');
  t.equal(endOf(new UpstreamProblem('failed', 'provider', 'for the log')), 'other');
});

for (const [how, found, end] of [
  ['nothing lay ready', {}, 'paid'],
  ['it was locked', { hold: {} }, 'paid'],
  ['it was deposited before', { hold: { deposited: () => false } }, 'paid'],
  ['it was deposited for this', { hold: { deposited: () => true } }, 'wasted'],
  ['what was charged pays for its settlement', { isPaidFor: () => true }, 'paid'],
  ['what was charged pays for no settlement', { isPaidFor: () => false }, 'wasted'],
  ['what was charged pays for no lock', { hold: {}, isPaidFor: () => false }, 'wasted'],
] as const) {
  t.test(`work that is done is settled, and ${end} where ${how}`, async (t) => {
    const { seen, parts } = openCount();
    const claimed = { verified: { ...verified, ...found } } as unknown as ClaimedPayment;
    t.equal(await counted(parts, 'x402', claimed, async () => 'done'), 'done');
    t.strictSame(seen, [{ ...labels, outcome: 'settled' }, end]);
  });
}

t.test('a payment that settles first is counted with its reason', async (t) => {
  const { seen, parts } = openCount();
  await counted(
    parts,
    'x402',
    { verified: { ...verified, upfront: 'above' } } as unknown as ClaimedPayment,
    async () => 'done',
  );
  t.strictSame(seen, ['above', { ...labels, outcome: 'settled' }, 'paid']);
});

t.test('what an earlier attempt settled was counted then', async (t) => {
  const { seen, parts } = openCount();
  const claimed = { receipt: {} } as unknown as ClaimedPayment;
  t.equal(await counted(parts, 'x402', claimed, async () => 'done'), 'done');
  const error = owed('failed');
  await t.rejects(
    counted(parts, 'x402', claimed, () => Promise.reject(error)),
    error,
  );
  t.same(seen, []);
});

for (const [what, found, reasons] of [
  ['settles before the work', { upfront: 'undeployed' }, ['undeployed']],
  ['is locked before it and taken after it', { upfront: 'held', hold: {} }, []],
  ['is drawn from a deposit', { upfront: 'held', hold: { deposited: () => false } }, []],
] as const) {
  t.test(
    `of a payment that ${what}, ${reasons[0] ?? 'nothing'} is counted among those that settle first`,
    async (t) => {
      const { seen, parts } = openCount();
      const claimed = { verified: { ...verified, ...found } } as unknown as ClaimedPayment;
      await counted(parts, 'x402', claimed, async () => 'done');
      t.strictSame(seen, [...reasons, { ...labels, outcome: 'settled' }, 'paid']);
    },
  );
}
