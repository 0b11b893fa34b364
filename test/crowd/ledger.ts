/** What each part of the crowd did, what it got from providers, and what it paid. */
import type { Money, Rate } from '../../src/money.ts';
import type { Wallet } from './wallets.ts';

/** Prepaid credits of the crowd: what of them was spent. */
export interface Key {
  readonly apiKey: string;
  /** What its calls were charged. */
  spent(): Promise<Money>;
  /** What is left of what was paid for it. */
  left(): Promise<Money>;
}

export class Account {
  readonly name: string;
  runs = 0;
  /** Calls with a payment or a key. */
  calls = 0;
  /** Status and code of answers -> how often. */
  readonly answers = new Map<string, number>();
  /** Billed calls of providers, and what they cost the operator in trillionths of a dollar. */
  upstreamCalls = 0;
  cost: Rate = 0n;
  /** What settling, or trying to, cost in gas or lamports, at the prices of `chain-costs.ts`. */
  settling: Rate = 0n;
  /** Bytes that the gateway read for it. */
  bytes = 0;
  /** What went otherwise than a defence promises. */
  readonly faults: string[] = [];
  readonly wallets: Wallet[] = [];
  /** Of these, the ones that bought keys: settling that is paid for by what lies on the key. */
  readonly buyers = new Set<Wallet>();
  readonly keys: Key[] = [];

  constructor(name: string) {
    this.name = name;
  }

  answered(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
  }

  /** Millionths of a dollar; every asset of the sandbox has six decimals. What lies on a key is not the operator's yet. */
  async paid(): Promise<Money> {
    const sent = await Promise.all(this.wallets.map((wallet) => wallet.paid()));
    const left = await Promise.all(this.keys.map((key) => key.left()));
    return sum(sent) - sum(left);
  }
}

export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);
