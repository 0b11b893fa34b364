import type { Channel } from '../../store/channels/channel-store.ts';

/**
 * What the channel can pay in all of what it was charged: its chain may have taken a deposit back, or its payer had some of
 * it before anybody claimed. Atomic units.
 */
export function payableOf({ charged, balance }: Pick<Channel, 'charged' | 'balance'>): bigint {
  const [asked, there] = [BigInt(charged), BigInt(balance)];
  return there < asked ? there : asked;
}
