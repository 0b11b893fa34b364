/** The receipts of one account beside what its chain says it got. Changes nothing. */
import { setTimeout as delay } from 'node:timers/promises';
import { atomicToDecimal } from '../../money.ts';
import { BATCH_SETTLEMENT } from '../../on-chain/escrow-contracts.ts';
import { evmIncoming } from '../../payment/chains/evm-incoming.ts';
import { same } from '../../payment/chains/evm-logs.ts';
import type { Incoming, IncomingReader } from '../../payment/chains/incoming.ts';
import { ChainUnreachable, createRpc, type Rpc } from '../../payment/chains/rpc.ts';
import { solanaIncoming } from '../../payment/chains/solana-incoming.ts';
import type { Period } from '../../store/period.ts';
import type { Account } from './accounts.ts';
import { type ChannelBooks, compareChannels, type DrawnCalls } from './channels.ts';

/** What the books have of one transaction. */
export interface Booked {
  /** Atomic units. */
  readonly amount: bigint;
  /** Ids of the payments. */
  readonly payments: readonly string[];
}

/** By transaction. */
export type Receipts = ReadonlyMap<string, Booked>;

export interface Compared {
  /** Atomic units. What the chain got and the books have in another period is on neither side. */
  readonly books: bigint;
  readonly chain: bigint;
  /** What came of vouchers that were claimed: of many calls at once, and later than they. */
  readonly claimed: bigint;
  /** One sentence each. */
  readonly differences: readonly string[];
}

/** Hashes are the same in upper and lower case, Solana's signatures are not. */
export const transactionKey = (transaction: string): string =>
  transaction.startsWith('0x') ? transaction.toLowerCase() : transaction;

const readerOf = ({ caip2 }: Account): IncomingReader => (caip2.startsWith('solana:') ? solanaIncoming : evmIncoming);

const MOST_TRIES = 3;
const PAUSE_MS = 500;

/** One answer that is missing among thousands is no reason to begin anew. */
const patient =
  (rpc: Rpc): Rpc =>
  async (method, params) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await rpc(method, params);
      } catch (error) {
        if (!(error instanceof ChainUnreachable) || tries === MOST_TRIES) throw error;
        await delay(tries * PAUSE_MS);
      }
    }
  };

interface Books extends ChannelBooks {
  /** Those of the period, as `drawn`. */
  readonly receipts: Receipts;
  readonly drawn: DrawnCalls;
  /** Which of these transactions the books have by now, whenever that is. */
  elsewhere(transactions: ReadonlySet<string>): Promise<ReadonlySet<string>>;
}

/** Throws where the chain cannot be asked. */
export async function compare(account: Account, rpcUrl: string, period: Period, kept: Books): Promise<Compared> {
  const { receipts, drawn, elsewhere } = kept;
  const rpc = patient(createRpc(rpcUrl));
  const reader = readerOf(account);
  const shown = (amount: bigint): string => `${atomicToDecimal(amount, account.decimals)} ${account.symbol}`;

  const came = new Map<string, Incoming>();
  let claimed = 0n;
  for await (const one of reader.between(rpc, account, period.from, period.to)) {
    if (same(one.payer, BATCH_SETTLEMENT)) claimed += one.amount;
    else add(came, one);
  }

  const differences: string[] = [];
  let books = 0n;
  let chain = 0n;
  for (const [transaction, { amount, payments }] of receipts) {
    const got = came.get(transaction)?.amount ?? sum(await reader.with(rpc, account, transaction));
    came.delete(transaction);
    books += amount;
    chain += got;
    if (got === amount) continue;
    const receipt = `payment ${payments.join(', ')}: its receipt says ${shown(amount)} in transaction ${transaction}`;
    differences.push(`${receipt}, the chain ${got === 0n ? 'has no such payment' : `says ${shown(got)}`}`);
  }

  // One that was written down a moment before or after belongs to the period of its receipt.
  const known = came.size === 0 ? new Set<string>() : await elsewhere(new Set(came.keys()));
  for (const [key, { transaction, amount, payer }] of came) {
    if (known.has(key)) continue;
    chain += amount;
    differences.push(`${shown(amount)} came from ${payer} in transaction ${transaction}, and no call explains it`);
  }
  differences.push(...(await compareChannels(rpc, drawn, kept, shown)));
  return { books, chain, claimed, differences };
}

const sum = (found: readonly Incoming[]): bigint => found.reduce((total, { amount }) => total + amount, 0n);

function add(came: Map<string, Incoming>, one: Incoming): void {
  const key = transactionKey(one.transaction);
  const before = came.get(key);
  came.set(key, before ? { ...before, amount: before.amount + one.amount } : one);
}
