import { keccak256 } from '../../on-chain/keccak.ts';
import type { RefundOrder } from './sender.ts';

/**
 * What a refund is known by on its chain (CAIP-2), the same whichever database it is sent from: 32 bytes in hex. Its amount
 * is no part of it, so that nobody who wants another one sends it a second time.
 */
export function refundIdentity(chain: string, order: Pick<RefundOrder, 'asset' | 'paymentId' | 'number'>) {
  const { asset, paymentId, number } = order;
  const named = JSON.stringify(['turnpike refund', chain, asset.toLowerCase(), paymentId, number]);
  return `0x${keccak256(Buffer.from(named)).toString('hex')}` as const;
}
