import type { StoredReceipt } from '../../store/store.ts';

/** What is sent with a paid answer. Source: the `Payment` scheme, draft 01, "Payment-Receipt Header". */
export function chargeReceipt(settled: {
  method: string;
  /** Transaction hash. */
  reference: string;
  /** Atomic units. */
  amount: bigint;
  /** Milliseconds since the epoch. */
  settledAt: number;
}): StoredReceipt {
  const { method, reference, amount, settledAt } = settled;
  const receipt = { method, reference, status: 'success', timestamp: new Date(settledAt).toISOString() };
  return {
    transaction: reference,
    amount: amount.toString(),
    settledAt,
    headers: {
      'payment-receipt': Buffer.from(JSON.stringify(receipt)).toString('base64url'),
      'cache-control': 'private',
    },
  };
}
