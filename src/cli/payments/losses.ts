/** `npm run payments -- --losses`: work that was done and never paid. */
import { type Money, toDecimal } from '../../money.ts';
import { type Asset, fromAtomic } from '../../payment/assets.ts';
import type { Loss } from '../../store/store.ts';

interface Sum extends Pick<Loss, 'network' | 'route' | 'payer'> {
  calls: number;
  lost: Money;
}

/** One row for each network, endpoint and payer, the greatest first. */
export function lossTable(losses: readonly Loss[], assetOf: (address: string) => Asset) {
  const sums = new Map<string, Sum>();
  for (const { network, route, payer, asset, amount } of losses) {
    const key = JSON.stringify([network, route, payer]);
    const sum = sums.get(key) ?? { network, route, payer, calls: 0, lost: 0n };
    sums.set(key, { ...sum, calls: sum.calls + 1, lost: sum.lost + fromAtomic(amount, assetOf(asset)) });
  }
  const sorted = [...sums.values()].sort((one, other) => Number(other.lost - one.lost));
  return {
    head: ['lost (USD)', 'calls', 'network', 'route', 'payer'],
    rows: sorted.map(({ network, route, payer, calls, lost }) => [
      toDecimal(lost),
      String(calls),
      network,
      route,
      payer,
    ]),
  };
}
