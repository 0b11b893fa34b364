import { BATCH_SETTLEMENT, EIP3009_COLLECTOR, EIP3009_DEPOSITS, ESCROW } from '../../on-chain/escrow-contracts.ts';
import type { Rpc } from '../../payment/chains/rpc.ts';
import { readArtifact } from './contract.ts';

/** Those of `auth-capture`, and those of `batch-settlement` where @x402/evm looks for them on every chain. */
const CONTRACTS = {
  AuthCaptureEscrow: ESCROW,
  Eip3009Collector: EIP3009_COLLECTOR,
  BatchSettlement: BATCH_SETTLEMENT,
  Eip3009DepositCollector: EIP3009_DEPOSITS,
};

/** The one test network that has them. */
export const ESCROW_CHAIN = 'eip155:84532';

/**
 * Makes payments possible that lock money first, by `auth-capture` for one call and by `batch-settlement` for many: puts the
 * contracts in place that hold it, and those that collect it for them by EIP-3009.
 */
export async function placeEscrow(rpc: Rpc): Promise<void> {
  for (const [name, address] of Object.entries(CONTRACTS)) {
    const { deployedBytecode } = readArtifact(new URL(`./${name}.json`, import.meta.url));
    await rpc('anvil_setCode', [address, deployedBytecode]);
  }
}
