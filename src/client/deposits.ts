/**
 * Calls that are drawn from deposits. Whatever a gateway says: nothing is signed for beyond what calls have cost and this one by
 * our own count, and no more is deposited than may lie in deposits.
 *
 * Three amounts of each channel are ours alone: `deposited` and `signed`, which only grow and only by what is signed here, and
 * `charged`, which a gateway may correct to anything up to `signed`, for so much it could claim anyway.
 */

import { asJsonObject, asJsonObjects, type JsonObject } from '../json.ts';
import { type Money, toDecimal } from '../money.ts';
import type { ChannelConfig } from '../on-chain/channel-config.ts';
import { openTurns, type Turn } from '../turns.ts';
import { type Asset, isSameAddress } from './asset.ts';
import { channelIdOf, readUnits } from './channel.ts';
import { type FoundChannel, keyOf, openChannelBook } from './channel-book.ts';
import { type Channel, type DepositStore, endOf } from './kept-channels.ts';
import { type ChannelOffer, readChannelOffer, toDollars } from './offers.ts';
import { type SignedDeposit, signVoucher } from './voucher.ts';
import type { Challenge, EvmSigner, Payment } from './wallet.ts';

/** The scheme's own words for why a voucher is not taken. */
const MISMATCH = 'invalid_batch_settlement_evm_cumulative_amount_mismatch';
const BUSY = 'invalid_batch_settlement_evm_channel_busy';

/** Calls that a deposit is for, where the gateway asks for none in particular. */
const CALLS_OF_A_DEPOSIT = 10n;

/** A deposit that ends sooner may end on its way. */
const LEAST_SECONDS_LEFT = 30;

/** How much earlier it may be on a chain than here. */
const CHAIN_BEHIND_SECONDS = 60;

/** A channel of this client. */
export interface Deposit {
  /** Neutral id of the network. */
  readonly network: string;
  /** What the contract calls it. */
  readonly channel: string;
  /** What the contract asks for where its payer wants the deposit back without the gateway. */
  readonly config: ChannelConfig;
  /** Dollars that were deposited, and not drawn or given back, as a decimal string. */
  readonly left: string;
  /** Dollars of calls whose end is not known: they count as drawn, and may have cost nothing. */
  readonly unanswered: string;
}

/** One call's payment from a deposit. */
export interface Drawing {
  readonly channel: string;
  /** What its voucher adds to what was signed for: less than the price where an earlier one bought nothing. */
  readonly adds: Money;
  /** Atomic units that are deposited besides, by an authorization that is signed now; undefined: nothing. */
  readonly deposit: bigint | undefined;
  /** Throws where it cannot be signed, or not be kept: nobody has the payment then. */
  sign(): Promise<Payment>;
  /** Another voucher for the same call, where a refusal says what the channel has cost and it was signed for before. */
  corrected(required: JsonObject): Promise<Payment | undefined>;
  /** What a settlement response says of the channel: dollars that the call was charged; undefined: it does not say. */
  told(response: JsonObject): Promise<string | undefined>;
  /** The gateway says that nothing was charged: the next call's voucher is for the same. */
  free(): Promise<void>;
  /** The gateway takes no vouchers of the channel, or not the deposit: the next call is not drawn from it. */
  isUnusable(): boolean;
}

export interface Deposits {
  /** Calls draw one after another: what has its turn has every channel for itself. */
  readonly turn: Turn;
  /** What of a challenge could be drawn from a deposit. */
  offers(required: Challenge): ChannelOffer[];
  /**
   * In its turn. Undefined where the call needs a deposit that may not be made, or that was refused before where the call
   * can be paid otherwise (`hasOther`). Throws where what is kept cannot be read.
   */
  draw(offer: ChannelOffer, required: Challenge, hasOther?: boolean): Promise<Drawing | undefined>;
  /** Every channel of this client, those with nothing left included. Throws where what is kept cannot be read. */
  list(): Promise<Deposit[]>;
  /** In its turn: a voucher that asks what is left of a channel back. Undefined where the challenge does not offer it. */
  refund(channel: string, required: Challenge): Promise<Payment | undefined>;
  /** What a refusal says that the channel has cost: true where it is worth asking again. */
  corrected(channel: string, required: JsonObject): Promise<boolean>;
  /** The gateway says that so many atomic units were given back. Answers dollars. */
  givenBack(channel: string, amount: bigint, response: JsonObject): Promise<string>;
  /**
   * The gateway says that nothing is there, which is believed once no deposit that was signed can be made any more. Until when one
   * can, in seconds since the epoch; undefined: none can.
   */
  foundEmpty(channel: string): Promise<number | undefined>;
}

interface DepositParts {
  /** The most that may lie in deposits. */
  readonly most: Money;
  readonly assets: readonly Asset[];
  /** Those in which calls are drawn: what lies in others is counted and asked back all the same. */
  readonly payable: readonly Asset[];
  /** By network id. */
  readonly accounts: ReadonlyMap<string, EvmSigner>;
  readonly store: DepositStore;
}

interface Plan {
  readonly max: bigint;
  readonly balance: bigint;
  /** One that was signed before, or how much to sign for. */
  readonly deposit: SignedDeposit | bigint | undefined;
  /** What may still be made of the deposit that was signed last. */
  readonly pending: Channel['pending'];
}

const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right);

/** Lent: what of the deposits was neither drawn nor given back. */
const lentOf = ({ deposited, returned, charged }: Channel): bigint => larger(deposited - returned - charged, 0n);

export const isBusy = ({ error }: JsonObject): boolean => error === BUSY;

function randomSalt(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export function openDeposits({ most, assets, payable, accounts, store }: DepositParts): Deposits {
  const known = assets.filter(({ id }) => accounts.has(id));
  const drawable = payable.filter(({ id }) => accounts.has(id));
  const turn = openTurns();
  /** The plan that a channel's newest voucher follows: what is said of an older one is no news. */
  const newest = new Map<string, Plan>();
  const payers = [...accounts.values()].map(({ address }) => address);
  const book = openChannelBook(store, known, payers);
  const { channels, openFor, assetOf, put, learn } = book;
  /** In which a deposit was refused, most often because there is too little for it. */
  const undepositable = new Set<Asset>();

  /** What of a gateway's word on the channel is believed. */
  function believed({ signed }: Channel, id: string, said: unknown): { charged?: bigint; balance?: bigint } {
    const state = asJsonObject(said);
    if (typeof state.channelId !== 'string' || state.channelId.toLowerCase() !== id) return {};
    const [charged, balance] = [readUnits(state.chargedCumulativeAmount), readUnits(state.balance)];
    return {
      ...(charged !== undefined && charged <= signed && { charged }),
      ...(balance !== undefined && { balance }),
    };
  }

  function updated(channel: Channel, said: ReturnType<typeof believed>): Channel {
    const { charged = channel.charged, balance = channel.balance } = said;
    const { pending } = channel;
    const isMade = pending && balance >= pending.expected;
    return { ...channel, charged, told: said.charged ?? channel.told, balance, pending: isMade ? undefined : pending };
  }

  async function isAllowed(size: bigint, { decimals }: Asset): Promise<boolean> {
    let lent: Money = 0n;
    for (const channel of (await channels()).values()) {
      lent += toDollars(lentOf(channel), assetOf(channel)?.decimals ?? decimals);
    }
    return lent + toDollars(size, decimals) <= most;
  }

  /** Undefined where it needs a deposit that may not be made. */
  async function planFor(
    channel: Channel,
    { amount, asset, terms }: ChannelOffer,
    hasOther: boolean,
  ): Promise<Plan | undefined> {
    const max = channel.charged + amount;
    const { pending } = channel;
    const endsAt = pending ? Number(endOf(pending.deposit)) : 0;
    const open = endsAt > Date.now() / 1000 + LEAST_SECONDS_LEFT ? pending : undefined;
    const isRefused = hasOther && undepositable.has(asset);
    // One that has ended was made, or never will be: the gateway says which.
    const balance = pending && !open && !isRefused ? larger(channel.balance, pending.expected) : channel.balance;
    const planned = { max, balance, pending: open };
    const needed = max - balance;
    if (needed <= 0n) return { ...planned, deposit: undefined };
    if (isRefused) return undefined;
    const least = larger(needed, terms.minDeposit ?? 0n);
    if (open && BigInt(open.deposit.amount) >= least) return { ...planned, deposit: open.deposit };
    const sizes = terms.minDeposit === undefined ? [larger(needed, amount * CALLS_OF_A_DEPOSIT), needed] : [least];
    for (const size of sizes) if (await isAllowed(size, asset)) return { ...planned, deposit: size };
    return undefined;
  }

  /** Signs it, and keeps that it is signed before anybody has it. */
  async function signFor(
    channel: Channel,
    { asset, amount, seconds, given }: ChannelOffer,
    { max, balance, deposit, pending }: Plan,
    { resource, extensions }: Pick<Challenge, 'resource' | 'extensions'>,
  ): Promise<Payment> {
    const account = accounts.get(asset.id);
    if (!account) throw new Error(`there is no key for ${asset.id}`);
    const { config } = channel;
    const fresh = typeof deposit === 'bigint' ? deposit : undefined;
    const signed = await signVoucher(account, { asset, config, max, amount, balance, deposit: fresh, seconds });
    const payload = typeof deposit === 'object' ? { ...signed, type: 'deposit', deposit } : signed;
    const made = fresh === undefined ? undefined : (signed.deposit as SignedDeposit);
    await put({
      ...channel,
      balance,
      charged: max,
      signed: larger(channel.signed, max),
      deposited: channel.deposited + (fresh ?? 0n),
      pending: made ? { deposit: made, expected: balance + (fresh ?? 0n) } : pending,
      openUntil: made ? larger(channel.openUntil, endOf(made)) : channel.openUntil,
    });
    return { x402Version: 2, payload, accepted: given, resource, extensions };
  }

  function newChannel({ asset, payTo, terms }: ChannelOffer): Channel {
    const payer = accounts.get(asset.id)?.address ?? '';
    const { receiverAuthorizer, withdrawDelay } = terms;
    const config = {
      payer,
      payerAuthorizer: payer,
      receiver: payTo,
      receiverAuthorizer,
      token: asset.address,
      withdrawDelay,
      // Another client of the same account has a channel of its own.
      salt: randomSalt(),
    };
    const nothing = { deposited: 0n, returned: 0n, balance: 0n, charged: 0n, told: 0n, signed: 0n, openUntil: 0n };
    return { network: asset.network, config, ...nothing, pending: undefined, isClosed: false };
  }

  /** An offer of who claims for the channel's receiver and gives back, though others are paid by now, or in another token. */
  const offerOf = ({ network, config }: Channel, accepts: readonly JsonObject[]): JsonObject | undefined =>
    accepts.find((given) => {
      const { receiverAuthorizer } = asJsonObject(given.extra);
      const isDrawn = given.scheme === 'batch-settlement' && given.network === network;
      return isDrawn && isSameAddress(receiverAuthorizer, config.receiverAuthorizer);
    });

  /** What a refusal says besides, in that offer. */
  const extraIn = ({ accepts }: JsonObject, channel: Channel): JsonObject =>
    asJsonObject(offerOf(channel, asJsonObjects(accepts))?.extra);

  /** What the refusal says of the channel. */
  const stateIn = (required: JsonObject, channel: Channel): unknown =>
    required.error === MISMATCH ? extraIn(required, channel).channelState : undefined;

  /** Believed for as much as may lie in deposits: a gateway that keeps what it says it gave back gets no more than that again. */
  async function learnReturned({ channel, asset }: FoundChannel, amount: bigint): Promise<void> {
    const lent = lentOf(channel);
    const back = amount < lent ? amount : lent;
    let returned = toDollars(back, asset.decimals);
    for (const each of (await channels()).values()) {
      returned += toDollars(each.returned, assetOf(each)?.decimals ?? asset.decimals);
    }
    const isBelieved = returned <= most;
    await learn(isBelieved ? { ...channel, told: channel.charged, returned: channel.returned + back } : channel);
  }

  return {
    turn,

    offers: ({ accepts }) =>
      accepts.map((given) => readChannelOffer(given, drawable)).filter((offer) => offer !== undefined),

    async draw(offer, required, hasOther = false) {
      const before = (await openFor(offer)) ?? newChannel(offer);
      const key = keyOf(before);
      const first = await planFor(before, offer, hasOther);
      if (!first) return undefined;
      let plan = first;
      const { asset } = offer;
      const channel = channelIdOf(asset, before.config);
      const now = async (): Promise<Channel> => (await channels()).get(key) ?? before;
      let isTold = false;
      let isUnusable = false;

      async function signed(from: Channel, next: Plan): Promise<Payment> {
        const payment = await signFor(from, offer, next, required);
        plan = { ...next, deposit: next.deposit && (await now()).pending?.deposit };
        newest.set(key, plan);
        return payment;
      }

      return {
        channel,
        adds: toDollars(larger(first.max - before.signed, 0n), asset.decimals),
        deposit: typeof first.deposit === 'bigint' ? first.deposit : undefined,
        sign: () => signed(before, first),
        async corrected(refusal) {
          const before = await now();
          const isClosed = extraIn(refusal, before).unusableChannel === channel;
          if (isClosed) await learn({ ...before, isClosed });
          const state = stateIn(refusal, before);
          const isOwn = plan.deposit !== undefined && state === undefined && !isBusy(refusal);
          const isDepositRefused = isOwn && asJsonObjects(refusal.accepts).length > 0;
          if (isDepositRefused) undepositable.add(asset);
          isUnusable = isClosed || (hasOther && isDepositRefused);
          if (isClosed || state === undefined) return undefined;
          const said = believed(before, channel, state);
          const found = updated(before, said);
          isTold ||= said.charged !== undefined;
          await learn(found);
          const next = await planFor(found, offer, hasOther);
          if (!next || next.max > found.signed) return undefined;
          if (next.max === plan.max && next.deposit === plan.deposit) return undefined;
          return await signed(found, next).catch(() => undefined);
        },
        async told(response) {
          const extra = asJsonObject(response.extra);
          const units = readUnits(extra.chargedAmount);
          const cost = units !== undefined && units <= offer.amount ? units : undefined;
          const found = await now();
          const said = {
            ...(cost !== undefined && { charged: plan.max - offer.amount + cost }),
            ...believed(found, channel, extra.channelState),
          };
          isTold ||= said.charged !== undefined;
          if (newest.get(key) === plan) await learn(updated(found, said));
          return cost === undefined ? undefined : toDecimal(toDollars(cost, asset.decimals));
        },
        async free() {
          const found = await now();
          if (!isTold && newest.get(key) === plan) await learn({ ...found, charged: plan.max - offer.amount });
        },
        isUnusable: () => isUnusable,
      };
    },

    async list() {
      return [...(await channels()).values()].flatMap((channel) => {
        const asset = assetOf(channel);
        if (!asset) return [];
        const { config, charged, told } = channel;
        const left = toDecimal(toDollars(lentOf(channel), asset.decimals));
        const unanswered = toDecimal(toDollars(larger(charged - told, 0n), asset.decimals));
        return [{ network: asset.id, channel: channelIdOf(asset, config), config, left, unanswered }];
      });
    },

    async refund(id, { accepts, resource, extensions }) {
      const found = await book.find(id);
      const account = found && accounts.get(found.asset.id);
      if (!found || !account) return undefined;
      const { channel, asset } = found;
      const { config, charged, balance } = channel;
      const given = offerOf(channel, accepts);
      if (!given) return undefined;
      const nothing = { amount: 0n, deposit: undefined, seconds: 0 };
      const signed = await signVoucher(account, { asset, config, max: charged, balance, ...nothing });
      return { x402Version: 2, payload: { ...signed, type: 'refund' }, accepted: given, resource, extensions };
    },

    async corrected(id, required) {
      const found = await book.find(id);
      const state = found && stateIn(required, found.channel);
      if (!found || state === undefined) return false;
      const { channel } = found;
      const next = updated(channel, believed(channel, id, state));
      await learn(next);
      return next.charged !== channel.charged;
    },

    async givenBack(id, amount, response) {
      const found = await book.find(id);
      if (!found) return '0';
      const { channel, asset } = found;
      const next = updated(channel, believed(channel, id, asJsonObject(response.extra).channelState));
      await learnReturned({ channel: next, asset }, amount);
      return toDecimal(toDollars(amount, asset.decimals));
    },

    async foundEmpty(id) {
      const found = await book.find(id);
      if (!found) return undefined;
      const until = Number(found.channel.openUntil) + CHAIN_BEHIND_SECONDS;
      if (until > Date.now() / 1000) return until;
      await learnReturned(found, lentOf(found.channel));
      return undefined;
    },
  };
}
