/** The accounts that payments go to, and the nodes that tell what they got. */
import type { Network } from '../../catalogue/types.ts';
import { readVariables } from '../../environment.ts';
import { type Config, type LiveConfig, payToOf, rpcUrlOf } from '../../gateway/config.ts';
import { assetsOf } from '../../payment/assets.ts';
import type { TokenHolder } from '../../payment/chains/incoming.ts';
import { rails } from '../../rails/index.ts';
import type { SandboxState } from '../../rails/paying-client.ts';
import { findRunning } from '../../start/running.ts';
import { UsageProblem } from '../command-line.ts';

export interface Account extends TokenHolder {
  /** The network's id, or what its rail calls it. */
  readonly name: string;
  readonly caip2: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Undefined: nobody can be asked. */
  readonly rpcUrl: string | undefined;
}

type Place = Omit<Account, 'symbol' | 'decimals'>;

/** The same for one account however its addresses are spelt: EVM's are the same in upper and lower case. */
export const keyOf = ({ caip2, asset, payTo }: Pick<Account, 'caip2' | 'asset' | 'payTo'>): string =>
  [caip2, asset, payTo].map((part) => (part.startsWith('0x') ? part.toLowerCase() : part)).join(' ');

/** Of the sandbox that runs: its chains are made anew at each start. Throws UsageProblem where none runs. */
async function sandboxPlaces(dataDirectory: string): Promise<Place[]> {
  const running = findRunning(dataDirectory);
  if (!running) {
    throw new UsageProblem(
      `no gateway runs on ${dataDirectory}: the sandbox's chains are its own, so start it with \`npm start\` first`,
    );
  }
  const answer = await fetch(`${running.url}/sandbox`);
  if (!answer.ok) throw new UsageProblem(`${running.url} is not a sandbox: set TURNPIKE_MODE to the mode it runs in`);
  const { evm, solana, tempo, payTo } = (await answer.json()) as SandboxState;
  const places = [
    ...Object.entries(evm).map(([name, { caip2, rpcUrl, asset }]) => ({ name, caip2, rpcUrl, asset })),
    ...(solana ? [{ name: solana.id, caip2: solana.caip2, rpcUrl: solana.rpcUrl, asset: solana.mint }] : []),
    ...(tempo
      ? [{ name: 'tempo', caip2: `eip155:${tempo.chainId}`, rpcUrl: tempo.rpcUrl, asset: tempo.currency }]
      : []),
  ];
  return places.map((place) => ({ ...place, payTo: payTo[place.name] ?? '' }));
}

function livePlaces(live: LiveConfig, networks: readonly Network[]): Place[] {
  const ofNetworks = networks.flatMap((network) => {
    const payTo = payToOf(live, network);
    const { caip2, asset } = network.live;
    if (payTo === undefined) return [];
    return [{ name: network.id, caip2, rpcUrl: rpcUrlOf(live, network), asset: asset.address, payTo }];
  });
  const read = readVariables(live.variables);
  return [...ofNetworks, ...rails.flatMap((rail) => rail.accounts(rail.readConfig(read)))];
}

function withAsset(place: Place, networks: readonly Network[]): Account {
  const { symbol, decimals } = assetsOf(networks)(place.asset);
  return { ...place, symbol, decimals };
}

/** Those that are paid now. */
export async function findAccounts({ live, dataDirectory }: Config, networks: readonly Network[]): Promise<Account[]> {
  const places = live ? livePlaces(live, networks) : await sandboxPlaces(dataDirectory);
  return places.map((place) => withAsset(place, networks));
}

/** One that was paid in live mode before the configuration changed, on the node that its chain has now. */
export function formerAccount(
  former: Pick<Account, 'caip2' | 'asset' | 'payTo'>,
  live: LiveConfig,
  networks: readonly Network[],
  current: readonly Account[],
): Account {
  const { caip2 } = former;
  const network = networks.find((each) => each.live.caip2 === caip2);
  const known = current.find((account) => account.caip2 === caip2);
  const rpcUrl = network ? rpcUrlOf(live, network) : known?.rpcUrl;
  return withAsset({ ...former, name: network?.id ?? known?.name ?? caip2, rpcUrl }, networks);
}
