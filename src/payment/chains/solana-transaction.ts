import { createHash } from 'node:crypto';
import { type Atomic, divideUp } from '../../money.ts';
import { encodeBase58 } from '../../on-chain/base58.ts';

/** What a Solana payment says of itself (Solana's wire format, legacy and version 0; SPL Token's TransferChecked). */
export interface SolanaPayment {
  /** SHA-256 of the message in hex: what every signer commits to, so the payment's identity. */
  readonly messageHash: string;
  readonly blockhash: string;
  readonly feePayer: string;
  /** Token account that is charged. */
  readonly source: string;
  readonly mint: string;
  /** Token account that receives. */
  readonly destination: string;
  /** The program of both accounts. */
  readonly tokenProgram: string;
  /** Who signed for the source. */
  readonly authority: string;
  /** Atomic units. */
  readonly amount: Atomic;
  /** Signatures that it needs, the fee payer's among them. */
  readonly signatures: number;
  /** Compute units that it may use, and what each costs in microlamports: chosen by the payer, paid by the fee payer. */
  readonly units: bigint;
  readonly unitPrice: bigint;
  /** Lamports that the fee payer pays: for each signature, and the priority fee. */
  readonly fee: bigint;
  readonly instructions: readonly Instruction[];
  /** Bound to a nonce account in place of a block: what stands for the blockhash is good until somebody uses it. */
  readonly isDurable: boolean;
}

/** Accounts and programs out of address tables are undefined: they are not in the message. */
export interface Instruction {
  readonly program: string | undefined;
  readonly accounts: readonly (string | undefined)[];
  readonly data: Buffer;
}

export const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
];
export const TRANSFER_CHECKED = 12;
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const ADVANCE_NONCE = 4;
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const LAMPORTS_PER_SIGNATURE = 5_000n;
const MOST_UNITS = 1_400_000n;
const MICROLAMPORTS = 1_000_000n;
const VERSIONED = 0x80;

class Reader {
  readonly bytes: Buffer;
  at = 0;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  take(length: number): Buffer {
    if (this.at + length > this.bytes.length) throw new Error('the transaction is cut off');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  /** Solana's compact-u16. */
  count(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const next = this.byte();
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) === 0) return value;
    }
    throw new Error('the transaction has a malformed length');
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.count() }, read);
  }
}

/** The bytes that were signed. Throws for a transaction that is cut off. */
function messageOf(transaction: Buffer): Buffer {
  const reader = new Reader(transaction);
  reader.list(() => reader.take(64));
  return transaction.subarray(reader.at);
}

export const messageHash = (transaction: Buffer): string =>
  createHash('sha256').update(messageOf(transaction)).digest('hex');

/** What a transaction asks of Solana's compute budget program. */
function budgetOf(instructions: readonly Instruction[]): { units: bigint; unitPrice: bigint } {
  const budget = instructions.filter(({ program }) => program === COMPUTE_BUDGET_PROGRAM).map(({ data }) => data);
  const limit = budget.find((data) => data[0] === SET_UNIT_LIMIT && data.length >= 5);
  const price = budget.find((data) => data[0] === SET_UNIT_PRICE && data.length >= 9);
  return { units: limit ? BigInt(limit.readUInt32LE(1)) : MOST_UNITS, unitPrice: price?.readBigUInt64LE(1) ?? 0n };
}

function feeOf(signatures: number, units: bigint, unitPrice: bigint): bigint {
  return BigInt(signatures) * LAMPORTS_PER_SIGNATURE + divideUp(units * unitPrice, MICROLAMPORTS);
}

/**
 * Reads a payment's transaction, given in base64. Throws when it cannot be read or when it does not hold exactly
 * one TransferChecked. Nothing in it is believed yet.
 */
export function readSolanaPayment(transaction: string): SolanaPayment {
  const wire = Buffer.from(transaction, 'base64');
  const reader = new Reader(messageOf(wire));
  const first = reader.byte();
  if (first & VERSIONED && first !== VERSIONED) throw new Error('the transaction has an unknown version');
  const signatures = first === VERSIONED ? reader.byte() : first;
  reader.take(2);
  const accounts = reader.list(() => encodeBase58(reader.take(32)));
  const blockhash = encodeBase58(reader.take(32));
  const instructions: Instruction[] = reader.list(() => ({
    program: accounts[reader.byte()],
    accounts: reader.list(() => accounts[reader.byte()]),
    data: reader.take(reader.count()),
  }));
  if (first === VERSIONED) {
    // Address tables: their accounts are not in the message, so no part of a payment may be among them.
    reader.list(() => [reader.take(32), reader.take(reader.count()), reader.take(reader.count())]);
  }
  if (reader.at !== reader.bytes.length) throw new Error('the transaction is too long');
  const transfers = instructions.filter(
    ({ program, data }) => TOKEN_PROGRAMS.includes(program ?? '') && data[0] === TRANSFER_CHECKED && data.length >= 10,
  );
  const [transfer] = transfers;
  const [source, mint, destination, authority] = transfer?.accounts ?? [];
  const feePayer = accounts[0];
  const tokenProgram = transfer?.program;
  if (
    !transfer ||
    !tokenProgram ||
    transfers.length > 1 ||
    !source ||
    !mint ||
    !destination ||
    !authority ||
    !feePayer
  ) {
    throw new Error('the transaction does not hold exactly one token transfer');
  }
  const amount = transfer.data.readBigUInt64LE(1);
  const { units, unitPrice } = budgetOf(instructions);
  const fee = feeOf(signatures, units, unitPrice);
  return {
    messageHash: messageHash(wire),
    blockhash,
    feePayer,
    source,
    mint,
    destination,
    tokenProgram,
    authority,
    amount,
    signatures,
    units,
    unitPrice,
    fee,
    instructions,
    isDurable: isAdvanceNonce(instructions[0]),
  };
}

/** As the first instruction it makes a transaction a durable one (the System program's AdvanceNonceAccount). */
const isAdvanceNonce = (first: Instruction | undefined): boolean =>
  first?.program === SYSTEM_PROGRAM && first.data.length >= 4 && first.data.readUInt32LE() === ADVANCE_NONCE;
