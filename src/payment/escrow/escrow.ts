/** Money that is locked for the gateway before the work, and taken or given back after it. */
import type { Settlement } from '../../on-chain/settlement.ts';
import type { Verdict } from '../verdict.ts';
import type { PaymentInfo } from './payment-info.ts';

/** Who drives the escrow of one network: an account of ours, which pays the gas. */
export interface EscrowOperator {
  /** Moves nothing: runs the lock as it would be sent. Throws FacilitatorUnreachable. */
  verify(info: PaymentInfo, signature: string): Promise<Verdict>;
  /** Locks the whole amount. `settled`: it is locked, by this call or an earlier one. Never throws. */
  lock(info: PaymentInfo, signature: string): Promise<Settlement>;
  /**
   * Takes so much of what is locked, and gives the rest back. `settled`: both are done. `refused`: it could not be taken until
   * its deadline, and its payer has it back. Never throws.
   */
  capture(info: PaymentInfo, amount: bigint): Promise<Settlement>;
  /** Gives back what is locked. `refused`: nothing is left. Never throws. */
  release(info: PaymentInfo): Promise<Settlement>;
}
