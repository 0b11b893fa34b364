import type { Network } from '../catalogue/types.ts';
import { AmountProblem, type Money, toAtomic, usd } from '../money.ts';

/** What payments are made in. */
export interface Asset {
  readonly symbol: string;
  readonly decimals: number;
}

/** Every stablecoin that is not in `networks.yaml`, such as Tempo's, has six. */
const USUAL: Asset = { symbol: 'USD', decimals: 6 };

/** Looks up an asset by its address, of either mode. */
export function assetsOf(networks: Iterable<Network>): (address: string) => Asset {
  const known = new Map<string, Asset>();
  for (const { live, sandbox } of networks) {
    for (const { asset } of [live, sandbox]) known.set(asset.address.toLowerCase(), asset);
  }
  return (address) => known.get(address.toLowerCase()) ?? USUAL;
}

/** Atomic units of an asset as money; what is finer than a millionth of a dollar is left out. */
export const fromAtomic = (amount: string, { decimals }: Pick<Asset, 'decimals'>): Money =>
  decimals >= 6 ? BigInt(amount) / 10n ** BigInt(decimals - 6) : BigInt(amount) * 10n ** BigInt(6 - decimals);

/** Dollars that the asset can say. Throws AmountProblem, also for those of which more would be paid, rounded up. */
export function usdIn(decimal: string, { decimals }: Pick<Asset, 'decimals'> = USUAL): Money {
  const money = usd(decimal);
  if (fromAtomic(toAtomic(money, decimals).toString(), { decimals }) === money) return money;
  const expected = `a decimal string such as "1", with at most ${decimals} decimals`;
  throw new AmountProblem(`${JSON.stringify(decimal)} has more decimals than the asset`, expected);
}
