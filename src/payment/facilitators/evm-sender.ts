/**
 * Sends the transactions of one account on one EVM chain and sees them into blocks: what a node loses is sent again,
 * what is priced too low is replaced at a higher fee, and a number that nobody uses is used up, for every later
 * transaction waits for it.
 */
import {
  type Address,
  BaseError,
  FeeCapTooLowError,
  type Hex,
  keccak256,
  NonceTooHighError,
  NonceTooLowError,
  type PrivateKeyAccount,
  type PublicClient,
  UnknownNodeError,
} from 'viem';
import { getNodeError } from 'viem/utils';
import type { NonceStore } from '../../store/nonce-store.ts';
import { every } from '../../timing.ts';
import { openTurns } from '../../turns.ts';
import type { Attempt } from './attempt.ts';

interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** A call with its gas limit, its first fees, and what it may cost in all. */
export interface PricedCall extends Fees {
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
  /** Whether it is still worth sending at this fee for each gas. */
  isWorth(maxFeePerGas: bigint): boolean;
}

export interface EvmSenderOptions {
  /** Names the account on its chain for `nonces`. */
  readonly name: string;
  readonly account: PrivateKeyAccount;
  readonly chainId: number;
  readonly reader: PublicClient;
  /** Repeats nothing by itself: the second send of a transaction is refused although the first went through. */
  readonly once: PublicClient;
  nonces(): NonceStore;
  /** After how long what is in no block is seen to, in milliseconds. */
  readonly resendAfterMs: number;
  /** How long the chain may stand at a number, while later ones wait, before that number is used up. */
  readonly stalledAfterMs: number;
}

/** One of our transactions with all that took its place. */
interface Sent extends Fees {
  readonly nonce: number;
  readonly call: PricedCall;
  readonly hashes: Hex[];
  readonly sentAt: number;
  serialized: Hex;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  /** When its fees were last raised. */
  raisedAt: number;
  /** Since when the chain counts its number as used; a reorganisation may take that back. */
  countedAt: number | undefined;
}

/** Reorganisations come soon, or not at all. */
const WATCHED_MS = 60_000;
/** What no fee brings into a block for so long is given up. */
const GIVEN_UP_MS = 600_000;
/** After so long without a transaction of this process the chain is asked for its count again. */
const COUNT_AGAIN_MS = 60_000;
/** Unused numbers that are used up in one go. */
const MOST_AT_ONCE = 50;
/** A transfer of nothing. */
const EMPTY_GAS = 21_000n;

/** Where a transaction waits in spite of its fees, no more than so many times those of the others is offered. */
const MOST_TIMES_MARKET = 4n;

/** Nodes replace a transaction only by one that pays a tenth more in both fees. */
const raised = (fee: bigint): bigint => (fee * 9n) / 8n + 1n;
const larger = (left: bigint, right: bigint): bigint => (left > right ? left : right);
const above = (sent: Fees, market: Fees): Fees => ({
  maxFeePerGas: larger(raised(sent.maxFeePerGas), market.maxFeePerGas),
  maxPriorityFeePerGas: larger(raised(sent.maxPriorityFeePerGas), market.maxPriorityFeePerGas),
});

const refusalOf = (error: unknown): BaseError | undefined => {
  const refusal = error instanceof BaseError ? getNodeError(error, {}) : undefined;
  return !refusal || refusal instanceof UnknownNodeError ? undefined : refusal;
};

/** Whoever says so has it: of nodes behind one address another may have been asked before. */
const isKnown = (error: unknown): boolean =>
  error instanceof BaseError && /\balready ?(?:known|imported)|\bknown transaction/i.test(error.details);

export interface EvmSender {
  /** Hash of the transaction. Throws the node's refusal, as viem has it, or what kept it from answering. */
  send(call: PricedCall, attempt: Attempt): Promise<Hex>;
  /** The transaction of this hash and those that replaced it: one of them may be in a block. */
  hashesOf(hash: Hex): readonly Hex[];
  close(): void;
}

export function openEvmSender(options: EvmSenderOptions): EvmSender {
  const { name, account, chainId, reader, once, nonces, resendAfterMs, stalledAfterMs } = options;
  const { address } = account;
  const watched = new Map<number, Sent>();
  /** One after the other, so that a node sees the numbers in their order. */
  const inTurn = openTurns();
  let lastTakenAt = 0;
  let stopWatching: (() => void) | undefined;
  /** What the chain's count was when it was last seen to change, and when that was. */
  let stood = { count: -1, since: 0 };

  const count = (blockTag: 'latest' | 'pending') => reader.getTransactionCount({ address, blockTag });

  const sign = (nonce: number, { to, data, gas }: Pick<PricedCall, 'to' | 'data' | 'gas'>, fees: Fees): Promise<Hex> =>
    account.signTransaction({
      type: 'eip1559',
      chainId,
      nonce,
      to,
      data,
      gas,
      maxFeePerGas: fees.maxFeePerGas,
      maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
    });

  async function take(askChain: boolean): Promise<number> {
    const atLeast = askChain ? await count('pending') : 0;
    lastTakenAt = Date.now();
    const now = nonces().now();
    return nonces().takeNonce({ account: name, atLeast, now, forgottenBefore: askChain ? now - GIVEN_UP_MS : 0 });
  }

  async function sendNext(call: PricedCall, attempt: Attempt, isAgain = false): Promise<Hex> {
    const now = Date.now();
    const nonce = await take(isAgain || now - lastTakenAt > COUNT_AGAIN_MS);
    const serialized = await sign(nonce, call, call);
    const hash = keccak256(serialized);
    const { maxFeePerGas, maxPriorityFeePerGas } = call;
    const sent: Sent = {
      ...{ nonce, call, hashes: [hash], serialized, maxFeePerGas, maxPriorityFeePerGas },
      ...{ sentAt: now, raisedAt: now, countedAt: undefined },
    };
    attempt.sent = true;
    try {
      await once.sendRawTransaction({ serializedTransaction: serialized });
    } catch (error) {
      const refusal = refusalOf(error);
      const isEarly = refusal instanceof NonceTooHighError || refusal instanceof FeeCapTooLowError;
      const isOnItsWay = isEarly || isKnown(error);
      // Without an answer it may be on its way. Where earlier numbers are still on theirs, or fees have risen just now,
      // it is taken later.
      if (!refusal || isOnItsWay) watch(sent);
      if (isOnItsWay) return hash;
      if (!refusal) throw error;
      attempt.sent = false;
      await nonces().returnNonce(name, nonce);
      if (refusal instanceof NonceTooLowError && !isAgain) return sendNext(call, attempt, true);
      attempt.rejected = true;
      throw refusal;
    }
    watch(sent);
    return hash;
  }

  function watch(sent: Sent): void {
    watched.set(sent.nonce, sent);
    stopWatching ??= every(resendAfterMs, look, () => undefined);
  }

  async function look(): Promise<void> {
    const now = Date.now();
    const reached = await count('latest');
    if (reached !== stood.count) stood = { count: reached, since: now };
    for (const sent of watched.values()) {
      if (sent.nonce >= reached) sent.countedAt = undefined;
      else sent.countedAt ??= now;
      const isOver = sent.countedAt === undefined ? now - sent.sentAt > GIVEN_UP_MS : now - sent.countedAt > WATCHED_MS;
      if (isOver) watched.delete(sent.nonce);
    }
    const open = [...watched.values()].filter(({ nonce }) => nonce >= reached).sort((a, b) => a.nonce - b.nonce);
    if (open.length > 0) await advance(reached, open);
    if (watched.size > 0) return;
    stopWatching?.();
    stopWatching = undefined;
  }

  /** `reached` is the number that the chain waits for; `open` are ours from there on, in order. */
  async function advance(reached: number, open: readonly Sent[]): Promise<void> {
    const pooled = await count('pending');
    const market = await reader.estimateFeesPerGas();
    const [head] = open;
    const hasStalled = Date.now() - Math.max(stood.since, head?.raisedAt ?? 0) >= stalledAfterMs;
    const isOurs = head?.nonce === reached;
    const isMoving = isOurs && head && (await push(head, market, hasStalled));
    for (const sent of open) if (sent !== head && sent.nonce >= pooled) await resend(sent);
    if (isMoving || !hasStalled) return;
    const fees = isOurs && head ? above(head, market) : market;
    const waiting = isOurs ? open.slice(1) : open;
    // To make way takes gas as well: at a fee that none of those behind is worth, all wait for a lower one.
    if (!waiting.some(({ call }) => call.isWorth(fees.maxFeePerGas))) return;
    await useUp(reached, fees);
    const last = waiting.at(-1)?.nonce ?? reached;
    for (let more = MOST_AT_ONCE; more > 0; more -= 1) {
      const unused = await count('pending');
      if (unused >= last || watched.has(unused)) return;
      if (!(await useUp(unused, market))) return;
    }
  }

  /** True where the transaction can get into a block: at its own fees, or at higher ones that it is worth. */
  async function push(sent: Sent, market: Fees, hasStalled: boolean): Promise<boolean> {
    if (market.maxFeePerGas < raised(sent.maxFeePerGas) && !hasStalled) return resend(sent);
    const fees = above(sent, market);
    if (fees.maxFeePerGas > MOST_TIMES_MARKET * market.maxFeePerGas || !sent.call.isWorth(fees.maxFeePerGas)) {
      await resend(sent);
      return false;
    }
    const serialized = await sign(sent.nonce, sent.call, fees);
    // Noted first: the answer may be lost.
    sent.hashes.push(keccak256(serialized));
    if (!(await isTaken(serialized))) return false;
    Object.assign(sent, { serialized, ...fees, raisedAt: Date.now() });
    return true;
  }

  const resend = ({ serialized }: Sent): Promise<boolean> => isTaken(serialized);

  /** Whether the node has it now. */
  async function isTaken(serializedTransaction: Hex): Promise<boolean> {
    try {
      await once.sendRawTransaction({ serializedTransaction });
      return true;
    } catch (error) {
      // By this a node also says that it has the transaction already.
      return refusalOf(error) instanceof NonceTooLowError;
    }
  }

  /** Another's transaction that can get into a block stays: a node replaces none that pays as much. */
  const useUp = async (nonce: number, fees: Fees): Promise<boolean> =>
    isTaken(await sign(nonce, { to: address, data: '0x', gas: EMPTY_GAS }, fees));

  return {
    send: (call, attempt) => inTurn(() => sendNext(call, attempt)),
    hashesOf: (hash) => [...watched.values()].find(({ hashes }) => hashes.includes(hash))?.hashes ?? [hash],
    close: () => stopWatching?.(),
  };
}
