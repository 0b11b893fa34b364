/** `GET networks`: where the gateway is paid, and what it settles from. */
import type { Network } from '../catalogue/types.ts';
import { atomicToDecimal, toDecimal } from '../money.ts';
import { fromAtomic } from '../payment/assets.ts';
import type { GasAccount } from '../payment/facilitators/facilitator.ts';
import { gasAccounts } from '../payment/facilitators/gas-accounts.ts';
import type { NetworkRow } from './figures.ts';
import type { ConsoleParts } from './parts.ts';

/** For fewer settlements than that, somebody has to send coins soon. */
const LOW = 100n;

/** By chain id. What other chains call theirs is not known here. */
const COINS: Readonly<Record<string, string>> = {
  '1': 'ETH',
  '10': 'ETH',
  '4663': 'ETH',
  '8453': 'ETH',
  '84532': 'ETH',
  '42161': 'ETH',
  '137': 'POL',
  '143': 'MON',
  '43114': 'AVAX',
};

const coinOf = (family: Network['family'], caip2: string): string =>
  family === 'solana' ? 'SOL' : (COINS[caip2.replace('eip155:', '')] ?? 'coins');

const signerOf = ({ address, balance, decimals, lasts }: GasAccount, coin: string): NetworkRow['signer'] => ({
  address,
  balance: atomicToDecimal(balance, decimals),
  coin,
  isLow: lasts < LOW,
});

export async function networks(parts: ConsoleParts): Promise<NetworkRow[]> {
  const [accounts, unclaimed] = await Promise.all([
    gasAccounts(parts.facilitators),
    parts.store.channels.unclaimedSums(),
  ]);
  return [...parts.catalogue().networks.values()].map((network) => {
    const { caip2, asset } = network[parts.mode];
    const payTo = parts.payTo(network);
    const payable = parts.networks.find(network.id);
    const settledBy = parts.facilitators.find(({ facilitator }) => facilitator === payable?.facilitator)?.name;
    const account = accounts.get(caip2);
    const signer = account && signerOf(account, coinOf(network.family, caip2));
    return {
      id: network.id,
      caip2,
      ...(payTo !== undefined && { payTo }),
      ...(settledBy !== undefined && { facilitator: settledBy }),
      ...(signer && { signer }),
      unclaimed: toDecimal(fromAtomic((unclaimed.get(network.id) ?? 0n).toString(), asset)),
    };
  });
}
