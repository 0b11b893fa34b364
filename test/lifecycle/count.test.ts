/** What is counted of a payment whose work came to nothing. */
import t from 'tap';
import { Problem } from '../../src/errors.ts';
import { counted } from '../../src/lifecycle/count.ts';
import type { Work } from '../../src/payment/claim.ts';
import { Refusal } from '../../src/payment/refusal.ts';

const claimed = { verified: { network: 'chain-c', scheme: 'batch-settlement' } } as unknown as Work;
const settlement = { recoveryQuery: '{}', reason: 'used' };

for (const [what, error, outcome, end] of [
  ['a channel was busy', new Refusal('verification-failed', 'busy'), 'released', 'failed'],
  ['it was not settled', new Refusal('verification-failed', 'used', { settlement }), 'unsettled', 'wasted'],
  ['the provider failed', new Problem('upstream_failed'), 'released', 'other'],
  ['it was settled first and the provider failed', new Problem('result_owed'), 'owed', 'other'],
  ['nobody knows yet', new Problem('settlement_pending'), 'unknown', 'other'],
  ['another instance took it over', new Problem('payment_in_progress'), 'failed', 'other'],
] as const) {
  t.test(`where ${what}, it is ${outcome}`, async (t) => {
    const seen: unknown[] = [];
    const parts = {
      metrics: { payment: (labels: object) => seen.push(labels), settledFirst: () => {} },
      gate: { ended: (how: unknown) => seen.push(how) },
    } as unknown as Parameters<typeof counted>[0];
    await t.rejects(
      counted(parts, 'x402', claimed, () => Promise.reject(error)),
      error,
    );
    t.strictSame(seen, [{ rail: 'x402', scheme: 'batch-settlement', network: 'chain-c', outcome }, end]);
  });
}
