/**
 * What the console's page reads and sends, below `/console/api/`. Money is dollars as decimal strings, times are
 * milliseconds since the epoch. Every answer is JSON; a fault is `{error: string, field?: string}` in words for the operator.
 */

/** `GET overview?from&to`: a period's business, in steps of an hour, of a day over long periods. */
export interface Overview {
  readonly service: string;
  readonly mode: 'sandbox' | 'live';
  readonly catalogue: string;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  readonly totals: Totals;
  /** Every step of the period, in order; those in which nothing happened as zeros. */
  readonly series: readonly Step[];
  readonly endpoints: readonly Slice[];
  readonly networks: readonly Slice[];
  /** `x402`, `mpp`, `mcp`, `api-key`. */
  readonly doors: readonly Slice[];
  readonly attention: Attention;
  /** Dollars paid for credits in the period: they are revenue when they are spent. */
  readonly creditsSold: string;
  /** False while payments from before are still being counted: then the sums lack some of them, for some minutes. */
  readonly isWhole: boolean;
}

export interface Totals {
  /** Requests that came with a payment or a key. */
  readonly calls: number;
  /** Of those, answered with 4xx or 5xx. */
  readonly failures: number;
  /** Requests that were told a price. */
  readonly challenges: number;
  readonly revenue: string;
  /** With up to twelve decimals, and so the margin. */
  readonly cost: string;
  /** Revenue less cost, `-0.5` where it is less than nothing; refunds are not taken off. */
  readonly margin: string;
  readonly refunds: string;
  /** Of calls, in milliseconds; absent where there were none. */
  readonly p50?: number;
  readonly p95?: number;
}

export interface Step extends Totals {
  readonly at: number;
}

export interface Slice extends Totals {
  readonly name: string;
}

/** What somebody has to look at, now. */
export interface Attention {
  readonly owed: Sum;
  readonly unknown: Sum;
  /** Claimed or fulfilled for longer than their lease. */
  readonly stuck: Sum;
  readonly refundsWaiting: Sum;
  readonly creditLiability: string;
}

export interface Sum {
  readonly count: number;
  readonly worth: string;
}

/** `GET payments?state&endpoint&network&payer&transaction&after`, newest first, fifty a page. */
export interface PaymentPage {
  readonly payments: readonly PaymentRow[];
  /** To be given back for the next page; absent on the last. */
  readonly after?: string;
}

export interface PaymentRow {
  readonly id: string;
  readonly createdAt: number;
  readonly state: string;
  readonly endpoint: string;
  readonly rail: string;
  readonly network: string;
  readonly payer: string;
  /** Dollars, and the asset's symbol. */
  readonly amount: string;
  readonly asset: string;
  readonly cost?: string;
  readonly transaction?: string;
  readonly reason?: string;
  /** Its work was done and will not be paid. */
  readonly isLoss?: true;
}

/** `GET payments/<id>`. */
export interface PaymentDetail extends PaymentRow {
  /** In order: `challenge` where known, `verified`, `claimed`, `upstream`, `settled`, `answered`, `refunded`, and attempts again. */
  readonly timeline: readonly Moment[];
  readonly refunds: readonly RefundRow[];
  /** Dollars that can be given back still. */
  readonly left: string;
}

export interface Moment {
  readonly at: number;
  readonly step: string;
  /** How long it took, in milliseconds. */
  readonly ms?: number;
  /** In words: the upstream and its status, the transaction, why it failed. */
  readonly detail?: string;
}

export interface RefundRow {
  readonly number: number;
  readonly amount: string;
  readonly state: 'wanted' | 'sending' | 'sent';
  readonly reason: string;
  readonly createdAt: number;
  readonly transaction?: string;
  readonly fault?: string;
}

/** `POST payments/<id>/refund`. Answered with the PaymentDetail. */
export interface RefundOrderForm {
  /** Left out: all that is left. */
  readonly amount?: string;
  readonly reason: string;
  /** Names it: with the same one it is done once. Left out: a new one. */
  readonly reference?: string;
  /** What the payment was shown as: nothing is given back where that has changed. Left out: whatever it is. */
  readonly state?: string;
}

/** `GET upstreams?from&to`. */
export interface UpstreamRow {
  readonly name: string;
  readonly isOpen: boolean;
  /** Exchanges with it, those that failed, and what they cost, in the period. */
  readonly calls: number;
  readonly failures: number;
  readonly spend: string;
  readonly p50?: number;
  readonly p95?: number;
  /** Endpoints not sold for want of a key, and the variables that are missing. */
  readonly missing: readonly string[];
}

/** `GET networks`. */
export interface NetworkRow {
  readonly id: string;
  readonly caip2: string;
  readonly payTo?: string;
  /** Absent: nothing settles there now. */
  readonly facilitator?: string;
  /** Where this process settles itself. */
  readonly signer?: {
    readonly address: string;
    readonly balance: string;
    readonly coin: string;
    readonly isLow: boolean;
  };
  /** Dollars that calls were charged to channels there and that are not claimed. */
  readonly unclaimed: string;
}

/** `GET keys`. */
export interface KeyPage {
  readonly liability: string;
  readonly keys: readonly KeyRow[];
}

export interface KeyRow {
  readonly id: string;
  /** Its first characters. */
  readonly shown: string;
  readonly label: string;
  readonly balance: string;
  readonly spentToday: string;
  readonly dailyLimit?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly disabledAt?: number;
}

/** `POST keys`. Answered with `{key: KeyRow, secret: string}`: the secret is shown once. */
export interface NewKeyForm {
  readonly label: string;
  readonly credits: string;
  readonly dailyLimit?: string;
}

/** `POST keys/<id>`: any of these. Answered with the KeyRow. */
export interface KeyForm {
  readonly disabled?: boolean;
  readonly topUp?: string;
  readonly note?: string;
  /** Names the top-up: with the same one it is done once. Left out: a new one. */
  readonly reference?: string;
  readonly dailyLimit?: string | null;
}

/** `GET catalogue`. */
export interface CataloguePage {
  readonly version: string;
  readonly endpoints: readonly EndpointRow[];
  /** What the files say that is not sold yet; absent: nothing. */
  readonly pending?: {
    /** Of the files; absent where they have problems. */
    readonly version?: string;
    /** Lines for people, as `npm run diff` prints them. */
    readonly changes: readonly string[];
    /** Faults with file, line and column: then nothing can be loaded. */
    readonly problems: readonly string[];
  };
}

export interface EndpointRow {
  readonly name: string;
  readonly title: string;
  readonly path: string;
  /** In words. */
  readonly price: string;
  readonly networks: readonly string[];
  readonly upstream: string;
  /** Of the last thirty days. */
  readonly calls: number;
  readonly revenue: string;
  readonly cost: string;
  readonly margin: string;
  readonly isSold: boolean;
}

/** `POST catalogue/reload`: answered with the CataloguePage; 409 with `error` where it is refused. */
export interface ReloadForm {
  /** What was looked at: 409 where the files say something else by now. Left out: whatever they say. */
  readonly version?: string;
}

/** `GET export?from&to&format=csv|jsonl`: the books of a period, streamed, as `npm run export` writes them. */

/** `POST session {token}` sets a cookie; 401 where the token is wrong. `DELETE session` ends it. */
