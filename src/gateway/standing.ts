/** How things stand at the moment: asked by whoever reads the metrics, and by who watches for alerts. */
import type { Catalogue } from '../catalogue/types.ts';
import type { Standing } from '../metrics/metrics.ts';
import { owedIn } from '../metrics/owed.ts';
import type { GasAccount } from '../payment/facilitators/facilitator.ts';
import { gasAccounts } from '../payment/facilitators/gas-accounts.ts';
import type { PayableNetworks } from '../payment/networks.ts';
import type { Platform } from '../platform.ts';
import type { Store } from '../store/store.ts';
import { afterAWhile } from '../timing.ts';
import type { Editions } from './editions.ts';

interface StandingParts {
  readonly catalogue: Pick<Catalogue, 'networks'>;
  readonly platform: Pick<Platform, 'payTo' | 'facilitators'>;
  readonly networks: Pick<PayableNetworks, 'find' | 'configured' | 'decimals'>;
  readonly store: Pick<Store, 'list' | 'credits' | 'channels'>;
  readonly editions: Pick<Editions, 'current'>;
  worth: Parameters<typeof owedIn>[1];
  idOf(network: string): string;
}

interface Asked {
  /** Network -> whether a facilitator in reach settles there. */
  facilitators(): ReadonlyMap<string, boolean>;
  /** Upstream -> whether it is not asked for a while. */
  circuits(): ReadonlyMap<string, boolean>;
  /** By CAIP-2 id. */
  gas(): Promise<ReadonlyMap<string, GasAccount>>;
  standing(): Promise<Standing>;
}

/** Balances of all keys, and what is due of all channels, are added up no more often than that, however often somebody scrapes. */
const SUMS_KEPT_MS = 10_000;
/** Chains are asked for the balances of signers no more often than that. */
const GAS_KEPT_MS = 10_000;

export function openStanding(parts: StandingParts): Asked {
  const { catalogue, platform, networks, store, editions, worth, idOf } = parts;
  const credit = afterAWhile(SUMS_KEPT_MS, () => store.credits.liability());
  const unclaimed = afterAWhile(SUMS_KEPT_MS, () => store.channels.unclaimedSums());
  const gas = afterAWhile(GAS_KEPT_MS, () => gasAccounts(platform.facilitators));
  const circuits = () => editions.current().circuits();
  const facilitators = () =>
    new Map(
      [...catalogue.networks.values()].flatMap((network) =>
        platform.payTo(network) === undefined ? [] : [[network.id, networks.find(network.id) !== undefined] as const],
      ),
    );
  return {
    facilitators,
    circuits,
    gas,
    standing: async () => ({
      catalogue: editions.current().catalogue.version,
      owed: await owedIn(store, worth).catch(() => undefined),
      creditLiability: await credit().catch(() => undefined),
      facilitators: facilitators(),
      openCircuits: circuits(),
      unclaimed: new Map(
        [...((await unclaimed().catch(() => undefined)) ?? [])].flatMap(([id, amount]) =>
          networks.configured(id) ? [[id, { amount, decimals: networks.decimals(id) }] as const] : [],
        ),
      ),
      gas: new Map([...(await gas())].map(([caip2, account]) => [idOf(caip2), account])),
    }),
  };
}
