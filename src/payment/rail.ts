/** A rail: a protocol by which calls are paid for. Each is a folder of `src/rails/`. */
import type { NetworkId, Route } from '../catalogue/types.ts';
import type { Problem, ProblemDetail } from '../errors.ts';
import type { Atomic, Money } from '../money.ts';
import type { Settlement, Transfer } from '../on-chain/settlement.ts';
import type { GatewayRequest, ToolCall } from '../request/request.ts';
import type { Receipt } from '../store/store.ts';
import type { Holder } from './exposure/holder.ts';
import type { Hold } from './hold.ts';
import type { RefundSender } from './refunds/sender.ts';
import type { Refusal } from './refusal.ts';
import type { UpfrontReason } from './upfront-reason.ts';

/** What a request costs and what it was: enough to write a challenge and to check a payment against it. */
export interface Quote {
  readonly route: Route;
  readonly amount: Money;
  /** Where this request can be paid: the route's networks, or fewer. */
  readonly networks: readonly NetworkId[];
  /** How long the work may take. */
  readonly deadlineMs: number;
  /** The answer holds a secret. */
  readonly isSecret: boolean;
  readonly request: GatewayRequest;
}

/** What a payer shows: decoded and bounded, but nothing in it is believed yet. */
export interface Credential {
  /** See PaymentFacts.id. */
  readonly id: string;
  /** See PaymentFacts.fingerprint. */
  readonly fingerprint: string;
  /** False where everything in it can be read off the chain once it is settled. */
  readonly isPrivate: boolean;
  /** How often it may be tried, where its payer cannot sign another for the same; undefined: a few times. */
  readonly attempts?: number;
  /** What the payer calls its purchase, where the rail knows such a name: it is bought by one payment. */
  readonly identifier?: string | undefined;
}

/** The price of a request and how it can be paid, before a transport has put it into words. */
export interface Challenge {
  readonly id: string;
  readonly quote: Quote;
  /** Why the payment that came along was not taken. */
  readonly refusal: Refusal | undefined;
  /** What is wrong with the request, before it is paid for. */
  readonly invalidParams: readonly ProblemDetail[] | undefined;
}

/** A payment that was found good for a quote. Nothing has moved; it settles itself. */
export interface VerifiedPayment {
  /** Neutral id of the network, or CAIP-2 where the rail has chains of its own. */
  readonly network: string;
  /** See ExposureLimits.chain. */
  readonly chain?: string;
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** What may be moved at most. */
  readonly amount: Atomic;
  /** Decimals of the asset. */
  readonly decimals: number;
  /** Within its rail: `exact`, `upto`, `charge`. */
  readonly scheme: string;
  /** Why settling has to come before the upstream call; undefined: it comes after the result. */
  readonly upfront: UpfrontReason | undefined;
  /** Milliseconds since the epoch: when the challenge was given, as far as the payment shows it, or earlier. */
  readonly offeredAt: number;
  /** Whether its challenge said that it settles first, where the payment shows it: another instance may have given that. */
  readonly offeredUpfront?: boolean | undefined;
  /** False where what is to be paid is known only after the work. */
  readonly canSettleUpfront: boolean;
  /** What its chain says of the payer. */
  readonly holder: Holder;
  /** Who has signed, where that may be another than the payer: `Idempotency-Key`s are this one's. */
  readonly signer?: string;
  /** Whose limits it counts for, and whose `Idempotency-Key`s it has, where the payer itself has signed nothing of it. Neither: those of the address alone. */
  readonly caller?: string;
  /** True where the payer, or the signer, has been proven already, and not only the chain will. */
  readonly payerIsProven: boolean;
  /** What `Rail.recover` needs, as JSON. No signatures. */
  readonly recoveryQuery: string;
  /** Present where the money is locked before the work: then `settle` takes of it what is due and gives the rest back. */
  readonly hold?: Hold | undefined;
  /**
   * True where the money is the gateway's to take already: nothing else that its payer has under way can cost it, and settling
   * asks nobody and does not fail.
   */
  readonly isCovered?: boolean;
  /**
   * Whether what was settled pays for the transactions that it took: of a price by use it may be next to nothing. Left out: it
   * does, or they are another's to pay.
   */
  isPaidFor?(): boolean;
  /** Moves money, once. Never throws. `amount` is at most the quote; a rail that moves all or nothing ignores it. */
  settle(amount: Money): Promise<Settlement>;
}

/** An HTTP answer, ready to be sent. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[]>;
  readonly body: string | Buffer;
}

/** A rail's words in HTTP. */
export interface HttpWire<C extends Credential, Asked extends Challenge> {
  /** Undefined when the request carries no credential. Throws Refusal for a malformed one, Problem for several. */
  read(request: GatewayRequest): C | undefined;
  /** The 402. */
  challenge(challenge: Asked): HttpAnswer;
  /** A problem with a request of this rail in the rail's own words; `shared`: in those of all. */
  problem?(problem: Problem, shared: HttpAnswer): HttpAnswer;
  /** The headers that tell of a settlement: the same for the same receipt, always. */
  receipt(receipt: Receipt): Record<string, string>;
  /** Whether they may stand beside a problem: what was paid for is owed, or its answer is not kept any more. */
  readonly tellsOwed?: boolean;
}

/** What a rail says in a tool's result: members of `_meta`, and what is the result itself where it says that. */
export interface ToolWords {
  readonly meta: Readonly<Record<string, unknown>>;
  readonly structured?: Readonly<Record<string, unknown>>;
}

/** A rail's words in the Model Context Protocol. */
export interface McpWire<C extends Credential, Asked extends Challenge> {
  /** Whether a payment of this rail came along, readable or not. */
  carries(tool: ToolCall): boolean;
  /** Undefined when the call carries no credential. Throws Refusal for a malformed one, Problem for an unknown kind. */
  read(request: GatewayRequest): C | undefined;
  challenge(challenge: Asked): ToolWords;
  /** How it can be paid, for who only asks. */
  offers(challenge: Asked): readonly object[];
  /** Members of `_meta` that tell of a settlement: the same for the same receipt and call, always. */
  receipt(receipt: Receipt, tool: ToolCall): Readonly<Record<string, unknown>>;
  readonly tellsOwed?: boolean;
  /** What a server says of the rail in its experimental capabilities. */
  readonly capabilities?: Readonly<Record<string, object>>;
}

/** Stands before what costs something; each may throw Problem `rate_limited`, the last two excepted. */
export interface PayerGate {
  /** A question that costs nothing. */
  asks(): void;
  /** It comes with a proof that nobody has looked at. */
  arrives(): void;
  /** Whose deposit is to be given back, once that is sure. */
  returns(payer: string): void;
  refused(): void;
  /** It was given back, by a transaction of ours that nobody pays for. */
  returned(): void;
}

/** What a rail answers by itself, at a path of the gateway's own and to `GET`. */
export interface OwnPath {
  readonly path: string;
  /** Throws Problem. */
  answer(request: GatewayRequest, gate: PayerGate): Promise<HttpAnswer>;
}

export interface Rail<C extends Credential = Credential, Asked extends Challenge = Challenge> {
  readonly name: string;
  /** Whether it can be paid now on a chain of its own, that is not in `networks.yaml`; left out: it has none. */
  isPaidOnOwnChain?(): boolean;
  readonly http: HttpWire<C, Asked>;
  readonly ownPath?: OwnPath | undefined;
  readonly mcp: McpWire<C, Asked>;
  challenge(quote: Quote, refusal?: Refusal, invalidParams?: readonly ProblemDetail[]): Asked;
  /** Moves no money. `settlesNow`: its work is done or comes after, so it need not outlive that. Throws Refusal. */
  verify(credential: C, quote: Quote, settlesNow?: boolean): Promise<VerifiedPayment>;
  /** Asks the chain what became of a payment. Never throws. */
  recover(recoveryQuery: string): Promise<Settlement>;
  /**
   * Ends a payment that is locked and that nobody works on: takes it where its work is done, gives it back otherwise.
   * Undefined: it is nobody's any more, and may be tried again. Never throws. Left out: this rail locks nothing.
   */
  endHold?(recoveryQuery: string, isDone: boolean): Promise<Settlement | undefined>;
  /** How deep a transaction lies in its chain; 0: the chain does not have it (any more). Throws where nobody can say. */
  confirmations(recoveryQuery: string, transaction: string): Promise<number>;
  /** Gives money back, where a key for that is configured. */
  readonly refunds?: RefundSender | undefined;
  /** What is kept of a settlement; `settledAt` in milliseconds since the epoch. */
  receipt(recoveryQuery: string, transfer: Transfer, settledAt: number): Receipt;
}
