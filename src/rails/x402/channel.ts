/**
 * Payments by x402's `batch-settlement`: a voucher drawn on a channel. What the published client reads of answers and
 * refusals is said here. Source: x402 specification, "batch-settlement" on EVM; @x402/evm 2.27.0.
 */

import type { Transfer } from '../../on-chain/settlement.ts';
import type { ChannelAuthorization } from '../../payment/authorizations/batch-settlement.ts';
import type { ChannelOperator, Deposit } from '../../payment/channels/operator.ts';
import { inProgress, settlementPending } from '../../payment/conflicts.ts';
import { asked } from '../../payment/facilitators/asked.ts';
import { FacilitatorUnreachable } from '../../payment/facilitators/facilitator.ts';
import type { Declined, Hold } from '../../payment/hold.ts';
import type { PayableNetwork } from '../../payment/networks.ts';
import { Refusal } from '../../payment/refusal.ts';
import type { Channel, ChannelFound, ChannelState, ChannelStore, Drawn } from '../../store/channels/channel-store.ts';
import type { Receipt } from '../../store/store.ts';

/** The scheme's own words for why a voucher is not taken. */
const MISMATCH = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';
const BUSY = 'invalid_batch_settlement_evm_channel_busy';
export const NO_BALANCE = 'invalid_batch_settlement_evm_refund_no_balance';

/** A payer who asks for its deposit has it a day later at the earliest: what is known of a channel is good for less. */
const TRUSTED_MS = 600_000;

/** Calls that a deposit is to be good for, and times what it has to be worth at least that is worth settling alone. */
const CALLS_OF_A_DEPOSIT = 10n;
const SETTLEMENTS_OF_A_DEPOSIT = 10n;

/** What a deposit has to be at least, in atomic units: its transactions are the gateway's to pay. */
export function leastDeposit(amount: bigint, leastPrice: bigint): bigint {
  const [calls, settlements] = [amount * CALLS_OF_A_DEPOSIT, leastPrice * SETTLEMENTS_OF_A_DEPOSIT];
  return calls > settlements ? calls : settlements;
}

/** What has to be kept of such a payment to write its receipt later: JSON members. Amounts in atomic units. */
export interface ChannelQuery {
  readonly channel: string;
  /** What the voucher is for, all calls before included. */
  readonly max: string;
  /** What this call costs at most. */
  readonly amount: string;
  /** What it deposits first. */
  readonly deposit?: string;
  /** How the channel stands, its deposit included. */
  readonly state: ChannelState;
}

export interface ChannelPayment {
  readonly query: ChannelQuery;
  /** `told` makes a receipt of what it is given. */
  hold(told: (transfer: Transfer) => Receipt): Hold;
  /** The call costs its payer so many atomic units. */
  charged(amount: bigint): void;
  /** Of the receipt: the deposit's transaction, or the channel's id. */
  transaction(): string;
}

interface Asked {
  readonly authorization: ChannelAuthorization;
  readonly network: PayableNetwork;
  /** Atomic units. */
  readonly amount: bigint;
  readonly leastPrice: bigint;
}

interface Standing {
  /** Undefined: nothing of it is known here. */
  readonly kept: ChannelFound | undefined;
  readonly state: ChannelState;
}

/** As clients read it. */
export const channelState = (id: string, state: ChannelState, charged: string) => ({
  channelId: id,
  ...state,
  chargedCumulativeAmount: charged,
});

/** As the client takes it out of `extra`: the voucher proves that the payer agreed to as much. */
const correction = (channel: string, state: ChannelState, kept: Pick<Channel, 'charged' | 'voucher'> | undefined) => ({
  channelState: channelState(channel, state, kept?.charged ?? state.totalClaimed),
  ...(kept?.voucher && {
    voucherState: { signedMaxClaimable: kept.voucher.max, signature: kept.voucher.signature },
  }),
});

const refuse = (reason: string, kind: Refusal['kind'] = 'verification-failed'): Refusal => new Refusal(kind, reason);

const declined = (error: Error): Declined => ({ state: 'declined', error });

const stateOf = ({ balance, totalClaimed, withdrawRequestedAt, refundNonce }: ChannelState): ChannelState => ({
  balance,
  totalClaimed,
  withdrawRequestedAt,
  refundNonce,
});

/** What the channel has been charged, as far as it is known here; a chain that says more has the last word. */
export const chargedOf = (kept: Channel | undefined, { totalClaimed }: ChannelState): bigint => {
  const [here, there] = [BigInt(kept?.charged ?? 0), BigInt(totalClaimed)];
  return here > there ? here : there;
};

/** Something else has the channel at the moment: `reason` says what, and what to do. */
export const busy = (network: string, reason: string): Refusal =>
  new Refusal('verification-failed', reason, { correction: { code: BUSY, network, extra: {} } });

/**
 * Who drives the channel, for whom its payer has signed the voucher: before that nothing is told of the channel, for what
 * it was charged is its payer's business. Throws Refusal.
 */
export async function demandSigned(
  { channel, config, voucher }: ChannelAuthorization,
  { channels, caip2 }: PayableNetwork,
): Promise<ChannelOperator> {
  if (!channels) throw refuse(`channels are not offered on ${caip2} at the moment`);
  const operator = await asked('the channel', channels.operator());
  if (config.receiverAuthorizer !== operator.authorizer.toLowerCase()) {
    throw refuse(`receiverAuthorizer is ${config.receiverAuthorizer}, asked is ${operator.authorizer}`);
  }
  if (await operator.isSigned(channel, config, voucher)) return operator;
  throw refuse('the voucher is not signed by payerAuthorizer');
}

/** Its client reads from it what to sign for. */
export function mismatch(channel: string, state: ChannelState, kept: Channel | undefined, network: string): Refusal {
  const charged = chargedOf(kept, state);
  return new Refusal(
    'verification-failed',
    `calls of this channel have cost ${charged} atomic units in all: sign for those and this one`,
    {
      correction: {
        code: MISMATCH,
        network,
        extra: correction(channel, state, kept && { ...kept, charged: charged.toString() }),
      },
    },
  );
}

/** The scheme has no word for it: our own clients open another channel where `unusableChannel` names theirs. */
const unusable = (channel: string, network: string, reason: string): Refusal =>
  new Refusal('verification-failed', reason, {
    correction: { code: undefined, network, extra: { unusableChannel: channel } },
  });

/** A claim shows everybody the voucher and what was charged of it: what that leaves is nobody's to draw. */
const spent = (channel: string, network: string): Refusal =>
  unusable(
    channel,
    network,
    'a voucher for this sum has paid for another call already, and buys no second one with what that has left: make a ' +
      'call of another price first, or ask for the deposit back at GET /v1/channels and open another channel, with another salt',
  );

export interface ChannelPayments {
  /** Moves nothing. Throws Refusal. */
  verify(asked: Asked): Promise<ChannelPayment>;
  /** As deep as anything where the chain has the deposit that covers it. Throws where it does not, or nobody can say. */
  depth(query: ChannelQuery, network: PayableNetwork | undefined): Promise<number>;
}

export function openChannelPayments(store: ChannelStore, now: () => number): ChannelPayments {
  /** How the channel stands: as the chain says where that was long ago, or says too little. */
  async function standing({ channel, voucher }: ChannelAuthorization, operator: ChannelOperator): Promise<Standing> {
    const kept = await store.findFor(channel, voucher.max.toString());
    // What a clock that was ahead dates is as old as that.
    const isFresh = kept && Math.abs(now() - kept.syncedAt) < TRUSTED_MS && voucher.max <= BigInt(kept.balance);
    if (isFresh) return { kept, state: stateOf(kept) };
    const state = await asked('the channel', operator.read(channel));
    if (kept) await store.sync(channel, state, now());
    return { kept, state };
  }

  /** Throws Refusal where the call counts on what an instance that died may have sent back: its chain does not say for a while. */
  async function demandSure(
    { channel, voucher }: ChannelAuthorization,
    { kept, state }: Standing,
    { caip2 }: PayableNetwork,
  ): Promise<void> {
    const isEarlier = ({ refundNonce }: ChannelState) => BigInt(state.refundNonce) < BigInt(refundNonce);
    if (!kept || !isEarlier(kept)) return;
    // What was to be given back long ago is known, by what was read just now, not to be.
    const known = await store.find(channel);
    if (!known || !isEarlier(known) || voucher.max <= BigInt(known.balance)) return;
    throw busy(
      caip2,
      'what is left of this channel may be on its way back to its payer: send this one in a quarter of an hour at the latest',
    );
  }

  /**
   * The deposit that has to be made first, if any. Throws Refusal for one that is not worth its transaction, and Problem
   * `settlement_pending` where an earlier attempt has made it and a node does not show it yet.
   */
  async function depositOf(
    { authorization: { identity, config, channel, voucher, deposit }, network, amount, leastPrice }: Asked,
    { kept, state }: Standing,
    operator: ChannelOperator,
  ): Promise<Deposit | undefined> {
    const isEnough = voucher.max <= BigInt(state.balance);
    const wasTaken = kept?.pending?.paymentId === identity(network.caip2, network.asset.address);
    // A node that is behind would have it made once more, which the token refuses.
    if (wasTaken && isEnough) return undefined;
    // One that was made before is not made again. Whoever deposits more than it needs has its reasons: its client may not
    // have heard of the last one.
    if (!deposit || (await asked('the channel', operator.isDeposited(config, deposit)))) {
      if (isEnough) return undefined;
      if (deposit && wasTaken) throw settlementPending();
      // Whose client believes in more than there is learns of it as of a mismatch.
      throw new Refusal(
        'payment-insufficient',
        `the channel holds ${state.balance} atomic units in all, and ${voucher.max} are needed: deposit more`,
        { correction: { code: MISMATCH, network: network.caip2, extra: correction(channel, state, kept) } },
      );
    }
    const least = leastDeposit(amount, leastPrice);
    if (deposit.amount < least) {
      throw refuse(
        `a deposit has to be ${least} atomic units at least, this one is ${deposit.amount}`,
        'payment-insufficient',
      );
    }
    if (voucher.max > BigInt(state.balance) + deposit.amount) {
      throw refuse(
        `the deposit does not cover this call: ${voucher.max} atomic units are needed in all`,
        'payment-insufficient',
      );
    }
    const verdict = await asked('the channel', operator.verifyDeposit(config, deposit));
    if (verdict.valid) return deposit;
    if (wasTaken && (await asked('the channel', operator.isDeposited(config, deposit)))) throw settlementPending();
    throw refuse(`the deposit was refused: ${verdict.reason}`);
  }

  /** What was found good: it is drawn once it is claimed. */
  function paymentOf(
    { authorization, network, amount }: Asked,
    query: ChannelQuery,
    found: ChannelState,
    deposit: Deposit | undefined,
    operator: ChannelOperator,
  ): ChannelPayment {
    const { channel, config, voucher } = authorization;
    let transaction = channel;
    let hasDeposited = false;

    const draw = {
      facts: { id: channel, network: network.id, payer: config.payer, config: JSON.stringify(config) },
      voucher: { max: query.max, signature: voucher.signature },
      amount: query.amount,
      deposit: query.deposit ?? '0',
      found,
    };

    async function turnedDown(drawn: Exclude<Drawn, 'reserved'>): Promise<Declined> {
      if (drawn === 'busy') {
        return declined(busy(network.caip2, 'another call draws from this channel: send this one after it'));
      }
      if (drawn === 'spent') return declined(spent(channel, network.caip2));
      if (drawn === 'lost') return declined(inProgress());
      if (drawn === 'insufficient')
        return declined(refuse('the channel does not hold enough: deposit more', 'payment-insufficient'));
      return declined(mismatch(channel, found, await store.find(channel), network.caip2));
    }

    /** The deposit goes first: nobody works for money that is not there. */
    async function make(deposit: Deposit): Promise<Declined | undefined> {
      const made = await operator.deposit(config, deposit);
      hasDeposited = made.state !== 'unknown';
      if (made.state === 'refused') return declined(refuse(`the deposit was not made: ${made.reason}`));
      if (made.state === 'unknown') return declined(settlementPending());
      if (made.transaction) transaction = made.transaction;
      try {
        const there = await operator.read(channel);
        if (BigInt(there.balance) >= voucher.max) {
          await store.sync(channel, there, now());
          return undefined;
        }
      } catch (error) {
        if (!(error instanceof FacilitatorUnreachable)) throw error;
      }
      // It is in a block, whatever a node says that is behind: nobody is to be asked for another.
      if (made.transaction) await store.sync(channel, query.state, now());
      return declined(settlementPending());
    }

    return {
      query,
      charged: (amount) => operator.charged(config, amount),
      transaction: () => transaction,
      hold: (told) => ({
        draw,
        async lock(claim, drawnBefore) {
          const drawn = drawnBefore ?? (await store.reserve(claim, draw, now()));
          if (drawn !== 'reserved') return turnedDown(drawn);
          const failed = deposit && (await make(deposit));
          return failed ?? { state: 'settled', transaction, amount };
        },
        // Whichever attempt made it: its client may not have heard of it.
        told: () => (authorization.deposit ? told({ transaction, amount: 0n }) : undefined),
        deposited: () => hasDeposited,
      }),
    };
  }

  return {
    async depth({ channel, max }, network) {
      if (!network?.channels) throw new Error('channels are not offered there at the moment');
      const { balance } = await (await network.channels.operator()).read(channel);
      if (BigInt(balance) >= BigInt(max)) return Number.MAX_SAFE_INTEGER;
      throw new Error('the channel does not hold what was drawn from it');
    },

    async verify(given) {
      const { authorization, network, amount } = given;
      const { channel, voucher, type } = authorization;
      if (type === 'refund') throw refuse('deposits are given back at GET /v1/channels: this request buys something');
      const operator = await demandSigned(authorization, network);
      const { kept, state } = await standing(authorization, operator);
      if (state.withdrawRequestedAt !== 0) {
        throw unusable(
          channel,
          network.caip2,
          'its payer has asked for the deposit of this channel: open another, with another salt',
        );
      }
      const before = voucher.max - amount;
      // Who has no record of the channel takes its payer's word for what it cost so far, but for what was never there: a first
      // call that was lost on its way cost nothing.
      const isNext = kept
        ? before === chargedOf(kept, state)
        : before >= BigInt(state.totalClaimed) && before <= BigInt(state.balance);
      if (!isNext) throw mismatch(channel, state, kept, network.caip2);
      if (kept?.isSpent) throw spent(channel, network.caip2);
      await demandSure(authorization, { kept, state }, network);
      const deposit = await depositOf(given, { kept, state }, operator);
      const filled = { ...state, balance: (BigInt(state.balance) + (deposit?.amount ?? 0n)).toString() };
      const query: ChannelQuery = {
        channel,
        max: voucher.max.toString(),
        amount: amount.toString(),
        state: filled,
        ...(deposit && { deposit: deposit.amount.toString() }),
      };
      return paymentOf(given, query, state, deposit, operator);
    },
  };
}

/** What such a payment's receipt says besides: `charged` of the call. */
export function channelReceipt(
  { channel, max, amount, state, deposit }: ChannelQuery,
  { transaction, amount: charged }: Transfer,
): Pick<Receipt, 'channel'> & { readonly details: Record<string, string> } {
  const isDeposit = transaction !== channel && deposit !== undefined;
  return {
    channel: { id: channel, charged: (BigInt(max) - BigInt(amount) + charged).toString() },
    details: { channel: JSON.stringify(state), ...(isDeposit && { deposit }) },
  };
}

/** What the client takes out of a settlement response: see `settlementResponse`. */
export function channelResponse(
  { transaction, amount, details }: Receipt,
  { id, charged }: NonNullable<Receipt['channel']>,
) {
  const { deposit } = details;
  const state: ChannelState = JSON.parse(details.channel ?? '{}');
  return {
    transaction: deposit === undefined ? '' : transaction,
    amount: deposit ?? '',
    extra: { chargedAmount: amount, channelState: channelState(id, state, charged) },
  };
}
