import type { ClaimOptions, PaymentFacts, Receipt } from '../../src/store/store.ts';
import type { StoredAnswer } from '../../src/store/stored-answer.ts';

export const sampleFacts = (id: string, changes: Partial<PaymentFacts> = {}): PaymentFacts => ({
  id,
  rail: 'x402',
  network: 'chain-a',
  asset: 'asset-1',
  payer: 'payer-1',
  payTo: 'merchant-1',
  amount: '123456789012345678901234567890',
  route: 'image/sample',
  requestDigest: `digest of ${id}`,
  fingerprint: `fingerprint of ${id}`,
  recoveryQuery: '{"nonce":"0x01"}',
  settleUpfront: false,
  ...changes,
});

/** A claim at time `now` whose lease runs out ten time units later. */
export const claimAt = (now: number, changes: Partial<ClaimOptions> = {}): ClaimOptions => ({
  owner: 'instance-1',
  now,
  leaseUntil: now + 10,
  maxAttempts: 3,
  maxOwedAttempts: 5,
  ...changes,
});

export const sampleAnswer = (body = '{"ok":true,"text":"ü \\u0000 \u{1f680}"}'): StoredAnswer => ({
  status: 200,
  contentType: 'application/json',
  body,
});

export const sampleReceipt = (transaction = '0xabc'): Receipt => ({
  transaction,
  amount: '123456789012345678901234567890',
  settledAt: 1_700_000_000_123,
  details: { version: '2', payer: 'payer-1' },
});
