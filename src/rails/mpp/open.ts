import type { NetworkId } from '../../catalogue/types.ts';
import type { PayableNetworks } from '../../payment/networks.ts';
import type { RailParts } from '../definition.ts';
import type { MppConfig } from './config.ts';
import type { MppServiceOptions } from './declaration.ts';
import type { EvmOptions } from './evm.ts';
import { type MppRail, openMppRail } from './rail.ts';

/** Charges on Tempo where that is configured, and by EIP-3009 where `service.yaml` names a network that can be paid. */
export function openMpp(parts: RailParts<MppConfig>): MppRail | undefined {
  const { config, options, networks, exposure, publicUrl, log, now } = parts;
  const { secrets, realm = new URL(publicUrl).hostname, tempo, refundSigner } = config;
  const { networks: ids = [] } = options as MppServiceOptions;
  const evm = ids.map((id) => evmCharge(networks, id)).find((charge) => charge !== undefined);
  if (!tempo && !evm) {
    log.warn({}, `nothing is sold over MPP: neither ${['Tempo', ...ids].join(' nor ')} can be paid`);
    return undefined;
  }
  return openMppRail({
    secrets,
    realm,
    exposure,
    now,
    ...(tempo && { tempo }),
    ...(evm && { evm }),
    ...(refundSigner && { refundSigner }),
  });
}

function evmCharge(networks: PayableNetworks, id: NetworkId): EvmOptions | undefined {
  const network = networks.find(id);
  if (!network?.rpcUrl) return undefined;
  const { caip2, asset, payTo, rpcUrl, facilitator } = network;
  const { address, decimals, name = '', version = '' } = asset;
  return {
    network: id,
    chainId: Number(caip2.split(':')[1]),
    asset: { address, decimals, name, version },
    payTo,
    rpcUrl,
    facilitator,
    leastPrice: () => networks.leastPrice(id),
  };
}
