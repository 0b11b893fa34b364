import type { Atomic } from '../../money.ts';
import type { Settlement } from '../../on-chain/settlement.ts';

/** What is to be given back, to whom and where. */
export interface RefundOrder {
  readonly paymentId: string;
  /** 1 for the payment's first refund. */
  readonly number: number;
  /** Milliseconds since the epoch: nothing was given back earlier. */
  readonly paidAt: number;
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
  /**
   * Asks the chain whether the refund was sent before, from whatever database: one that was restored knows nothing of what
   * was sent after its backup. Only what is `unused` may be prepared. `refused`: the chain has another transfer in its place.
   * Throws Error with words for the operator where that cannot be asked now.
   */
  find(order: RefundOrder): Promise<Settlement>;
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
