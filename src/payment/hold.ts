/** Money that lies ready for the gateway before the work: locked in an escrow, or deposited in a channel. */
import type { Settlement } from '../on-chain/settlement.ts';
import type { Draw, Drawn } from '../store/channels/channel-store.ts';
import type { Claim, Receipt } from '../store/store.ts';

/** Not locked, and no reason to give the payment up for good: the same can be tried again. */
export interface Declined {
  readonly state: 'declined';
  /** Refusal or Problem: what its payer is told. */
  readonly error: Error;
}

/** A payment whose money lies ready before the work, as the lifecycle sees it. */
export interface Hold {
  /** What can be kept for a claim together with the claim itself: `ClaimOptions.draw`. */
  readonly draw?: Draw;
  /**
   * `settled`: it is locked, or kept for this claim. `drawn`: what came of the `draw`. Never throws but Problem
   * `store_unavailable`.
   */
  lock(claim: Claim, drawn?: Drawn): Promise<Settlement | Declined>;
  /** `refused`: its payer has it back. Never throws. Left out: whoever gives the claim up has let go of it as well. */
  release?(): Promise<Settlement>;
  /** What a payer is told where nothing is charged: of money that lies ready for its next call. */
  told?(): Receipt | undefined;
  /**
   * Whether it took a transaction that no price pays for, also in vain: a deposit. Left out: it takes those that the price
   * of the call pays for.
   */
  deposited?(): boolean;
}
