/** Finds the TIP-20 transfer that paid a challenge, by the memo that binds the two. Source: Tempo's TIP-20. */
import { isObject, type Rpc } from '../chains/rpc.ts';
import type { Settlement } from '../rail.ts';
import { chargeReceipt } from './receipt.ts';

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

/** What became of a transfer. Never throws: what cannot be asked is `unknown`. */
export async function findTransfer(rpc: Rpc, expected: ExpectedTransfer, now: number): Promise<Settlement> {
  try {
    const { chainTime, transaction } = await look(rpc, expected);
    if (transaction !== undefined) {
      const amount = BigInt(expected.amount);
      return {
        state: 'settled',
        receipt: chargeReceipt({ method: 'tempo', reference: transaction, amount, settledAt: now }),
      };
    }
    return chainTime > expected.validBefore + EXPIRY_MARGIN_SECONDS
      ? { state: 'refused', reason: 'the transaction expired before the chain took it' }
      : { state: 'unknown', reason: 'the chain has not seen the transaction yet' };
  } catch (error) {
    return { state: 'unknown', reason: error instanceof Error ? error.message : 'the chain could not be asked' };
  }
}
