/** The network that everybody pays on: as it is live, with the simulated chain in its place. */
import { loadSound } from '../../load-catalogue.ts';

export interface Network {
  readonly id: string;
  readonly caip2: string;
  /** Its name in version 1 of x402. */
  readonly v1: string;
  readonly asset: string;
  readonly decimals: number;
  /** EIP-712 domain of the asset. */
  readonly name: string;
  readonly version: string;
}

export function readNetwork(catalogue: string): Network {
  const id = 'chain-c';
  const live = loadSound(catalogue).networks.get(id)?.live;
  const { address = '', decimals = 0, name = '', version = '' } = live?.asset ?? {};
  return { id, caip2: live?.caip2 ?? '', v1: live?.v1Name ?? '', asset: address, decimals, name, version };
}
