/** The networks that can be paid on, as a page shows them and names them to a wallet. */
import type { Network } from '../../catalogue/types.ts';
import { networkName } from '../shown.ts';
import type { ShownNetwork } from './shown-network.ts';

export function shownNetwork({ id, family, ...byMode }: Network, mode: 'live' | 'sandbox'): ShownNetwork {
  const { caip2, asset } = byMode[mode];
  const { symbol, address, decimals, name, version } = asset;
  const domain = name !== undefined && version !== undefined ? { name, version } : undefined;
  const isAlsoLive = mode === 'sandbox' && caip2 === byMode.live.caip2;
  return {
    id,
    name: networkName(id),
    family,
    caip2,
    isAlsoLive,
    asset: { symbol, address, decimals, ...(domain && { domain }) },
  };
}
