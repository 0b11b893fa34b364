import type { NetworkId } from '../../catalogue/types.ts';
import { type Facilitator, FacilitatorUnreachable } from '../../payment/facilitators/facilitator.ts';
import type { PayableNetworks } from '../../payment/networks.ts';
import type { RailParts } from '../definition.ts';
import type { MppConfig } from './config.ts';
import type { MppServiceOptions } from './declaration.ts';
import type { EvmOptions } from './evm.ts';
import { type MppRail, openMppRail } from './rail.ts';

/** Charges on Tempo where that is configured, and by EIP-3009 where `service.yaml` names a network with a pay-to address. */
export function openMpp(parts: RailParts<MppConfig>): MppRail | undefined {
  const { config, options, networks, exposure, publicUrl, log, now } = parts;
  const { secrets, realm = new URL(publicUrl).hostname, tempo, refundSigner } = config;
  const { networks: ids = [] } = options as MppServiceOptions;
  const evm = ids.flatMap((id) => evmCharge(networks, id) ?? []);
  if (!tempo && evm.length === 0) {
    log.warn({}, `nothing is sold over MPP: neither ${['Tempo', ...ids].join(' nor ')} can be paid`);
    return undefined;
  }
  return openMppRail({
    secrets,
    realm,
    exposure,
    log,
    now,
    evm,
    ...(tempo && { tempo }),
    ...(refundSigner && { refundSigner }),
  });
}

function evmCharge(networks: PayableNetworks, id: NetworkId): EvmOptions | undefined {
  const network = networks.configured(id);
  if (!network?.rpcUrl || network.payTo === undefined) return undefined;
  const { caip2, asset, payTo, rpcUrl } = network;
  const { address, decimals, name = '', version = '' } = asset;
  let last: Facilitator | undefined;
  /** Who settles there, or did when somebody could last. */
  const facilitator = (): Facilitator => {
    last = networks.find(id)?.facilitator ?? last;
    if (last) return last;
    throw new FacilitatorUnreachable(`no facilitator settles on ${caip2} at the moment`);
  };
  return {
    network: id,
    chainId: Number(caip2.split(':')[1]),
    asset: { address, decimals, name, version },
    payTo,
    rpcUrl,
    facilitator: {
      verify: async (...payment) => facilitator().verify(...payment),
      settle: async (...payment) => facilitator().settle(...payment),
    },
    isOpen: () => networks.find(id) !== undefined,
    leastPrice: () => networks.leastPrice(id),
  };
}
