/**
 * Payment channels: a deposit that is on a chain, and the vouchers by which calls are drawn from it. A voucher names all
 * that its channel has cost so far, so the newest is worth all before it. Amounts are atomic units in decimals.
 */
/** What the ids of payments begin with that are drawn from a channel: its deposit covers them, whatever else a payer has under way. */
export const DRAWN = 'channel:';

/** What a channel's chain says of it. */
export interface ChannelState {
  /** All that was deposited and not taken back. */
  readonly balance: string;
  /** What of it was claimed for the receiver. */
  readonly totalClaimed: string;
  /** Seconds since the epoch; 0: the payer has not asked for its deposit back. */
  readonly withdrawRequestedAt: number;
  readonly refundNonce: string;
}

/** What a channel is, for as long as there is one. */
export interface ChannelFacts {
  /** 32 bytes in hex, lower case. */
  readonly id: string;
  /** Neutral id of the network. */
  readonly network: string;
  readonly payer: string;
  /** The contract's struct, as JSON. */
  readonly config: string;
}

/** The receiver may take so much in all. */
export interface Voucher {
  readonly max: string;
  readonly signature: string;
}

export interface Channel extends ChannelFacts, ChannelState {
  /** What its calls have cost in all. */
  readonly charged: string;
  /** The newest voucher that was charged. */
  readonly voucher: Voucher | undefined;
  /** The call that draws from it now, if its payment is still under way. */
  readonly pending: (Voucher & { readonly paymentId: string }) | undefined;
  /** Milliseconds since the epoch, as all that follow: when its chain was asked. */
  readonly syncedAt: number;
  /** Since when something of it is charged and not claimed, or its claim was seen once only: a chain may take it back. */
  readonly unclaimedSince: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What a call draws from a channel: its voucher says what was charged before, and this. */
export interface Draw {
  readonly facts: ChannelFacts;
  readonly voucher: Voucher;
  /** At most. */
  readonly amount: string;
  /** What the payment deposits first. `0`: nothing. */
  readonly deposit: string;
  /** How the channel stands where it is not known here yet. */
  readonly found: ChannelState;
}

/**
 * `busy`: another call draws from it, or it is given back just now. `mismatch`: the voucher does not continue what was
 * charged. `insufficient`: the deposit does not cover it. `spent`: the voucher was charged before, for less than it is for.
 * `lost`: the claim is another's by now.
 */
export type Drawn = 'reserved' | 'busy' | 'mismatch' | 'insufficient' | 'spent' | 'lost';

export interface ChannelFound extends Channel {
  /** The voucher that it is looked for with was charged before, for less than it is for. */
  readonly isSpent: boolean;
}

export interface ChannelStore {
  find(id: string): Promise<Channel | undefined>;

  /** As a voucher of `max` finds it. */
  findFor(id: string, max: string): Promise<ChannelFound | undefined>;

  /**
   * Keeps the voucher of a claimed payment before its work, and the channel for it alone: until the payment is settled,
   * which charges the channel, or given up. One that was charged is good for no other, whatever it leaves. A channel that is
   * not known is taken for one that was charged what the voucher says of it, for who lost its database trusts its payers'
   * signatures.
   */
  reserve(claim: { readonly id: string; readonly attempt: number }, draw: Draw, now: number): Promise<Drawn>;

  /** Keeps a channel that is not known here yet. `charged`: in all. Default: what the chain says that was claimed. */
  adopt(facts: ChannelFacts, state: ChannelState, now: number, charged?: string): Promise<void>;

  /**
   * Keeps what the chain says. What was claimed was charged. What is from before a refund that is known of here (a node may be
   * behind, its transaction under way) is let be for a quarter of an hour: `hasTurnedDown`: the chain will not carry it out.
   */
  sync(id: string, state: ChannelState, now: number, hasTurnedDown?: boolean): Promise<void>;

  /**
   * Those with something to claim, or a claim that was seen once only, the longest waiting first, that nobody claims for at
   * the moment: a page of `limit`, or that after the one named.
   */
  unclaimed(
    network: string,
    limit: number,
    now: number,
    after?: Pick<Channel, 'unclaimedSince' | 'id'>,
  ): Promise<Channel[]>;

  /** Network -> what is charged there and not claimed, in atomic units, to fifteen digits. */
  unclaimedSums(): Promise<ReadonlyMap<string, bigint>>;

  /** Takes channels for a claim, or for giving back: those of them that nobody else has taken. */
  take(ids: readonly string[], purpose: 'claim' | 'refund', until: number, now: number): Promise<Channel[]>;

  /** Lets go of those that are still taken as they were, `until` then: what another has taken since is its. */
  letGo(ids: readonly string[], purpose: 'claim' | 'refund', until: number): Promise<void>;

  /** All of them, oldest first by `createdAt`, then by id: a page of `limit`, or that after the one named. */
  list(page: {
    readonly after: Pick<Channel, 'createdAt' | 'id'> | undefined;
    readonly limit: number;
  }): Promise<Channel[]>;
}
