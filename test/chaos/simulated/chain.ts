/**
 * A chain that is only what gateways ask of it: a token with EIP-3009 authorizations, Permit2 with x402's proxy, and a
 * block for every second. It keeps every transfer, so that the books can be compared with it.
 */
import { createHash } from 'node:crypto';
import { word } from '../../../src/payment/chains/evm-logs.ts';

/** What a payer signed, as the chain knows it. Addresses in lower case. */
export interface Signed {
  readonly kind: 'eip3009' | 'permit2';
  readonly payer: string;
  readonly payTo: string;
  /** 32 bytes in hex, or for Permit2 a decimal number. */
  readonly nonce: string;
  /** What may be moved at most, in atomic units; EIP-3009 moves exactly that. */
  readonly most: bigint;
  /** Seconds since the epoch. */
  readonly validBefore: number;
}

export interface Transfer extends Signed {
  readonly transaction: string;
  readonly block: number;
  /** The place of its Transfer in its block's logs; what EIP-3009 logs besides comes right before it. */
  readonly logIndex: number;
  readonly moved: bigint;
  /** Data of the settling call. */
  readonly input: string;
}

export interface Chain {
  /** As CAIP-2. */
  readonly name: string;
  /** Address of the token, in lower case. */
  readonly asset: string;
  /** Milliseconds since the epoch: the chain's own clock. */
  now(): number;
  /** What was signed and not used goes out of date. */
  letPass(seconds: number): void;
  block(): number;
  /** Seconds since the epoch. */
  timestampOf(block: number): number;
  balance(address: string): bigint;
  /** Why it would not be taken now; undefined where it would. */
  refusal(signed: Signed, amount: bigint): string | undefined;
  /** Moves money. Throws where there is a refusal. */
  transfer(signed: Signed, amount: bigint): Transfer;
  /**
   * Drops a transfer's block, as a reorganisation does: its nonce is open again. Answers what puts it into the newest block,
   * if it is still good by then. Undefined where it is not on the chain, or lies too deep.
   */
  takeBack(transfer: Transfer): (() => void) | undefined;
  /** The transfer that used the nonce. */
  find(kind: Signed['kind'], payer: string, nonce: string): Transfer | undefined;
  /** Those that are on the chain. */
  readonly transfers: readonly Transfer[];
  /** Those that were on it once. */
  readonly takenBack: readonly Transfer[];
  /** Payers that have code. */
  readonly contracts: Set<string>;
}

/** What every payer has at the start, in atomic units. */
const ALLOWANCE = 10_000_000_000n;
/** Blocks before the first: gateways look for one that is older than what they ask about. */
const EARLIER_BLOCKS = 2_000;
/** A block with so many on top of it stays. */
const BLOCKS_REPLACED = 2;
/** x402's settle(permit, amount, owner, witness, signature): see `authorizations/permit2.ts`. */
const UPTO_SETTLE = '0xff11e7b4';

const nonceKey = (kind: Signed['kind'], payer: string, nonce: string): string =>
  `${kind} ${payer} ${nonce}`.toLowerCase();

export function openChain(name: string, asset: string): Chain {
  const genesis = Math.floor(Date.now() / 1000) - EARLIER_BLOCKS;
  const used = new Map<string, Transfer>();
  const transfers: Transfer[] = [];
  const gone: Transfer[] = [];
  const received = new Map<string, bigint>();
  const contracts = new Set<string>();
  let passed = 0;
  let sent = 0;

  const now = () => Date.now() + passed * 1000;
  const block = () => Math.floor(now() / 1000) - genesis;
  const balance = (address: string) => ALLOWANCE + (received.get(address.toLowerCase()) ?? 0n);
  const add = (address: string, amount: bigint) => received.set(address, (received.get(address) ?? 0n) + amount);

  function refusal(signed: Signed, amount: bigint): string | undefined {
    const { kind, payer, nonce, most, validBefore } = signed;
    if (used.has(nonceKey(kind, payer, nonce))) return 'invalid_transaction_state';
    if (validBefore * 1000 <= now()) return 'invalid_exact_evm_payload_authorization_valid_before';
    if (amount > most || (kind === 'eip3009' && amount !== most))
      return 'invalid_exact_evm_payload_authorization_value';
    return balance(payer) < amount ? 'insufficient_funds' : undefined;
  }

  const inputOf = ({ kind, payer, payTo, nonce, most, validBefore }: Signed, amount: bigint): string => {
    if (kind === 'eip3009') return '0xe3ee160e';
    const numbers = [most, BigInt(nonce), BigInt(validBefore), amount].map((number) => number.toString(16));
    return UPTO_SETTLE + [asset, ...numbers, payer, payTo, '0', '0'].map(word).join('');
  };

  function include(transfer: Transfer): void {
    used.set(nonceKey(transfer.kind, transfer.payer, transfer.nonce), transfer);
    transfers.push(transfer);
    add(transfer.payer, -transfer.moved);
    add(transfer.payTo, transfer.moved);
  }

  function drop(transfer: Transfer): void {
    used.delete(nonceKey(transfer.kind, transfer.payer, transfer.nonce));
    transfers.splice(transfers.indexOf(transfer), 1);
    add(transfer.payer, transfer.moved);
    add(transfer.payTo, -transfer.moved);
  }

  return {
    name,
    asset,
    now,
    letPass(seconds) {
      passed += seconds;
    },
    block,
    timestampOf: (number) => genesis + number,
    balance,
    refusal,
    transfer(signed, amount) {
      const reason = refusal(signed, amount);
      if (reason !== undefined) throw new Error(reason);
      sent += 1;
      const key = nonceKey(signed.kind, signed.payer, signed.nonce);
      const transfer: Transfer = {
        ...signed,
        transaction: `0x${createHash('sha256').update(`${key} ${sent}`).digest('hex')}`,
        block: block(),
        logIndex: sent * 2 + 1,
        moved: amount,
        input: inputOf(signed, amount),
      };
      include(transfer);
      return transfer;
    },
    takeBack(transfer) {
      if (!transfers.includes(transfer) || block() - transfer.block >= BLOCKS_REPLACED) return undefined;
      drop(transfer);
      gone.push(transfer);
      return () => {
        if (refusal(transfer, transfer.moved) === undefined) include({ ...transfer, block: block() });
      };
    },
    find: (kind, payer, nonce) => used.get(nonceKey(kind, payer, nonce)),
    transfers,
    takenBack: gone,
    contracts,
  };
}
