/**
 * Prepaid credits: API keys, their balances, and a ledger that is only ever appended to. A key's balance is the sum of
 * its ledger, always: each transaction that changes one writes the other.
 *
 * One call that succeeds is two entries: `hold` takes the most it may cost, `settle` gives back what it did not cost.
 * A call that fails is a `hold` and a `release`. What is held stands in a table of its own besides, with the instance
 * that works on the call and a lease. An instance that dies, be it by `kill -9` between any two steps, leaves the row
 * behind; when its lease has run out any instance takes the row away and writes the `release`, in one transaction, so
 * that nothing is lost and nothing comes back twice. An instance that only slept settles all the same: a `settle` after
 * the `release`, of what the balance has left.
 *
 * Money that comes in is on the disk before anybody is answered. Calls are too many and too cheap to wait for the disk
 * each: what they take and give back outlives the gateway's process at once, and a power failure or a crash of the
 * Postgres server a moment later. One may forget the last charges, in favour of the key's owner, and never leaves a
 * balance that its ledger does not explain.
 *
 * What somebody buys is written down when it is asked for, and enters the ledger once the payment has settled.
 */
import type { Money, Rate } from '../../money.ts';
import type { StoredAnswer } from '../stored-answer.ts';

/** Bounds that a key's owner set, besides its balance. */
export interface KeyLimits {
  /** Dollars in one day of UTC, holds included. */
  readonly perDay?: Money;
  readonly perCall?: Money;
  /** Neutral names; left out: every model. */
  readonly models?: readonly string[];
}

export interface NewApiKey {
  /** What operators name it by; not secret. */
  readonly id: string;
  /** SHA-256 of the key, in hex. The key itself is not kept. */
  readonly hash: string;
  /** The key's first characters, for lists. */
  readonly shown: string;
  readonly label: string;
  readonly limits: KeyLimits;
  /** Milliseconds since the epoch, as all times here; undefined: never. */
  readonly expiresAt: number | undefined;
}

export interface ApiKey extends NewApiKey {
  /** What can be spent: the sum of the ledger. */
  readonly balance: Money;
  /** What calls under way hold; not part of the balance. */
  readonly held: Money;
  /** What was spent, holds included, on the last day of UTC on which anything was; counted from the epoch. */
  readonly spent: { readonly day: number; readonly amount: Money };
  /** How many there are in its ledger: none where what was to be bought with it was never paid. */
  readonly entries: number;
  readonly createdAt: number;
  readonly disabledAt: number | undefined;
}

export type EntryKind =
  /** Bought; `reference` is the payment. */
  | 'purchase'
  /** Given by the operator. */
  | 'grant'
  /** The most that a call may cost is taken; `reference` is the call, here and below. */
  | 'hold'
  /** The call ended: what it did not cost is given back. */
  | 'settle'
  /** The call failed: all of it is given back. */
  | 'release'
  /** The operator gives back what a call was charged; `reference` is the call, `#` and how the operator names it. */
  | 'refund';

export interface LedgerEntry {
  readonly keyId: string;
  /** 1, 2, 3, ... without a gap for each key. */
  readonly number: number;
  readonly kind: EntryKind;
  /** Negative for a hold. */
  readonly amount: Money;
  /** The key's balance after it. */
  readonly balance: Money;
  readonly reference: string;
  /** What was called: the route, and the model where there is one. */
  readonly route: string | undefined;
  readonly model: string | undefined;
  /** On `settle`: what the call cost the key's owner. */
  readonly price: Money | undefined;
  /** On `settle`: what it cost us, in trillionths of a dollar, where the provider says so. */
  readonly cost: Rate | undefined;
  /** Why, for a person. */
  readonly note: string | undefined;
  readonly createdAt: number;
}

export interface Grant {
  readonly amount: Money;
  readonly reference: string;
  readonly note: string;
}

/**
 * `balance`: after it. `unknown`: no such key. `dead`: nobody can use it any more. `reference`: another amount, or another
 * key, was granted under it.
 */
export type GrantOutcome = { readonly balance: Money } | { readonly refused: 'unknown' | 'dead' | 'reference' };

/** Credit that somebody asked to buy. */
export interface CreditPurchase {
  /** The payment's id in this store. */
  readonly paymentId: string;
  readonly amount: Money;
  /** True where it does not count before `confirm`. */
  readonly awaitsConfirmations?: boolean;
  /** The hash of the key to top up, or the key to make. */
  readonly key: { readonly hash: string } | NewApiKey;
}

export interface Purchased {
  readonly key: ApiKey;
  /** True where the key's balance has it already. */
  readonly isPosted: boolean;
}

/** Credit that is paid for, or may be, and does not count yet. */
export type PendingPurchase = Pick<CreditPurchase, 'paymentId' | 'amount'>;

/** What a caller names a call, so that it is made once. */
export interface CallName {
  /** No other key has it. */
  readonly name: string;
  /** What was named by then has no name any more, in milliseconds since the epoch. */
  readonly since: number;
}

export interface NamedCall extends CallName {
  /** Of all that is asked. */
  readonly digest: string;
}

export interface HoldRequest {
  /** The call's own id. */
  readonly id: string;
  readonly keyId: string;
  /** The most that the call may cost. */
  readonly amount: Money;
  /** How many holds the key may have at a time, this one included. */
  readonly mostHolds: number;
  readonly route: string;
  readonly model: string;
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  readonly named?: NamedCall | undefined;
}

export type HoldOutcome =
  | { readonly held: true; readonly balance: Money }
  | { readonly held: false; readonly because: HoldRefusal; readonly balance: Money }
  /** What the call of that name was answered, and charged for. */
  | { readonly held: false; readonly because: 'answered'; readonly answer: StoredAnswer };

export type HoldRefusal =
  | 'unknown'
  | 'disabled'
  | 'expired'
  | 'balance'
  | 'per-day'
  | 'holds'
  /** The name belongs to a call that asks for something else. */
  | 'named-otherwise'
  /** A call of that name has not ended. */
  | 'under-way'
  /** A call of that name was charged, and its answer is not kept. */
  | 'not-kept';

/** How a call ended that has to be paid. */
export interface Charge {
  /** At most what is held; more is cut down to it. */
  readonly price: Money;
  readonly cost?: Rate;
  readonly note: string;
  /** Of a call that has a name, with the answer that is kept under it; undefined: it is too long. */
  readonly named?: (NamedCall & { readonly answer: StoredAnswer | undefined }) | undefined;
}

/** What is to be given back of a call that was charged. */
export interface CreditRefundRequest {
  /** The call's own id. */
  readonly call: string;
  /** Left out: all that was not given back yet. */
  readonly amount?: Money;
  /** With the same one it is given back once. */
  readonly reference: string;
  /** Why, for a person. */
  readonly reason: string;
  readonly now: number;
}

/**
 * `entry`: also where it was given back before. `unknown`: no such call was charged. `nothing`: so much was asked for.
 * `reference`: another amount was given back under it. `dead`: the key is disabled or expired. `left`: what could be given back
 * still.
 */
export type CreditRefundOutcome =
  | { readonly entry: LedgerEntry }
  | { readonly refused: 'unknown' | 'nothing' | 'too-much' | 'reference'; readonly left: Money }
  | { readonly refused: 'dead'; readonly left: Money };

/** What the settled calls of one route and model came to. */
export interface CreditSales {
  readonly route: string;
  readonly model: string;
  readonly calls: number;
  readonly price: Money;
  /** Calls whose cost is known, their price and their cost in trillionths of a dollar. */
  readonly known: { readonly calls: number; readonly price: Money; readonly cost: Rate };
}

/** Times in milliseconds since the epoch; `to` is not part of the period. */
export interface MovementPage {
  readonly from: number;
  readonly to: number;
  readonly after: Pick<LedgerEntry, 'createdAt' | 'keyId' | 'number'> | undefined;
  readonly limit: number;
}

export interface CreditStore {
  /** Throws when the id or the hash is taken. */
  addKey(key: NewApiKey, grant: Grant | undefined, now: number): Promise<void>;

  /** The key with that hash, what it bought and paid for included; undefined where there is none. */
  findKey(hash: string, now: number): Promise<ApiKey | undefined>;

  /** Oldest first. */
  listKeys(now: number): Promise<ApiKey[]>;

  /** False where there is no such key. A key that is disabled already stays as it is. */
  disableKey(id: string, now: number): Promise<boolean>;

  /** Bounds what it may spend in a day from now on; undefined: not at all. False where there is no such key. */
  limitKey(id: string, perDay: Money | undefined): Promise<boolean>;

  /** The same reference is granted once: the same grant again changes nothing, and is answered with the balance. */
  grant(keyId: string, grant: Grant, now: number): Promise<GrantOutcome>;

  /**
   * Writes a purchase down; the credit counts once its payment is settled. The same payment again changes nothing.
   * Answers undefined where there is no key with that hash, or it was disabled, or expired, before this was bought for it.
   */
  purchase(purchase: CreditPurchase, now: number): Promise<Purchased | undefined>;

  /** The payments of purchases that are settled and wait for confirmations, oldest first: `limit` of each network. */
  unconfirmed(limit: number): Promise<string[]>;

  /** What was bought for the key with payments that have settled, or may have, and is not in its ledger yet. */
  pending(keyId: string): Promise<PendingPurchase[]>;

  /** The payment lies deep enough in its chain: what it bought counts. False where it does not wait, or is not settled. */
  confirm(paymentId: string): Promise<boolean>;

  /**
   * Takes the amount from the balance, if it is there, atomically, on however many instances. Of calls with one name, one is
   * charged: the others are answered what it was, and only one that was not charged is followed by another.
   */
  hold(request: HoldRequest): Promise<HoldOutcome>;

  /**
   * The price that was charged, once however often it is asked for. Where the lease ran out and the hold was given back,
   * it is taken from the balance, as far as that goes, unless another call has the name by then. Undefined where there never
   * was such a hold.
   */
  settle(holdId: string, charge: Charge, now: number): Promise<Money | undefined>;

  /** False when the hold is gone. */
  release(holdId: string, note: string, now: number): Promise<boolean>;

  /** To the call's key, at once; all that is given back of a call never comes to more than it was charged. */
  refund(request: CreditRefundRequest): Promise<CreditRefundOutcome>;

  /** Gives back what calls held whose instance died. Answers how many there were. */
  releaseExpired(now: number): Promise<number>;

  /** Prolongs the leases of what this instance's calls hold. Answers which of them it still has. */
  renew(owner: string, ids: readonly string[], leaseUntil: number): Promise<string[]>;

  /** What keys have left and what calls under way hold of it: what was paid and not yet used. */
  liability(): Promise<Money>;

  /** Newest first. */
  entries(keyId: string, limit: number): Promise<LedgerEntry[]>;

  /**
   * What calls were charged (`settle`), and what operators gave (`grant`) and gave back (`refund`) in the period, oldest first over all keys: a page of
   * `limit`, the first one or that after the entry. What was bought is among the payments (`Store.paid`).
   */
  movements(page: MovementPage): Promise<LedgerEntry[]>;

  /** By route and model, of calls settled since then. */
  sales(since: number): Promise<CreditSales[]>;

  /** The secret of that name, the same for ever on every instance; made of `fresh` the first time. */
  secret(name: string, fresh: string): Promise<string>;

  /** The same where it was made already; makes none. */
  knownSecret(name: string): Promise<string | undefined>;
}
