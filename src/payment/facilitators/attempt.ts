/**
 * What really happened on the chain's node while a scheme worked on one payment. The schemes of @x402/evm and
 * @x402/svm fold a lost connection, a revert and a refusal into one code; the signers note them apart here.
 */
export interface Attempt {
  /** The node did not answer, or not to the point. */
  unreachable: boolean;
  /** A transaction was handed to the node, which may have taken it. */
  sent: boolean;
  /** The node turned the transaction down before it could run, or it ran and failed. */
  rejected: boolean;
  /** The chain's own words for the first thing it refused. */
  refusal: string | undefined;
  /** Why it was refused, in words that its payer can read as they are: they count before any code. */
  told: string | undefined;
  /** The wallet that pays does not exist yet, and settling deploys it. */
  deploys: boolean;
  /** Hash of the transaction that is in a block: it may have replaced the one that was sent first. */
  transaction: string | undefined;
}

/** A refusal of ours, in words for its payer. */
export class Told extends Error {}

export const newAttempt = (): Attempt => ({
  unreachable: false,
  sent: false,
  rejected: false,
  refusal: undefined,
  told: undefined,
  deploys: false,
  transaction: undefined,
});

/** Why it came to nothing, for its payer; undefined where nobody said. */
export const reasonOf = ({ told, refusal }: Attempt): string | undefined => told ?? refusal;
