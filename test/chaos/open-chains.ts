/** The chains of a campaign by their name. */
import type { Chains } from './chains.ts';
import { openSimulated } from './simulated/chains.ts';

export const chainsNames = ['simulated', 'real'] as const;
export type ChainsName = (typeof chainsNames)[number];

/** `catalogue`: the folder of the one that the gateways sell from. */
export async function openChains(name: ChainsName, catalogue: string): Promise<Chains> {
  if (name === 'simulated') return openSimulated(catalogue);
  // It brings whole chain libraries along.
  const { openReal } = await import('./real/chains.ts');
  return openReal(catalogue);
}
