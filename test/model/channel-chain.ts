/**
 * The chain of one channel: its contract as `src/sandbox/chains/BatchSettlement.sol` has it, and the account that drives it.
 * What was sent without an answer lands at once, at any later time while a chain still takes it, or never.
 */
import type { ChannelConfig } from '../../src/on-chain/channel-config.ts';
import { refused, type Settlement, unknown } from '../../src/on-chain/settlement.ts';
import type { ChannelClaim, ChannelOperator, Deposit } from '../../src/payment/channels/operator.ts';
import { FacilitatorUnreachable } from '../../src/payment/facilitators/facilitator.ts';
import type { ChannelState } from '../../src/store/channels/channel-store.ts';
import type { Await, Outcome } from './operation.ts';
import type { TransactionAnswer } from './scenario.ts';

/** The signature of a voucher, as its payer makes it. */
export const signatureOf = (max: bigint): string => `0x${max.toString(16).padStart(64, '0')}`;

/** A chain takes a transaction no later than that: for longer a channel is kept for one that has no answer. */
const TAKEN_MS = 100_000;

interface Sent {
  readonly label: string;
  readonly at: number;
  readonly land: () => void;
}

export interface ChannelChain {
  readonly balance: bigint;
  readonly totalClaimed: bigint;
  /** Transactions that could land and are not known to have. */
  readonly sent: readonly Sent[];
  /** Deposits that were sent although one before them had its answer. */
  readonly needlessDeposits: number;
  land(sent: Sent): void;
  lose(sent: Sent): void;
  /** As one instance drives it. */
  operator(waits: Await): ChannelOperator;
  calmDown(): void;
  state(): unknown;
}

export interface ChannelChainParts {
  readonly config: ChannelConfig;
  /** What was deposited before the beginning. */
  readonly balance: bigint;
  readonly transactions: readonly TransactionAnswer[];
  /** How many questions stay without an answer. */
  readonly silences: number;
  time(): number;
}

class Reverted extends Error {}

export function openChannelChain({ config, transactions, silences, time, ...parts }: ChannelChainParts): ChannelChain {
  let { balance } = parts;
  let totalClaimed = 0n;
  let refundNonce = 0;
  let deposits = 0;
  let unanswered = 0;
  let silencesLeft = silences;
  let isCalm = false;
  const used = new Set<string>();
  let sent: Sent[] = [];

  const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

  function deposit({ salt, amount }: Deposit): void {
    if (used.has(salt)) throw new Reverted('the authorization is used');
    used.add(salt);
    balance += amount;
  }

  function claim({ max, charged, signature }: ChannelClaim): void {
    if (charged > max) throw new Reverted('ClaimExceedsCeiling');
    if (charged > balance) throw new Reverted('ClaimExceedsBalance');
    if (signature !== signatureOf(max)) throw new Reverted('InvalidSignature');
    if (charged > totalClaimed) totalClaimed = charged;
  }

  function refund(wanted: bigint): void {
    refundNonce += 1;
    balance -= smaller(wanted, balance - totalClaimed);
  }

  /** All of a transaction, or nothing. */
  function run(transaction: () => void): string | undefined {
    const before = { balance, totalClaimed, refundNonce };
    try {
      transaction();
      return undefined;
    } catch (error) {
      if (!(error instanceof Reverted)) throw error;
      ({ balance, totalClaimed, refundNonce } = before);
      return error.message;
    }
  }

  const remove = (one: Sent): void => {
    sent = sent.filter((other) => other !== one);
  };
  const inReach = (): Sent[] => sent.filter(({ at }) => time() - at < TAKEN_MS);

  /** What becomes of a transaction that is sent now. */
  const sending = (name: string, transaction: () => void, amount: bigint): Outcome<Settlement>[] =>
    (isCalm ? (['lands'] as const) : transactions).map((label) => ({
      label,
      happen: (): Settlement => {
        switch (label) {
          case 'lands': {
            const fault = run(transaction);
            return fault === undefined ? { state: 'settled', transaction: `0x${name}`, amount } : refused(fault);
          }
          case 'is turned down':
            return refused('the node turns it down');
          case 'has no answer':
            unanswered += name === 'deposit' ? 1 : 0;
            sent.push({ label: name, at: time(), land: transaction });
            return unknown('the chain has not confirmed it');
        }
      },
    }));

  const truth = (): ChannelState => ({
    balance: balance.toString(),
    totalClaimed: totalClaimed.toString(),
    withdrawRequestedAt: 0,
    refundNonce: String(refundNonce),
  });

  /** A question that the node answers, or not. */
  function asked<Answer>(answer: () => Answer): readonly Outcome<Answer>[] {
    const found = { label: 'told', happen: answer };
    if (isCalm || silencesLeft === 0) return [found];
    const silence = (): never => {
      silencesLeft -= 1;
      throw new FacilitatorUnreachable('the node says nothing');
    };
    return [found, { label: 'hears nothing', happen: silence }];
  }

  return {
    get balance() {
      return balance;
    },
    get totalClaimed() {
      return totalClaimed;
    },
    get sent() {
      return inReach();
    },
    get needlessDeposits() {
      return Math.max(0, deposits - unanswered - 1);
    },
    land(one) {
      remove(one);
      run(one.land);
    },
    lose: remove,
    operator: (waits) => ({
      authorizer: config.receiverAuthorizer,
      isSigned: async (_channel, _config, { max, signature }) => signature === signatureOf(max),
      read: () => waits('reads the channel', () => asked(truth)),
      verifyDeposit: (_, { salt }) =>
        waits('asks whether the deposit is good', () =>
          asked(() => (used.has(salt) ? { valid: false, reason: 'used' } : { valid: true, payer: config.payer })),
        ),
      isDeposited: (_, { salt }) => waits('asks whether the deposit is made', () => asked(() => used.has(salt))),
      deposit: (_, given) =>
        waits('deposits', () => {
          const isMade = used.has(given.salt);
          const made: Settlement = { state: 'settled', transaction: '', amount: given.amount };
          if (isMade) return [{ label: 'is made already', happen: () => made }];
          return sending('deposit', () => deposit(given), given.amount).map(({ label, happen }) => ({
            label,
            happen: () => {
              deposits += label === 'is turned down' ? 0 : 1;
              return happen();
            },
          }));
        }),
      charged: () => undefined,
      claim: (claims) =>
        waits('claims', () =>
          sending('claim', () => claims.forEach(claim), 0n).map(({ label, happen }) => ({
            label,
            happen: async () => {
              const became = await happen();
              if (became.state === 'settled') {
                return { claimed: claims, refused: [], unsent: [], transaction: became.transaction };
              }
              throw new FacilitatorUnreachable(became.reason);
            },
          })),
        ),
      refund: (row, amount) =>
        waits('gives the deposit back', () => {
          const transaction = () => {
            if (row.due > 0n) claim(row);
            refund(amount);
          };
          return sending('refund', transaction, amount);
        }),
    }),
    calmDown() {
      isCalm = true;
    },
    state: () => [
      `${balance} ${totalClaimed} ${refundNonce} ${deposits} ${unanswered} ${silencesLeft}`,
      [...used],
      inReach().map(({ label, at }) => [label, at]),
    ],
  };
}
