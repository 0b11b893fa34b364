import type { Rpc } from '../../payment/chains/rpc.ts';
import { EIP3009_COLLECTOR, ESCROW } from '../../payment/escrow/payment-info.ts';
import { readArtifact } from './contract.ts';

const CONTRACTS = { AuthCaptureEscrow: ESCROW, Eip3009Collector: EIP3009_COLLECTOR };

/** The one test network that has them. */
export const ESCROW_CHAIN = 'eip155:84532';

/** Makes `auth-capture` payments possible: puts the escrow in place, and what collects EIP-3009 payments for it. */
export async function placeEscrow(rpc: Rpc): Promise<void> {
  for (const [name, address] of Object.entries(CONTRACTS)) {
    const { deployedBytecode } = readArtifact(new URL(`./${name}.json`, import.meta.url));
    await rpc('anvil_setCode', [address, deployedBytecode]);
  }
}
