import type { Network, NetworkBinding } from '../../catalogue/types.ts';
import type { Asset } from '../../client/asset.ts';

/** Only Solana payments are prepared with a node. */
function assetOf({ id, family }: Network, { caip2, asset, rpcUrl }: NetworkBinding): Asset {
  const { address, decimals, name, version } = asset;
  const domain = name !== undefined && version !== undefined ? { name, version } : undefined;
  return {
    id,
    network: caip2,
    family,
    address,
    decimals,
    ...(domain && { domain }),
    ...(family === 'solana' && rpcUrl && { rpcUrl }),
  };
}

const keyOf = ({ network, address }: Asset): string => `${network} ${address}`;

/** The dollar stablecoins of a catalogue's networks, as they are live and in the sandbox. */
export function assetsOf(networks: Iterable<Network>): Asset[] {
  const both = [...networks].flatMap((network) => [assetOf(network, network.live), assetOf(network, network.sandbox)]);
  return [...new Map(both.reverse().map((asset) => [keyOf(asset), asset])).values()].reverse();
}
