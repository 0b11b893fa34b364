/** The ways to pay that this gateway offers. */

import type { Log } from '../log.ts';
import type { PayableNetwork, PayableNetworks } from '../payment/networks.ts';
import type { Surroundings } from '../surroundings.ts';
import type { EvmOptions } from './mpp/evm.ts';
import { type MppRail, openMppRail } from './mpp/rail.ts';
import { openX402Rail, type X402Rail } from './x402/rail.ts';

export interface Rails {
  readonly x402: X402Rail;
  /** Absent where nothing that MPP is paid with is configured. */
  readonly mpp?: MppRail;
}

export interface RailsParts {
  readonly surroundings: Pick<Surroundings, 'mpp'>;
  readonly networks: PayableNetworks;
  /** Origin, without a trailing slash. */
  readonly publicUrl: string;
  readonly log: Log;
  now(): number;
}

/** MPP is paid with EIP-3009 where USDC on Base is, and on Tempo where that is configured. */
const MPP_EVM_NETWORK = 'chain-c';

export function openRails(parts: RailsParts): Rails {
  const { networks, publicUrl, now } = parts;
  const mpp = openMpp(parts);
  return { x402: openX402Rail({ networks, publicUrl, now }), ...(mpp && { mpp }) };
}

function openMpp({ surroundings, networks, publicUrl, log, now }: RailsParts): MppRail | undefined {
  const { secrets, realm = new URL(publicUrl).hostname, tempo } = surroundings.mpp;
  const network = networks.find(MPP_EVM_NETWORK);
  if (!tempo && !network?.rpcUrl) {
    log.warn({}, `nothing is sold over MPP: neither Tempo nor ${MPP_EVM_NETWORK} can be paid`);
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
