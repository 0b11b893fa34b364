/**
 * A TIP-20 transfer on Tempo with a memo that binds it to what it pays: signed and handed over to be sent, or sent by
 * its payer already. Sources: Tempo's TIP-20, draft-tempo-charge-00, and mppx for the memo.
 */

import { asJsonObject, type JsonObject } from '../../json.ts';
import { divideUp } from '../../money.ts';
import { keccak256 } from '../../on-chain/keccak.ts';
import { refused, type Settlement, unknown, unused } from '../../on-chain/settlement.ts';
import {
  findLog,
  type LogProgress,
  numberWord,
  quantity,
  readBlock,
  SEEN_BY_ALL_SECONDS,
  word,
} from '../chains/evm-logs.ts';
import { type Look, type Looks, openLooks } from '../chains/looks.ts';
import { ChainUnreachable, type Rpc } from '../chains/rpc.ts';
import { Refusal } from '../refusal.ts';

export type TempoPayment =
  | { readonly type: 'transaction'; readonly signature: string }
  | { readonly type: 'hash'; readonly hash: string };

/** Throws Refusal `malformed-credential`. */
export function readTempoPayment({ type, signature, hash }: JsonObject): TempoPayment {
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
  keccak256(Buffer.from(challengeId)).subarray(0, 7).toString('hex');

/** A place in one of the sequences in which the chain takes an account's transactions. */
export interface TempoNonce {
  /** 0: the account's own sequence; the largest: none, the transaction has a `validBefore` instead. */
  readonly key: bigint;
  readonly value: bigint;
}

const EXPIRING_KEY = 2n ** 256n - 1n;

/** The parts of a signed transaction that decide when it has to be sent. */
export interface SignedTransfer {
  readonly chainId: number;
  /** Seconds since the epoch; undefined where the signer set none. */
  readonly validBefore: number | undefined;
  readonly validAfter: number;
  readonly nonce: TempoNonce;
  /** The most that it gives for a unit of gas, in attodollars. */
  readonly maxFeePerGas: bigint;
  /** Of that, the most beyond what the chain takes. */
  readonly maxPriorityFeePerGas: bigint;
  /** The most gas that it may take. */
  readonly gas: bigint;
  /** What pays for the gas; undefined: what its account prefers, else what it transfers. */
  readonly feeToken: string | undefined;
  /** True where the payer's address was recovered from the signature; all other kinds only the chain can check. */
  readonly provenSigner: boolean;
  /** True where somebody else is to bear the fees, or has signed that he does. */
  readonly isSponsored: boolean;
  /** The memo of the call that pays, 32 bytes in hex; undefined where no call carries one for this challenge. */
  readonly memo: string | undefined;
}

const CLOCK_SKEW_SECONDS = 60;

/** Times in milliseconds since the epoch. Throws Refusal. */
export function checkSignedTransfer(
  signed: SignedTransfer,
  asked: { readonly chainId: number; readonly challengeExpires: number },
  now: number,
): { readonly memo: string; readonly validBefore: number | undefined } {
  const { memo, validBefore, nonce } = signed;
  const seconds = now / 1000;
  const fail = (reason: string) => new Refusal('verification-failed', reason);
  if (signed.chainId !== asked.chainId) {
    throw fail(`the transaction is for chain ${signed.chainId}, asked is ${asked.chainId}`);
  }
  if (memo === undefined) throw fail('the transaction carries no memo for this challenge');
  if (signed.validAfter > seconds) throw fail('the transaction is not valid yet: see validAfter');
  if (validBefore === undefined) {
    // Without an end and without a place in a sequence nobody could ever say that it was not sent.
    if (nonce.key === EXPIRING_KEY) throw fail('the transaction needs a validBefore: its nonce is an expiring one');
    return { memo, validBefore };
  }
  // A late end would outlive what is searched for it.
  if (validBefore > asked.challengeExpires / 1000 + CLOCK_SKEW_SECONDS) {
    throw fail('the validBefore of the transaction has to be no later than the challenge expires');
  }
  if (validBefore <= seconds) throw new Refusal('payment-expired', 'the transaction has expired: sign a new one');
  return { memo, validBefore };
}

/** The contract that counts the nonces of all keys but 0 (Tempo's nonce precompile), and its getNonce(address,uint256). */
const NONCES = '0x4e4f4e4345000000000000000000000000000000';
const GET_NONCE = '0x89535803';

/** The nonce that the chain takes next from the account. `at`: a block, `latest` or `pending`. */
async function nextNonce(rpc: Rpc, account: string, key: bigint, at: string): Promise<bigint> {
  if (key === 0n) return BigInt(String(await rpc('eth_getTransactionCount', [account, at])));
  const data = `${GET_NONCE}${word(account)}${numberWord(key)}`;
  return BigInt(String(await rpc('eth_call', [{ to: NONCES, data }, at])));
}

/**
 * What has a place in a sequence has to be its next transaction, or nobody knows when it will be taken: its payer could have
 * work done for nothing by one that never is. Throws Refusal.
 */
export async function demandNextNonce(rpc: Rpc, payer: string, { key, value }: TempoNonce): Promise<void> {
  if (key === EXPIRING_KEY) return;
  const [least, most] = await Promise.all(['latest', 'pending'].map((at) => nextNonce(rpc, payer, key, at)));
  if (least === undefined || most === undefined || (value >= least && value <= most)) return;
  const reason = value < least ? 'has been used' : 'comes after transactions that the chain does not have';
  throw new Refusal('verification-failed', `the nonce ${value} of the payer ${reason}: sign with ${most}`);
}

/**
 * What it pays for a unit of gas, in attodollars. What gives less than the chain takes never comes into a block, and costs its
 * payer nothing. Throws Refusal.
 */
export async function demandFee(
  rpc: Rpc,
  { maxFeePerGas, maxPriorityFeePerGas }: Pick<SignedTransfer, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
): Promise<bigint> {
  const { baseFeePerGas } = asJsonObject(await rpc('eth_getBlockByNumber', ['latest', false]));
  const least = typeof baseFeePerGas === 'string' ? BigInt(baseFeePerGas) : 0n;
  const offered = least + maxPriorityFeePerGas;
  if (maxFeePerGas >= least) return offered < maxFeePerGas ? offered : maxFeePerGas;
  throw new Refusal(
    'verification-failed',
    `the transaction offers ${maxFeePerGas} for a unit of gas, and the chain takes ${least}: sign with more`,
  );
}

/** The contract that charges fees (Tempo's FeeManager precompile), and its userTokens(address). */
const FEE_MANAGER = '0xfeec000000000000000000000000000000000000';
const USER_TOKENS = '0xed498fa8';
const BALANCE_OF = '0x70a08231';

/** Tokens have 6 decimals, and attodollars 18. */
const ATTODOLLARS_A_UNIT = 10n ** 12n;

/**
 * The chain takes the fee that there may be before it runs the transaction: what pays in the token that it transfers has to have
 * both, or the transfer fails in its block. Source: Tempo's specification of fees. Throws Refusal.
 */
export async function demandCover(
  rpc: Rpc,
  { payer, currency, amount }: Pick<Transfer, 'payer' | 'currency' | 'amount'>,
  { feeToken, gas }: Pick<SignedTransfer, 'feeToken' | 'gas'>,
  feePerGas: bigint,
): Promise<void> {
  const asks = async (to: string, selector: string) => {
    const answer = await rpc('eth_call', [{ to, data: `${selector}${word(payer)}` }, 'latest']);
    return answer === '0x' ? 0n : BigInt(String(answer));
  };
  const [preferred, balance] = await Promise.all([
    feeToken === undefined ? asks(FEE_MANAGER, USER_TOKENS) : BigInt(feeToken),
    asks(currency, BALANCE_OF),
  ]);
  if (preferred !== 0n && preferred !== BigInt(currency)) return;
  const fee = divideUp(gas * feePerGas, ATTODOLLARS_A_UNIT);
  const missing = BigInt(amount) + fee - balance;
  if (missing <= 0n) return;
  throw new Refusal(
    'verification-failed',
    `the payer has ${missing} atomic units too little for the price and the fee of up to ${fee} together`,
  );
}

interface Transfer {
  readonly currency: string;
  readonly payer: string;
  readonly recipient: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** 32 bytes in hex, unique to what it pays. */
  readonly memo: string;
}

/** What is known of a signed transfer before it is sent. */
export interface ExpectedTransfer extends Transfer {
  /**
   * After what the chain takes the transaction no more: a time in seconds since the epoch, or another transaction with
   * its nonce (decimals).
   */
  readonly validBefore?: number;
  readonly nonce?: { readonly key: string; readonly value: string };
  /** No later than the block that has it: see `searchedFrom`. */
  readonly fromBlock: number;
}

/** Ten minutes of blocks. */
const SENT_BEFORE_BLOCKS = 1_200;

/**
 * Where the search for a transfer begins that is about to be sent: an earlier attempt may have sent it already, and nodes
 * behind one address differ in height. Nothing else carries its memo, so that a block too early does no harm. Throws
 * ChainUnreachable.
 */
export async function searchedFrom(rpc: Rpc): Promise<number> {
  const newest = await rpc('eth_blockNumber', []);
  if (typeof newest === 'string' && /^0x[0-9a-f]+$/i.test(newest)) {
    return Math.max(0, Number(newest) - SENT_BEFORE_BLOCKS);
  }
  throw new ChainUnreachable("the chain's node does not tell its newest block");
}

/** keccak256 of `TransferWithMemo(address,address,uint256,bytes32)`. */
const TRANSFER_WITH_MEMO = '0x57bc7354aa85aed339e000bccffabbc529466af35f0772c8f8ee1145927de7f0';

/** Half-second blocks, and transactions that live for minutes: wide enough, and nodes still answer it. */
const BLOCK_RANGE = 10_000;

const logsOf = ({ currency, payer, recipient, memo }: Transfer) => ({
  address: currency,
  topics: [TRANSFER_WITH_MEMO, `0x${word(payer)}`, `0x${word(recipient)}`, memo],
});

async function findUntil(rpc: Rpc, expected: ExpectedTransfer, validBefore: number): Promise<Settlement> {
  // The block comes first: a log that is missing after it cannot be in a much older block.
  const latest = await readBlock(rpc, 'latest');
  const until = validBefore + SEEN_BY_ALL_SECONDS;
  const from = { next: { block: expected.fromBlock, logIndex: 0 } };
  const span = { since: 0, until, latest, range: BLOCK_RANGE };
  const paid = await findLog(rpc, logsOf(expected), span, from, (log) => pays(log, expected));
  if (paid) return settledBy(paid, expected);
  return latest.timestamp > until
    ? refused('the transaction expired before the chain took it')
    : unused('the chain has not seen the transaction yet');
}

/** There are two in a second. */
const SEEN_BY_ALL_BLOCKS = 2 * SEEN_BY_ALL_SECONDS;

/** As long as its nonce is free, the transaction is not on the chain; once it is not, a log tells which one took it. */
async function findByNonce(
  rpc: Rpc,
  expected: ExpectedTransfer,
  { key, value }: { readonly key: string; readonly value: string },
  progress: Partial<LogProgress>,
): Promise<Settlement> {
  const latest = await readBlock(rpc, 'latest');
  const next = await nextNonce(rpc, expected.payer, BigInt(key), quantity(latest.number));
  if (next <= BigInt(value)) return unused('the chain has not seen the transaction yet');
  progress.next ??= { block: expected.fromBlock, logIndex: 0 };
  const span = { since: 0, until: Number.POSITIVE_INFINITY, latest };
  const paid = await findLog(rpc, logsOf(expected), span, progress, (log) => pays(log, expected));
  if (paid) return settledBy(paid, expected);
  const seenByAll = quantity(Math.max(0, latest.number - SEEN_BY_ALL_BLOCKS));
  return (await nextNonce(rpc, expected.payer, BigInt(key), seenByAll)) > BigInt(value)
    ? refused('the payer used the nonce for another transaction')
    : unknown('the nonce was used just now, and not every node may have the log of it');
}

const pays = (log: JsonObject, { amount }: Transfer): boolean => BigInt(String(log.data)) === BigInt(amount);

const settledBy = (log: JsonObject, { amount }: Transfer): Settlement => ({
  state: 'settled',
  transaction: String(log.transactionHash),
  amount: BigInt(amount),
});

/** Finds out what became of transfers on the chain of `rpcUrl`. Never throws: what cannot be asked is `unknown`. */
export function openTempoTransfers(rpcUrl: string, looks: Looks<LogProgress> = openLooks()) {
  return (expected: ExpectedTransfer): Promise<Settlement> => {
    const { validBefore, nonce, payer, memo } = expected;
    const look = (id: string, find: Look<LogProgress>) =>
      looks.look(rpcUrl, ['tempo', payer, id, memo].join(' '), find);
    if (validBefore !== undefined) {
      return look(`until ${validBefore}`, (bounded) => findUntil(bounded, expected, validBefore));
    }
    if (!nonce) return Promise.resolve(unknown('neither an end nor a nonce of the transaction is known'));
    return look(`${nonce.key} ${nonce.value}`, (bounded, progress) => findByNonce(bounded, expected, nonce, progress));
  };
}

/**
 * Finds the transfer with a memo, of whatever amount, that the chain has taken since a time (seconds since the epoch), where
 * nothing was written down of its sending. `unused`: there is none. Never throws, as above.
 */
export function openTempoSearch(rpcUrl: string, looks: Looks<LogProgress> = openLooks()) {
  return (expected: Transfer, since: number): Promise<Settlement> =>
    looks.look(rpcUrl, ['tempo', expected.payer, expected.memo].join(' '), async (rpc, progress) => {
      const latest = await readBlock(rpc, 'latest');
      const span = { since, until: Number.POSITIVE_INFINITY, latest, range: BLOCK_RANGE };
      const sent = await findLog(rpc, logsOf(expected), span, progress);
      if (!sent) return unused('the chain has no transfer with its memo');
      return pays(sent, expected)
        ? settledBy(sent, expected)
        : refused(`the transaction ${sent.transactionHash} sent another amount with its memo`);
    });
}
