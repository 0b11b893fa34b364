import type { Atomic } from '../../money.ts';
import type { Settlement } from '../../settlement.ts';

/** What is to be given back, to whom and where. */
export interface RefundOrder {
  /** As the payment has it: a neutral id, or CAIP-2. */
  readonly network: string;
  /** Token address. */
  readonly asset: string;
  readonly payee: string;
  readonly amount: Atomic;
}

/** A transfer that is signed and that nobody has seen yet. */
export interface PreparedRefund {
  /** See `RefundSender.recover`. No signatures. */
  readonly recoveryQuery: string;
  /** Moves money, once. Never throws. */
  send(): Promise<Settlement>;
}

/** Gives money back from a key of its own. */
export interface RefundSender {
  /** Whether it has the key to give back what was paid on this network. */
  serves(network: string): boolean;
  /** Signs. Throws Error with words for the operator where that cannot be done now. */
  prepare(order: RefundOrder): Promise<PreparedRefund>;
  /**
   * Asks the chain what became of a transfer. `refused` is final: what was signed cannot move money any more, so that
   * another may be signed. Never throws.
   */
  recover(recoveryQuery: string): Promise<Settlement>;
}

/** Who gives back what was paid on the network, on whichever rail; undefined where nobody can. */
export const senderFor = (
  rails: ReadonlyMap<string, { readonly refunds?: RefundSender | undefined }>,
  network: string,
): RefundSender | undefined =>
  [...rails.values()].map(({ refunds }) => refunds).find((sender) => sender?.serves(network));
