import { createHash, randomBytes } from 'node:crypto';
import {
  type Address,
  address,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  lamports,
  type Signature,
} from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import { encodeBase58 } from '../../on-chain/base58.ts';
import { CLOCK } from '../../payment/chains/solana-clock.ts';
import { readTokenAccount, TOKEN_ACCOUNT_BYTES, TOKEN_PROGRAM } from './spl.ts';

/** Solana's clock: a slot takes 400 ms, and a blockhash is good for the 150 blocks after its own, about a minute. */
const SLOT_MS = 400;
const BLOCKHASH_LIFE = 150;
/** Slots until one is final. */
const FINALITY = 32;
/** Any number that is not zero: clients take slot 0 for "no answer". */
const FIRST_SLOT = 1_000;
const MOST_TRANSACTIONS = 20_000;
const PROGRAM_LOADER = 'BPFLoader2111111111111111111111111111111111';

/** A transaction error as Solana's JSON-RPC writes it. */
export type TransactionError = string | { readonly InstructionError: readonly [index: number, error: unknown] };

/** What a token account that a transaction names had, in atomic units. */
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

export interface LedgerTransaction {
  readonly signature: Signature;
  readonly slot: number;
  /** Seconds since the epoch. */
  readonly blockTime: number;
  readonly wire: Buffer;
  readonly addresses: readonly string[];
  /** Before and after it. */
  readonly tokens: { readonly pre: readonly TokenBalance[]; readonly post: readonly TokenBalance[] };
  readonly error: TransactionError | null;
  readonly logs: readonly string[];
  readonly unitsConsumed: number;
}

interface Simulation {
  /** Lamports of an account after the transaction; undefined for one that it does not touch or leaves empty. */
  lamportsAfter(at: string): bigint | undefined;
  readonly error: TransactionError | null;
  readonly logs: readonly string[];
  readonly unitsConsumed: number;
}

/** A transaction that the ledger does not take in, with the reason. */
export class TransactionRefused extends Error {
  readonly error: TransactionError;
  readonly logs: readonly string[];
  constructor(error: TransactionError, logs: readonly string[] = []) {
    super(`Transaction simulation failed: ${JSON.stringify(error)}`);
    this.error = error;
    this.logs = logs;
  }
}

/** LiteSVM tells errors as numbers of its own; only its debug text has their names. */
function errorOf(failed: FailedTransactionMetadata): TransactionError {
  const [, name, index, inner, code] = /err: (\w+)(?:\((\d+), (\w+)(?:\((\d+)\))?\))?/.exec(failed.toString()) ?? [];
  if (name !== 'InstructionError') return name ?? 'Unknown';
  return { InstructionError: [Number(index), inner === 'Custom' ? { Custom: Number(code) } : inner] };
}

const NOT_RUN = { logs: [], unitsConsumed: 0, lamportsAfter: () => undefined };

const outcomeOf = (meta: TransactionMetadata) => ({
  logs: meta.logs(),
  unitsConsumed: Number(meta.computeUnitsConsumed()),
});

/** A one-node Solana in memory: LiteSVM runs the transactions, the clock makes slots and blockhashes. */
export class SolanaLedger {
  private readonly svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  private readonly now: () => number;
  private readonly start: number;
  private readonly seed = randomBytes(32);
  /** Blockhash -> slot, oldest first. */
  private readonly blockhashes = new Map<string, number>();
  private readonly transactions = new Map<string, LedgerTransaction>();

  constructor(now: () => number) {
    this.now = now;
    this.start = now();
  }

  slot(): number {
    return FIRST_SLOT + Math.floor((this.now() - this.start) / SLOT_MS);
  }

  latestBlockhash(): { blockhash: string; lastValidBlockHeight: number } {
    const slot = this.slot();
    for (const [hash, issued] of this.blockhashes) {
      if (slot - issued <= BLOCKHASH_LIFE) break;
      this.blockhashes.delete(hash);
    }
    const blockhash = encodeBase58(this.hashOf(slot));
    this.blockhashes.set(blockhash, slot);
    return { blockhash, lastValidBlockHeight: slot + BLOCKHASH_LIFE };
  }

  private hashOf(slot: number): Buffer {
    return createHash('sha256').update(this.seed).update(String(slot)).digest();
  }

  /** In a bank of the past it may be too new. */
  isBlockhashValid(blockhash: string, inFinalizedBank = false): boolean {
    const slot = this.slot() - (inFinalizedBank ? FINALITY : 0);
    const issued = this.blockhashes.get(blockhash);
    return issued !== undefined && issued <= slot && slot - issued <= BLOCKHASH_LIFE;
  }

  /** Those that are valid, newest first, 32 bytes each. */
  recentBlockhashes(): Buffer[] {
    const newest = this.slot();
    return Array.from({ length: BLOCKHASH_LIFE }, (_, age) => this.hashOf(newest - age));
  }

  account(at: string): { lamports: bigint; owner: string; data: Uint8Array; executable: boolean } | undefined {
    if (at === CLOCK) this.setClock();
    const found = this.svm.getAccount(address(at) as Parameters<LiteSVM['getAccount']>[0]);
    if (!found.exists) return undefined;
    const { lamports, programAddress, data, executable } = found;
    return { lamports, owner: programAddress, data: Uint8Array.from(data), executable };
  }

  /** Puts an account in place, a program where its owner loads programs; rent paid where `balance`, in lamports, is left out. */
  put(at: Address, owner: Address, data: Uint8Array, balance?: bigint): void {
    const space = BigInt(data.length);
    const amount = lamports(balance ?? this.svm.minimumBalanceForRentExemption(space));
    const executable = owner === PROGRAM_LOADER;
    const account = { address: at, programAddress: owner, data, lamports: amount, space, executable };
    this.svm.setAccount(account as Parameters<LiteSVM['setAccount']>[0]);
  }

  private tokensAt(addresses: readonly string[]): TokenBalance[] {
    return addresses.flatMap((at, accountIndex) => {
      const found = this.account(at);
      if (found?.owner !== TOKEN_PROGRAM || found.data.length !== TOKEN_ACCOUNT_BYTES) return [];
      const { mint, owner, amount } = readTokenAccount(found.data);
      return [{ accountIndex, mint: encodeBase58(mint), owner: encodeBase58(owner), amount }];
    });
  }

  private decode(wire: Buffer) {
    const transaction = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    if (!('lifetimeToken' in message)) throw new TransactionRefused('SanitizeFailure');
    const first = Object.values(transaction.signatures)[0];
    return {
      transaction: transaction as Parameters<LiteSVM['sendTransaction']>[0],
      addresses: message.staticAccounts.map(String),
      blockhash: message.lifetimeToken,
      signature: (first ? encodeBase58(first) : '') as Signature,
    };
  }

  private setClock(): void {
    const clock = this.svm.getClock();
    clock.slot = BigInt(this.slot());
    clock.unixTimestamp = BigInt(Math.floor(this.now() / 1_000));
    this.svm.setClock(clock);
  }

  /** Runs a transaction without keeping its effects. Signatures are checked only where asked. */
  simulate(wire: Buffer, options: { sigVerify: boolean; replaceBlockhash: boolean }): Simulation {
    const { transaction, blockhash, signature } = this.decode(wire);
    if (!options.replaceBlockhash && !this.isBlockhashValid(blockhash)) {
      return { ...NOT_RUN, error: 'BlockhashNotFound' };
    }
    if (this.transactions.has(signature)) return { ...NOT_RUN, error: 'AlreadyProcessed' };
    this.setClock();
    this.svm.withSigverify(options.sigVerify);
    try {
      const result = this.svm.simulateTransaction(transaction);
      const error = result instanceof FailedTransactionMetadata ? errorOf(result) : null;
      const after = result instanceof FailedTransactionMetadata ? [] : result.postAccounts();
      const lamportsAfter = (at: string) => after.find((account) => account.address === at)?.lamports;
      return { error, ...outcomeOf(result.meta()), lamportsAfter };
    } finally {
      this.svm.withSigverify(true);
    }
  }

  /**
   * Takes a transaction in. As on the real chain, one that fails in an instruction is kept as failed, while one
   * that can never be in a block leaves no trace. Throws TransactionRefused where `preflight` finds it failing.
   */
  send(wire: Buffer, options: { preflight: boolean }): Signature {
    if (options.preflight) {
      const { error, logs } = this.simulate(wire, { sigVerify: true, replaceBlockhash: false });
      if (error) throw new TransactionRefused(error, logs);
    }
    const { transaction, addresses, blockhash, signature } = this.decode(wire);
    if (this.transactions.has(signature) || !this.isBlockhashValid(blockhash)) return signature;
    this.setClock();
    const pre = this.tokensAt(addresses);
    const result = this.svm.sendTransaction(transaction);
    const failed = result instanceof FailedTransactionMetadata;
    const error = failed ? errorOf(result) : null;
    if (typeof error === 'string') return signature;
    const outcome = outcomeOf(failed ? result.meta() : result);
    const blockTime = Math.floor(this.now() / 1_000);
    const tokens = { pre, post: this.tokensAt(addresses) };
    const kept = { signature, slot: this.slot(), blockTime, wire, addresses, tokens, error, ...outcome };
    this.transactions.set(signature, kept);
    const oldest = this.transactions.keys().next().value;
    if (this.transactions.size > MOST_TRANSACTIONS && oldest) this.transactions.delete(oldest);
    return signature;
  }

  transaction(signature: string): LedgerTransaction | undefined {
    return this.transactions.get(signature);
  }

  /** Newest first. */
  transactionsOf(at: string): LedgerTransaction[] {
    return [...this.transactions.values()].filter(({ addresses }) => addresses.includes(at)).reverse();
  }
}
