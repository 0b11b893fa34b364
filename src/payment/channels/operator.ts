/** Who drives the channels of one network: an account of ours, which pays the gas and claims. */
import type { ChannelConfig } from '../../on-chain/channel-config.ts';
import type { Settlement } from '../../on-chain/settlement.ts';
import type { ChannelState } from '../../store/channels/channel-store.ts';
import type { Verdict } from '../verdict.ts';

/** An EIP-3009 authorization by which the contract takes a deposit. */
export interface Deposit {
  /** Atomic units. */
  readonly amount: bigint;
  /** Seconds since the epoch. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** 32 bytes in hex. */
  readonly salt: string;
  readonly signature: string;
}

/** What is claimed of one channel by its newest voucher. Amounts in atomic units. */
export interface ChannelClaim {
  readonly config: ChannelConfig;
  readonly max: bigint;
  readonly signature: string;
  /** What the channel was charged in all, as far as it holds that: at most `max`. */
  readonly charged: bigint;
  /** What of it is not claimed yet. */
  readonly due: bigint;
}

export interface Claimed {
  readonly claimed: readonly ChannelClaim[];
  /** The contract would turn them down, each by itself. */
  readonly refused: readonly ChannelClaim[];
  /** Receivers that their token sends nothing: what was claimed for them is theirs in the contract, and waits there. */
  readonly unsent: readonly string[];
  /** Undefined: nothing was claimed. */
  readonly transaction: string | undefined;
}

export interface ChannelOperator {
  /** Who claims: `receiverAuthorizer` of the channels that are its. */
  readonly authorizer: string;
  /** Whether the voucher of `max` atomic units is signed by the channel's payer authorizer. */
  isSigned(channel: string, config: ChannelConfig, voucher: { max: bigint; signature: string }): Promise<boolean>;
  /** How the channel stands in the newest block. Throws FacilitatorUnreachable. */
  read(channel: string): Promise<ChannelState>;
  /** Moves nothing: runs the deposit as it would be sent. Throws FacilitatorUnreachable. */
  verifyDeposit(config: ChannelConfig, deposit: Deposit): Promise<Verdict>;
  /** Whether it is in the channel by now, or was. Throws FacilitatorUnreachable. */
  isDeposited(config: ChannelConfig, deposit: Deposit): Promise<boolean>;
  /** `settled`: it is in the channel, by this call or an earlier one. Never throws. */
  deposit(config: ChannelConfig, deposit: Deposit): Promise<Settlement>;
  /** A call was charged so many atomic units of what its payer deposited: that is given back no more. */
  charged(config: ChannelConfig, amount: bigint): void;
  /**
   * Claims in one transaction, and sends the receiver what was claimed. What the contract would turn down is left out
   * (`refused`), as is what the transaction has no gas for, which the next may claim.
   * Throws FacilitatorUnreachable where the chain was not asked, does not confirm, or asks more gas than it is worth.
   */
  claim(claims: readonly ChannelClaim[]): Promise<Claimed>;
  /**
   * Claims what is due, and gives the payer so much back. `settled`: it has it. Refused where that costs more than half of this
   * and of all that was charged. Never throws.
   */
  refund(claim: ChannelClaim, amount: bigint): Promise<Settlement>;
}
