/** All that a claim by hand needs, of every channel with something to claim. */
import type { Network } from '../catalogue/types.ts';
import { payableOf } from '../payment/channels/payable.ts';
import type { Channel } from '../store/channels/channel-store.ts';
import { PAGE, pages } from '../store/pages.ts';
import type { Store } from '../store/store.ts';
import { chainNames } from './movements.ts';

export const VOUCHER_COLUMNS = [
  'network',
  'channel',
  'payer',
  'config',
  'charged',
  'claimed',
  'voucher_max',
  'voucher_signature',
  'withdrawal_asked_at',
] as const;

/**
 * In the order of `VOUCHER_COLUMNS`, the oldest channel first. Amounts in atomic units, `charged` no more than the channel
 * holds; `config` is the contract's struct.
 */
export async function* vouchersIn(
  store: Pick<Store, 'channels'>,
  networks: readonly Network[],
  mode: 'sandbox' | 'live',
): AsyncGenerator<{ readonly cells: readonly string[] }> {
  const chainOf = chainNames(networks, mode);
  for await (const channel of pages<Channel>((after) => store.channels.list({ after, limit: PAGE }))) {
    const { id, network, payer, config, totalClaimed, voucher, withdrawRequestedAt } = channel;
    const charged = payableOf(channel);
    if (!voucher || charged <= BigInt(totalClaimed)) continue;
    const askedAt = withdrawRequestedAt === 0 ? '' : new Date(withdrawRequestedAt * 1000).toISOString();
    const signed = [voucher.max, voucher.signature, askedAt];
    yield { cells: [chainOf(network), id, payer, config, charged.toString(), totalClaimed, ...signed] };
  }
}
