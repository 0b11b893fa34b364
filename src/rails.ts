/** The ways to pay that this gateway offers. */

import type { ServiceFile } from './catalogue/types.ts';
import type { EvmOptions } from './payment/mpp/evm.ts';
import type { NetworkLog, PayableNetwork, PayableNetworks } from './payment/networks.ts';
import { type MppRail, openMppRail } from './payment/rails/mpp.ts';
import { openX402Rail, type X402Rail } from './payment/rails/x402.ts';
import type { MppServiceOptions } from './rails/mpp/declaration.ts';
import type { Surroundings } from './surroundings.ts';

export interface Rails {
  readonly x402: X402Rail;
  /** Absent where nothing that MPP is paid with is configured. */
  readonly mpp?: MppRail;
}

export interface RailsParts {
  readonly service: ServiceFile;
  readonly surroundings: Pick<Surroundings, 'mpp'>;
  readonly networks: PayableNetworks;
  /** Origin, without a trailing slash. */
  readonly publicUrl: string;
  readonly log: NetworkLog;
  now(): number;
}

export function openRails(parts: RailsParts): Rails {
  const { networks, publicUrl, now } = parts;
  const mpp = openMpp(parts);
  return { x402: openX402Rail({ networks, publicUrl, now }), ...(mpp && { mpp }) };
}

function openMpp({ service, surroundings, networks, publicUrl, log, now }: RailsParts): MppRail | undefined {
  const { secrets, realm = new URL(publicUrl).hostname, tempo } = surroundings.mpp;
  const { networks: ids = [] } = (service.rails?.mpp ?? {}) as MppServiceOptions;
  const network = ids.map((id) => networks.find(id)).find((payable) => payable?.rpcUrl !== undefined);
  if (!tempo && !network) {
    log.warn({}, `nothing is sold over MPP: neither ${['Tempo', ...ids].join(' nor ')} can be paid`);
    return undefined;
  }
  return openMppRail({
    secrets,
    realm,
    now,
    ...(tempo && { tempo }),
    ...(network?.rpcUrl && { evm: evmCharge(network, network.rpcUrl) }),
  });
}

function evmCharge({ caip2, asset, payTo, facilitator }: PayableNetwork, rpcUrl: string): EvmOptions {
  const { address, decimals, name = '', version = '' } = asset;
  return {
    chainId: Number(caip2.split(':')[1]),
    asset: { address, decimals, name, version },
    payTo,
    rpcUrl,
    facilitator,
  };
}
