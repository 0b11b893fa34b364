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
  /** Takes so much of what is locked, and gives the rest back. `settled`: both are done. Never throws, never `refused`. */
  capture(info: PaymentInfo, amount: bigint): Promise<Settlement>;
  /** Gives back what is locked. `refused`: nothing is left. Never throws. */
  release(info: PaymentInfo): Promise<Settlement>;
}
