/** Solana's transactions as Solana's own encoder writes them, and a chain of them as its node tells of it (JSON-RPC). */
import {
  type Address,
  getAddressDecoder,
  getBase58Encoder,
  getCompiledTransactionMessageEncoder,
  getShortU16Encoder,
} from '@solana/kit';
import type { Test } from 'tap';
import { type Answer, type Node, openNode } from './node.ts';

/** An address of which nothing is known. */
export const addressOf = (byte: number): Address => getAddressDecoder().decode(new Uint8Array(32).fill(byte));

export const [FEE_PAYER, AUTHORITY, SOURCE, MINT, DESTINATION] = [1, 2, 3, 4, 5].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const BLOCKHASH = addressOf(9);

export interface WireInstruction {
  readonly program: string;
  readonly accounts?: readonly string[];
  readonly data: Uint8Array;
}

export interface Wire {
  /** Default: 'legacy'. */
  readonly version?: 'legacy' | 0;
  /** Default: the fee payer's and the authority's. */
  readonly signatures?: number;
  readonly blockhash?: string;
  readonly instructions?: readonly WireInstruction[];
  /** Those that the message does not hold: they are in an address table. */
  readonly lookedUp?: readonly string[];
}

const numbered = (tag: number, ...bytes: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.of(tag), ...bytes]);
/** A whole number, its lowest byte first. */
export function little(value: bigint, bytes: 4 | 8): Uint8Array {
  const data = Buffer.alloc(8);
  data.writeBigUInt64LE(value);
  return data.subarray(0, bytes);
}

/** SPL Token's TransferChecked. */
export const transferOf = (amount: bigint, changes: Partial<WireInstruction> = {}): WireInstruction => ({
  program: TOKEN_PROGRAM,
  accounts: [SOURCE, MINT, DESTINATION, AUTHORITY],
  data: numbered(12, little(amount, 8), Buffer.of(6)),
  ...changes,
});

/** Bytes of a transaction. By default of a transfer of 678 atomic units. */
export function wireOf({
  version = 'legacy',
  signatures = 2,
  blockhash = BLOCKHASH,
  instructions = [transferOf(678n)],
  lookedUp = [],
}: Wire = {}): Buffer {
  const named = instructions.flatMap(({ program, accounts = [] }) => [...accounts, program]);
  const held = [...new Set([FEE_PAYER, AUTHORITY, ...named])].filter((address) => !lookedUp.includes(address));
  const places = [...held, ...lookedUp];
  const message = getCompiledTransactionMessageEncoder().encode({
    version,
    header: { numSignerAccounts: signatures, numReadonlySignerAccounts: 1, numReadonlyNonSignerAccounts: 3 },
    staticAccounts: held as Address[],
    lifetimeToken: blockhash,
    instructions: instructions.map(({ program, accounts = [], data }) => ({
      programAddressIndex: places.indexOf(program),
      accountIndices: accounts.map((address) => places.indexOf(address)),
      data,
    })),
    ...(version === 0 && {
      addressTableLookups:
        lookedUp.length > 0
          ? [{ lookupTableAddress: addressOf(8), writableIndexes: lookedUp.map((_, at) => at), readonlyIndexes: [7] }]
          : [],
    }),
  });
  const signed = [getShortU16Encoder().encode(signatures), new Uint8Array(64 * signatures).fill(7), message];
  return Buffer.concat(signed.map((part) => Uint8Array.from(part)));
}

export interface Row {
  readonly signature: string;
  /** Seconds since the epoch. */
  readonly blockTime: number | null;
  readonly err?: object;
  /** What `getTransaction` shows of it: null where the node cannot. */
  readonly shown?: unknown;
}

/** Tests change it as a chain changes. */
export interface SolanaChain {
  /** Transactions of every account, newest first. */
  history?: readonly Row[];
  /** What the chain's clock shows, in seconds since the epoch. Default: centuries from now. */
  time?: number;
  /** Newest first. Undefined: the node does not tell them. */
  recentBlockhashes?: readonly string[];
  isValid?(blockhash: string, commitment: string): boolean;
  /** Programs that own mints. */
  owners?: Readonly<Record<string, string>>;
  /** Where it has something to say, it is answered instead. */
  instead?: Answer;
}

/** The wire of a transaction as `getTransaction` shows it. */
export const shownAs = (wire: Buffer): object => ({ slot: 1, transaction: [wire.toString('base64'), 'base64'] });

/** Solana's sysvar RecentBlockhashes. */
const sysvarOf = (hashes: readonly string[]): string =>
  Buffer.concat([
    little(BigInt(hashes.length), 8),
    ...hashes.flatMap((hash) => [Uint8Array.from(getBase58Encoder().encode(hash)), little(5_000n, 8)]),
  ]).toString('base64');

/** Solana's sysvar Clock: two slots' and two epochs' numbers, and the time. */
const clockOf = (time: number): string => Buffer.concat([Buffer.alloc(32), little(BigInt(time), 8)]).toString('base64');

const SYSVARS = 'Sysvar1111111111111111111111111111111111111';

function accountOf({ recentBlockhashes, owners, time = 2 ** 34 }: SolanaChain, account: string): object {
  const encoded = (data: string, owner: string) => ({ context: { slot: 1 }, value: { data: [data, 'base64'], owner } });
  const owner = owners?.[account];
  if (owner !== undefined) return encoded('', owner);
  if (account === 'SysvarRecentB1ockHashes11111111111111111111' && recentBlockhashes) {
    return encoded(sysvarOf(recentBlockhashes), SYSVARS);
  }
  if (account === 'SysvarC1ock11111111111111111111111111111111') return encoded(clockOf(time), SYSVARS);
  return { context: { slot: 1 }, value: null };
}

function answerOf(chain: SolanaChain, method: string, [first, options]: readonly unknown[]): unknown {
  const { history = [] } = chain;
  const { before, limit = 1_000, commitment } = Object(options);
  if (method === 'getAccountInfo') return accountOf(chain, String(first));
  if (method === 'isBlockhashValid') {
    return { context: { slot: 1 }, value: chain.isValid?.(String(first), String(commitment)) ?? false };
  }
  if (method === 'getSignaturesForAddress') {
    const from = before === undefined ? 0 : history.findIndex(({ signature }) => signature === before) + 1;
    return history
      .slice(from, from + limit)
      .map(({ signature, blockTime, err = null }) => ({ signature, blockTime, err, slot: 1, memo: null }));
  }
  if (method === 'getTransaction') return history.find(({ signature }) => signature === first)?.shown ?? null;
  return undefined;
}

/** Its answers may be long: a thousand rows of a history. */
const MOST_ANSWERS = 150;

export const openSolanaNode = (t: Test, chain: SolanaChain): Promise<Node> => {
  const answer: Answer = (method, params) => {
    const instead = chain.instead?.(method, params);
    return instead === undefined ? answerOf(chain, method, params) : instead;
  };
  return openNode(t, answer, MOST_ANSWERS);
};
