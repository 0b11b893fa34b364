/** What must be true of a channel at every moment. Each function tells what is wrong, if anything. */
import type { Channel } from '../../src/store/channels/channel-store.ts';
import type { Payment } from '../../src/store/store.ts';
import { type ChannelChain, signatureOf } from './channel-chain.ts';
import type { Upstream } from './upstream.ts';

type OnChain = Pick<ChannelChain, 'balance' | 'totalClaimed' | 'needlessDeposits'>;

export function faultOfCharges(
  channel: Channel | undefined,
  payments: readonly Payment[],
  { balance, totalClaimed, needlessDeposits }: OnChain,
): string | undefined {
  const charged = BigInt(channel?.charged ?? 0);
  const sold = payments.reduce((sum, { receipt }) => sum + BigInt(receipt?.amount ?? 0), 0n);
  if (charged !== sold) return `the channel is charged ${charged}, and its payments come to ${sold}`;
  const unanswered = payments.find(({ receipt, answer }) => receipt && !answer);
  if (unanswered) return `${unanswered.id} is charged without an answer`;
  if (totalClaimed > charged) return `${totalClaimed} are claimed of ${charged} that were charged`;
  if (balance < charged) return `the channel holds ${balance}, and was charged ${charged}`;
  if (needlessDeposits > 0) return 'a deposit is sent again whose end is known';
  const { voucher } = channel ?? {};
  if (charged > BigInt(voucher?.max ?? 0))
    return `the channel is charged ${charged}, and its voucher is for ${voucher?.max}`;
  if (voucher && voucher.signature !== signatureOf(BigInt(voucher.max))) return 'the voucher is signed for another sum';
  return undefined;
}

/** Of all payments of the channel one is worked for, by a voucher that is kept. */
export function faultOfChannelCalls(
  channel: Channel | undefined,
  payments: readonly Payment[],
  { calls }: Upstream,
  now: number,
): string | undefined {
  const live = calls.filter(({ isUnderWay, payment, attempt, instance }) =>
    payments.some(
      ({ id, owner, leaseUntil, ...found }) =>
        isUnderWay && id === payment && found.attempt === attempt && owner === instance && leaseUntil > now,
    ),
  );
  if (live.length > 1) return 'two upstream calls draw from the channel at a time';
  const [call] = live;
  return call && channel?.pending?.paymentId !== call.payment
    ? 'the upstream works, and the voucher is not kept for it'
    : undefined;
}
