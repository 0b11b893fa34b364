/**
 * The chain and the facilitator in front of it. What moved stands in the ledger, whatever anybody was told: an
 * authorization is spent once, by the transaction that lands first, and never after it has expired.
 */
import { refused, type Settlement, unknown, unused } from '../../src/on-chain/settlement.ts';
import type { Outcome } from './operation.ts';

/** What a facilitator may answer, and do. What it sent without an answer lands at once, at any later time, or never. */
export type SettlementAnswer = 'settles' | 'refuses' | 'sends it and says nothing';

/** Milliseconds since the model's beginning, when every authorization expires. */
export const EXPIRES_AT = 3_600_000;

export interface Chain {
  isSpent(payment: string): boolean;
  /** What is spent, or may be yet. */
  charged(): ReadonlySet<string>;
  /** Transactions that were sent and have not landed. */
  readonly sent: readonly string[];
  land(payment: string): void;
  lose(payment: string): void;
  settle(payment: string): readonly Outcome<Settlement>[];
  /** What became of a payment. */
  look(payment: string): readonly Outcome<Settlement>[];
  /** Whether a facilitator finds it good. */
  isGood(payment: string): boolean;
  /** The rest of the run: every answer is the honest one. */
  calmDown(): void;
  /** All that decides what can follow. */
  state(): unknown;
}

export interface ChainParts {
  readonly answers: readonly SettlementAnswer[];
  /** How many questions stay without an answer. */
  readonly silences: number;
  /** The amount of each payment. */
  readonly amount: bigint;
  /** Milliseconds since the model's beginning. */
  time(): number;
}

export function openChain({ answers, silences, amount, time }: ChainParts): Chain {
  const spent = new Set<string>();
  const sent: string[] = [];
  let silencesLeft = silences;
  let isCalm = false;

  const isExpired = () => time() >= EXPIRES_AT;
  const settled = (payment: string): Settlement => ({
    state: 'settled',
    transaction: `transaction of ${payment}`,
    amount,
  });
  const isUsed = (payment: string) => spent.has(payment) || isExpired();
  const remove = (payment: string) => sent.splice(sent.indexOf(payment), 1);

  function answer(payment: string, label: SettlementAnswer): Outcome<Settlement> {
    const happen = (): Settlement => {
      switch (label) {
        case 'settles':
          spent.add(payment);
          return settled(payment);
        case 'refuses':
          return refused('the facilitator refuses');
        case 'sends it and says nothing':
          sent.push(payment);
          return unknown('no answer');
      }
    };
    return { label, happen };
  }

  return {
    isSpent: (payment) => spent.has(payment),
    charged: () => new Set([...spent, ...sent]),
    sent,
    land(payment) {
      remove(payment);
      if (!isUsed(payment)) spent.add(payment);
    },
    lose: remove,
    settle(payment) {
      if (isUsed(payment)) {
        const used: Settlement = { state: 'refused', reason: 'used', spent: true };
        const refusal = { label: 'refuses what is used', happen: () => used };
        const silence = { label: 'says nothing of what is used', happen: () => unknown('no answer') };
        return isCalm ? [refusal] : [refusal, silence];
      }
      return (isCalm ? ['settles' as const] : answers).map((label) => answer(payment, label));
    },
    look(payment) {
      const truth = {
        label: spent.has(payment) ? 'finds it' : isExpired() ? 'finds it expired' : 'does not find it',
        happen: () =>
          spent.has(payment) ? settled(payment) : isExpired() ? refused('it expired') : unused('not used yet'),
      };
      if (isCalm || silencesLeft === 0) return [truth];
      const silence = () => {
        silencesLeft -= 1;
        return unknown('the node says nothing');
      };
      return [truth, { label: 'hears nothing', happen: silence }];
    },
    isGood: (payment) => !isUsed(payment),
    calmDown() {
      isCalm = true;
    },
    state: () => [[...spent].sort(), sent, silencesLeft],
  };
}
