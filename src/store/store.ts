/**
 * What the gateway must remember: payments with their states and answers. One interface; `sqlite.ts` and
 * `postgres.ts` implement it, and one contract suite holds both to it. Times are the database's own (`now`), and where
 * the database cannot be used everything throws Problem `store_unavailable`.
 */
import type { Settlement } from '../on-chain/settlement.ts';
import type { AlertStore } from './alerts/alert-store.ts';
import type { ChannelStore, Draw, Drawn } from './channels/channel-store.ts';
import type { CreditStore } from './credits/credit-store.ts';
import type { FiguresStore } from './figures/figures-store.ts';
import type { NonceStore } from './nonce-store.ts';
import type { PaymentState } from './payments/states.ts';
import type { Period } from './period.ts';
import type { RefundStore } from './refunds/refund-store.ts';
import type { StoredAnswer } from './stored-answer.ts';

/** What a call came to. */
export interface Fulfilled {
  readonly answer: StoredAnswer;
  /** What the upstream charged us: a decimal string in dollars, where the provider says so. */
  readonly cost: string | undefined;
}

/** A settlement as it is kept with the payment, for every transport to put into its own words. No signatures. */
export interface Receipt {
  /** Chain transaction, or the rail's own reference. */
  readonly transaction: string;
  /** Atomic units that moved. */
  readonly amount: string;
  /** Milliseconds since the epoch. */
  readonly settledAt: number;
  /** What else the rail tells its payers of it. */
  readonly details: Readonly<Record<string, string>>;
  /** The channel that it was drawn from, and what that has cost in all by then: settling charges it. */
  readonly channel?: { readonly id: string; readonly charged: string };
}

/**
 * The facts of a payment, fixed when it is first claimed, except `recoveryQuery` and `settleUpfront`: each claim
 * brings its own.
 */
export interface PaymentFacts {
  /** Identity of the authorization (payer and nonce, message hash, challenge id): the same however the proof is encoded. */
  id: string;
  rail: string;
  network: string;
  asset: string;
  payer: string;
  payTo: string;
  /** Quoted, in atomic units. */
  amount: string;
  /** The route's id. */
  route: string;
  /** Digest of method, path, query and body: the request this payment belongs to. */
  requestDigest: string;
  /** SHA-256 of the proof's signature: who shows the same is the payer. */
  fingerprint: string;
  /** What the rail needs to ask the chain about this payment later, as JSON. No signatures. */
  recoveryQuery: string;
  /** True where settling comes before the upstream call. */
  settleUpfront: boolean;
  /** Where it came in, if that is not known by its rail: `mcp`. */
  door?: string;
}

export interface Payment extends PaymentFacts {
  state: PaymentState;
  /** 1 for the first claim; each new claim adds one. Writes of an older attempt are refused. */
  attempt: number;
  /** Instance that works on it, empty when none does. */
  owner: string;
  /** Until when the owner's claim holds, in milliseconds since the epoch. */
  leaseUntil: number;
  answer: StoredAnswer | undefined;
  receipt: Receipt | undefined;
  /** What the upstream charged us: a decimal string in dollars, where the provider says so. */
  cost: string | undefined;
  /** Why it is released, unsettled, unknown or owed: a problem code or the rail's reason. */
  reason: string | undefined;
  /** Left out unless its work was done and will not be paid: when that was found. */
  lostAt?: number;
  createdAt: number;
  updatedAt: number;
}

/** What a settled payment came to. */
export interface Sale extends Pick<Payment, 'id' | 'rail' | 'route' | 'asset' | 'cost' | 'createdAt'> {
  /** Atomic units that moved. */
  amount: string;
  /** The API key whose credits it bought; undefined: it bought something else. */
  keyId: string | undefined;
}

/** A payment that moved money. */
export interface Paid
  extends Pick<Payment, 'id' | 'rail' | 'network' | 'asset' | 'payer' | 'payTo' | 'route' | 'state' | 'cost'> {
  readonly receipt: Receipt;
  /** False while its work goes on, and where its result is owed: its cost is not known yet. */
  readonly isAnswered: boolean;
  /** The API key whose credits it bought; undefined: it bought something else. */
  readonly keyId: string | undefined;
}

/** Where a page of settled payments ended. */
export interface PaidPosition {
  readonly settledAt: number;
  readonly id: string;
}

export interface PaidPage {
  readonly payments: readonly Paid[];
  /** Undefined on the last page. */
  readonly next: PaidPosition | undefined;
}

/** A claim that was won: the right to work on the payment until the lease runs out. */
export interface Claim {
  id: string;
  attempt: number;
}

export interface ClaimOptions {
  owner: string;
  now: number;
  leaseUntil: number;
  /** A payment that nobody paid yet may be claimed this many times in all. */
  maxAttempts: number;
  /** One that is settled or owed, or whose settlement may have begun, until it was claimed this many times in all. */
  maxOwedAttempts: number;
  /** The chain was asked about an `unknown` payment: it may be settled still, by whoever wins this claim. */
  settleAgain?: boolean;
  /** Taken together with the payment, all or none. Without them a payment is claimed for itself alone. */
  keys?: readonly SharedKey[];
  /** Decides, together with the claim, whether this payment has to settle first. Left out: as the facts say. */
  exposure?: ExposureLimits;
  /** Reserved together with a payment that is claimed for the first time, as by `ChannelStore.reserve`. */
  draw?: Draw;
}

/** What a payer may have under way before its money is sure; atomic units of the payment's asset. */
export interface ExposureLimits {
  /** What its unsettled payments may come to, this one included; beyond it, it settles first. */
  perPayer: bigint;
  /** What of that may go beyond what the payer has settled before on the network, less what it failed to. */
  unproven: bigint;
  /** A payer settles first once so many of its settlements failed after the work was done. */
  failures: number;
  /** Milliseconds since the epoch: those from then on count. */
  failuresSince: number;
  /** CAIP-2 id of the payment's network, where what an earlier release stored by that name counts as well. */
  chain?: string | undefined;
}

/** What was worked for and never paid. `amount` in atomic units. */
export interface Loss extends Pick<Payment, 'network' | 'route' | 'payer' | 'asset' | 'amount'> {
  /** False while its settlement has no answer: the money may still come. */
  readonly isCertain: boolean;
}

/** A name that several payments come with, of which one buys. */
export interface SharedKey {
  name: string;
  /** Milliseconds since the epoch: a payment that took the key earlier has it no more. */
  since: number;
}

/** `name`: whose allowance, and of what. */
export interface AllowanceSpent {
  readonly name: string;
  /** Less than nothing: so much is given back. */
  readonly milliseconds: number;
  /** From now on until it is whole again, at most: a clock that was set back makes nobody wait as long as that. */
  readonly longestMs: number;
}

/** A settlement with the receipt that is kept of it. */
export type ReceiptedSettlement = Settlement<{ readonly receipt: Receipt }>;

/** What became of a payment whose end nobody saw. */
export type Resolution = ReceiptedSettlement | { readonly state: 'released'; readonly reason: string };

export interface PaymentFilter {
  states?: readonly PaymentState[];
  /** The earliest `createdAt`. */
  since?: number;
  /** The earliest `updatedAt`. */
  updatedSince?: number;
  /** Only what an instance works on (see `renew`) whose lease ran out before then: abandoned. */
  leaseBefore?: number;
  /**
   * Only what is due to be asked about again, times in milliseconds: the wait since its last update is as long as it
   * was old by then, `least` and `most` at the bounds, so that each wait is twice the one before.
   */
  due?: { readonly now: number; readonly least: number; readonly most: number };
  /** Only this payer's. EVM addresses are the same in upper and lower case, all others are compared as they are. */
  payer?: string;
  /** Only what was settled by this transaction: letters and digits. */
  transaction?: string;
  /** Only what one route sold. */
  route?: string;
  /** Only what was paid there: a network as the payment has it. */
  network?: string;
  /** Only those that come after this one, newest first: the next page. */
  before?: Pick<Payment, 'createdAt' | 'id'>;
  /** What is found comes without its `answer`, which can be a megabyte. */
  withoutAnswers?: boolean;
  /** Least recently updated first, then by id. Left out: newest first by `createdAt`, then by id. */
  oldest?: boolean;
  /** `limit` is so many of each network: payments of one do not take the places of another's. */
  ofEachNetwork?: boolean;
  limit: number;
}

export type ClaimOutcome =
  /** Won. `before` is how the payment stood: undefined when it is new. */
  | {
      won: true;
      claim: Claim;
      before: Payment | undefined;
      /** Atomic units of the payer's other payments on this network and asset that have not ended, and are not covered. */
      open: bigint;
      /** As it is kept: the facts', or true where the exposure asks for it. */
      settleUpfront: boolean;
      /** Which limit of the exposure asks for it: what is under way, or what failed. */
      exceeds: 'exposure' | 'failures' | undefined;
      /** True where what the payer has under way, this payment included, is more than its record covers. */
      isUnproven: boolean;
      /** What came of the `draw`; undefined: nothing was tried. */
      drawn?: Drawn;
    }
  /** Not won: the payment as it stands, or the other one that has a key, and the key's name. */
  | { won: false; payment: Payment; key?: string };

export interface Store extends NonceStore {
  /** Sees that the database can be written, and reads its clock again. */
  check(): Promise<void>;

  /** The payment, or undefined when nothing was ever claimed under this id. */
  find(id: string): Promise<Payment | undefined>;

  /**
   * Takes the payment atomically, on however many instances. Won when the id is new, or when digest and
   * fingerprint are those of the first claim, attempts are left, and the payment is `released` or `owed`, or `claimed`,
   * `fulfilled` or `settled` without an answer, with a lease that has run out, or `unknown`, not taken and to be settled again. A
   * payment won back keeps its state, answer and receipt, except `released` and `owed`, which become `claimed` and
   * `settled`, and `unknown`, which becomes `fulfilled` with an answer and `claimed` without one; `recoveryQuery` and
   * `settleUpfront` are those of the newest claim, but what settled first, or may have, goes on doing so. With keys it is not
   * won while another payment has one of them, unless that one ended without moving money (`released`, `unsettled`).
   */
  claim(facts: PaymentFacts, options: ClaimOptions): Promise<ClaimOutcome>;

  /**
   * The money of a claimed payment is locked: it is none of what its payer has `open`, from then on. False when the claim
   * was lost to another instance, or has ended.
   */
  cover(claim: Claim): Promise<boolean>;

  /**
   * Keeps the answer; `claimed` becomes `fulfilled`. False when the claim was lost to another instance, or has ended otherwise
   * than by this answer.
   */
  fulfil(claim: Claim, answer: StoredAnswer, details: { cost?: string; now: number }): Promise<boolean>;

  /**
   * Keeps the receipt whoever has the payment by now, for the money has moved; a second one changes nothing. The state
   * becomes `settled`, or `owed` where there is no answer and nobody works on one. False when the claim was lost. What is
   * drawn from a channel moves only with this: nothing is kept, and it is false, where another payment has the channel.
   *
   * `fulfilled`: the answer of a `claimed` payment is kept with the receipt, both or neither. Only where money moves with
   * this: then nothing is kept of a claim that was lost.
   */
  settle(claim: Claim, receipt: Receipt, now: number, fulfilled?: Fulfilled): Promise<boolean>;

  /**
   * Gives the claim up: the state becomes the one named. False when the claim was lost or has ended, and when the
   * state would lie about money: what was settled can only be `owed`, and only what was settled can be.
   */
  giveUp(
    claim: Claim,
    state: 'released' | 'unsettled' | 'unknown' | 'owed',
    reason: string,
    now: number,
  ): Promise<boolean>;

  /**
   * What the chain said of an `unknown` payment: it becomes `unsettled`, `settled`, or `owed` where it is paid and has
   * no answer; what is `unknown` still takes the reason and counts as updated, so that `oldest` gives others their
   * turn, and is let go of by who has taken it until `takenUntil`. What it drew from a channel is charged as by `settle`.
   * `released`: nothing was taken of it, and it may be tried again; only by who has taken it until then. False when it is not
   * `unknown` any more.
   */
  resolve(id: string, became: Resolution, now: number, takenUntil?: number): Promise<boolean>;

  /**
   * Takes an `unknown` payment to end it, and none of its attempts: until it is resolved, or the lease has run out, nobody
   * claims it. False where it is not `unknown` any more, was claimed since that attempt, or is taken.
   */
  takeUnknown(
    attempt: Claim,
    by: { readonly owner: string; readonly now: number; readonly leaseUntil: number },
  ): Promise<boolean>;

  /**
   * A chain took back the payment of a purchase that waits for confirmations: from `settled` it becomes `unknown`, and
   * its receipt is void. False for every other payment.
   */
  reopen(id: string, reason: string, now: number): Promise<boolean>;

  /**
   * Prolongs the leases of what this instance works on (`claimed`, `fulfilled`, or `settled` without an answer); others
   * run out. Answers which of the claims it still has.
   */
  renew(owner: string, claims: readonly Claim[], leaseUntil: number): Promise<Claim[]>;

  /**
   * Lets leases end soon that would go on for longer than any is taken for: a clock has dated them that was ahead. Of payments,
   * holds, refunds, and what is claimed or given back of channels.
   */
  shortenLeases(now: number): Promise<void>;

  /** Without those that cannot be read: a line of the log names each. */
  list(filter: PaymentFilter): Promise<Payment[]>;

  /** Payments whose settlement failed after the work was done, or had no answer yet, since then. */
  losses(since: number): Promise<Loss[]>;

  /**
   * When the first was made of the settled payments that have an answer and were last touched more than an hour after that:
   * they are kept for longer than others from then.
   */
  oldestLate(): Promise<number | undefined>;

  /** Settled payments without their answers, oldest first: `limit` of them since then, or after the one named. */
  sales(filter: { since: number; after: Sale | undefined; limit: number }): Promise<Sale[]>;

  /**
   * What moved money in the period, in the order in which it settled (`receipt.settledAt`, then id): a page of `limit`, the
   * first one or that after the position. Without those that cannot be read: a line of the log names each.
   */
  paid(page: Period & { readonly after: PaidPosition | undefined; readonly limit: number }): Promise<PaidPage>;

  /** A kept value younger than `notBefore`, or undefined. For answers shared by instances. */
  cached(key: string, notBefore: number): Promise<{ value: string; storedAt: number } | undefined>;
  keep(key: string, value: string, now: number): Promise<void>;
  /**
   * Drops what is not needed any more, a few rows at a time: kept values from before `values`; of payments that were
   * last touched before `answers`, the answers of the settled (see `FORGOTTEN`) and all of those that moved no money and
   * never will (`released`, `unsettled`), with the API keys that they were to buy; what was settled or given back and last
   * touched before `payments`, with its refunds; alerts from before `alerts` that are sent or given up; allowances that
   * were whole again before `values`, and locks of payers that were not seen since. What is owed, unknown or under way stays, and so do refunds that are not sent and credits that do not count yet.
   */
  forget(before: {
    readonly values: number;
    readonly answers: number;
    readonly payments: number | undefined;
    readonly alerts?: number;
  }): Promise<void>;

  /** What webhooks are told, in the same database. */
  readonly alerts: AlertStore;

  /**
   * What callers have taken of their allowances, counted over all instances: in milliseconds, after which it is there
   * again. Answers when each allowance is whole, in the same order.
   */
  spendAllowances(spent: readonly AllowanceSpent[], now: number): Promise<number[]>;

  /** What is given back, in the same database. */
  readonly refunds: RefundStore;

  /** Payment channels, in the same database. */
  readonly channels: ChannelStore;

  /** Prepaid credits, in the same database. */
  readonly credits: CreditStore;

  /** Sums of business, in the same database. */
  readonly figures: FiguresStore;

  close(): Promise<void>;
}
