/**
 * A TIP-20 transfer on Tempo with a memo that binds it to what it pays: signed and handed over to be sent, or sent by
 * its payer already. Sources: Tempo's TIP-20, draft-tempo-charge-00, and mppx for the memo.
 */
import { keccak_256 } from '@noble/hashes/sha3';
import { orUnknown, refused, type Settlement, unknown } from '../../settlement.ts';
import { isObject, type Rpc } from '../chains/rpc.ts';
import { Refusal } from '../refusal.ts';
import type { Json } from './fields.ts';

export type TempoPayment =
  | { readonly type: 'transaction'; readonly signature: string }
  | { readonly type: 'hash'; readonly hash: string };

/** Throws Refusal `malformed-credential`. */
export function readTempoPayment({ type, signature, hash }: Json): TempoPayment {
  if (type === 'transaction' && typeof signature === 'string' && /^0x[0-9a-f]+$/i.test(signature)) {
    return { type, signature };
  }
  if (type === 'hash' && typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash)) return { type, hash };
  throw new Refusal(
    'malformed-credential',
    'a tempo payload is {type: "transaction", signature} or {type: "hash", hash}',
  );
}

/** The end of the memo of every transfer that pays this challenge: the start of the keccak256 of its id. */
export const memoEnd = (challengeId: string): string =>
  Buffer.from(keccak_256(Buffer.from(challengeId)).subarray(0, 7)).toString('hex');

/** The parts of a signed transaction that decide when it has to be sent. */
export interface SignedTransfer {
  readonly chainId: number;
  /** Seconds since the epoch; undefined where the signer set none. */
  readonly validBefore: number | undefined;
  readonly validAfter: number;
  /** True where the payer's address was recovered from the signature; all other kinds only the chain can check. */
  readonly provenSigner: boolean;
  /** The memo of the call that pays, 32 bytes in hex; undefined where no call carries one for this challenge. */
  readonly memo: string | undefined;
}

const CLOCK_SKEW_SECONDS = 60;

/** Times in milliseconds since the epoch. Throws Refusal. */
export function checkSignedTransfer(
  signed: SignedTransfer,
  asked: { readonly chainId: number; readonly challengeExpires: number },
  now: number,
): { readonly memo: string; readonly validBefore: number } {
  const { memo, validBefore } = signed;
  const seconds = now / 1000;
  const fail = (reason: string) => new Refusal('verification-failed', reason);
  if (signed.chainId !== asked.chainId) {
    throw fail(`the transaction is for chain ${signed.chainId}, asked is ${asked.chainId}`);
  }
  if (memo === undefined) throw fail('the transaction carries no memo for this challenge');
  if (signed.validAfter > seconds) throw fail('the transaction is not valid yet: see validAfter');
  // Without an end nobody could ever say that it was not sent; a late one would outlive what is searched for it.
  if (validBefore === undefined || validBefore > asked.challengeExpires / 1000 + CLOCK_SKEW_SECONDS) {
    throw fail('the transaction needs a validBefore that is no later than the challenge expires');
  }
  if (validBefore <= seconds) throw new Refusal('payment-expired', 'the transaction has expired: sign a new one');
  return { memo, validBefore };
}

/** What is known of a signed transfer before it is sent. */
export interface ExpectedTransfer {
  readonly currency: string;
  readonly payer: string;
  readonly recipient: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** 32 bytes in hex, unique to the challenge. */
  readonly memo: string;
  /** Seconds since the epoch: the chain takes the transaction no later. */
  readonly validBefore: number;
  /** The chain's height before the transaction was sent. */
  readonly fromBlock: number;
}

/** keccak256 of `TransferWithMemo(address,address,uint256,bytes32)`. */
const TRANSFER_WITH_MEMO = '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0';

/** Half-second blocks, and transactions that live for minutes: wide enough, and nodes still answer it. */
const BLOCK_RANGE = 10_000;
/** Clocks of chain and gateway differ: only then is an unseen transaction dead. */
const EXPIRY_MARGIN_SECONDS = 10;

const word = (hex: string): string => `0x${hex.replace(/^0x/, '').toLowerCase().padStart(64, '0')}`;
const quantity = (value: number): string => `0x${value.toString(16)}`;

/** The time of the newest block, and the hash of the transaction that made the transfer, if there is one. */
async function look(rpc: Rpc, expected: ExpectedTransfer): Promise<{ chainTime: number; transaction?: string }> {
  // The block comes first: a log that is missing after it cannot be in an older block.
  const block = await rpc('eth_getBlockByNumber', ['latest', false]);
  if (!isObject(block)) throw new Error('the chain did not tell its newest block');
  const logs = await rpc('eth_getLogs', [
    {
      address: expected.currency,
      topics: [TRANSFER_WITH_MEMO, word(expected.payer), word(expected.recipient), expected.memo],
      fromBlock: quantity(expected.fromBlock),
      toBlock: quantity(Math.min(Number(block.number), expected.fromBlock + BLOCK_RANGE)),
    },
  ]);
  const paid = (Array.isArray(logs) ? logs.filter(isObject) : []).find(
    (log) => BigInt(String(log.data)) === BigInt(expected.amount),
  );
  const chainTime = Number(block.timestamp);
  return paid ? { chainTime, transaction: String(paid.transactionHash) } : { chainTime };
}

async function find(rpc: Rpc, expected: ExpectedTransfer): Promise<Settlement> {
  const { chainTime, transaction } = await look(rpc, expected);
  if (transaction !== undefined) return { state: 'settled', transaction, amount: BigInt(expected.amount) };
  return chainTime > expected.validBefore + EXPIRY_MARGIN_SECONDS
    ? refused('the transaction expired before the chain took it')
    : unknown('the chain has not seen the transaction yet');
}

/** What became of a transfer. Never throws: what cannot be asked is `unknown`. */
export const findTempoTransfer = (rpc: Rpc, expected: ExpectedTransfer): Promise<Settlement> =>
  orUnknown(find(rpc, expected));
