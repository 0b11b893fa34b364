/** Calls that were drawn from channels beside what their chain has of these. Changes nothing. Amounts in atomic units. */
import { BATCH_SETTLEMENT } from '../../on-chain/escrow-contracts.ts';
import { keccak256 } from '../../on-chain/keccak.ts';
import { word } from '../../payment/chains/evm-logs.ts';
import type { Rpc } from '../../payment/chains/rpc.ts';
import type { ChannelStore } from '../../store/channels/channel-store.ts';
import type { Receipt } from '../../store/store.ts';

/** The calls of one channel: what all had cost before the first of them and with the last, and what they cost themselves. */
export interface Drawn {
  readonly before: bigint;
  readonly charged: bigint;
  readonly amount: bigint;
}

export interface DrawnCalls {
  calls: number;
  amount: bigint;
  /** By id. */
  readonly channels: Map<string, Drawn>;
}

export const nothingDrawn = (): DrawnCalls => ({ calls: 0, amount: 0n, channels: new Map() });

const larger = (one: bigint, other: bigint): bigint => (one < other ? other : one);

/** Adds one call. */
export function addDrawn(drawn: DrawnCalls, amount: bigint, { id, charged }: NonNullable<Receipt['channel']>): void {
  const call: Drawn = { before: BigInt(charged) - amount, charged: BigInt(charged), amount: 0n };
  const known = drawn.channels.get(id) ?? call;
  drawn.calls += 1;
  drawn.amount += amount;
  drawn.channels.set(id, {
    before: call.before < known.before ? call.before : known.before,
    charged: larger(call.charged, known.charged),
    amount: known.amount + amount,
  });
}

interface OnChain {
  /** What was deposited and not taken back. */
  readonly balance: bigint;
  readonly claimed: bigint;
}

const CHANNELS = `0x${keccak256(Buffer.from('channels(bytes32)')).subarray(0, 4).toString('hex')}`;

/** Throws where the chain does not say. */
async function read(rpc: Rpc, channel: string): Promise<OnChain> {
  const told = await rpc('eth_call', [{ to: BATCH_SETTLEMENT, data: CHANNELS + word(channel) }, 'latest']);
  const [, balance, claimed] = /^(0x[0-9a-f]{64})([0-9a-f]{64})$/i.exec(String(told)) ?? [];
  if (balance && claimed) return { balance: BigInt(balance), claimed: BigInt(`0x${claimed}`) };
  throw new Error(`the chain's node does not know the contract of channels, ${BATCH_SETTLEMENT}`);
}

export interface ChannelBooks {
  readonly channels: Pick<ChannelStore, 'find'>;
  /** The calls of the period, and all after it, as the books have them by now. */
  drawnSince(): Promise<{ readonly inPeriod: DrawnCalls; readonly later: DrawnCalls }>;
}

/**
 * One sentence for each channel that holds less than it was charged, or was claimed more of than its calls cost. `shown`
 * writes an amount for people. Throws where the chain cannot be asked.
 */
export async function compareChannels(
  rpc: Rpc,
  drawn: DrawnCalls,
  { channels, drawnSince }: ChannelBooks,
  shown: (amount: bigint) => string,
): Promise<string[]> {
  const differences: string[] = [];
  const name = async (id: string, amount: bigint) =>
    `channel ${id} of ${(await channels.find(id))?.payer}: ${amount} atomic units (${shown(amount)})`;

  const unexplained = new Map<string, OnChain>();
  for (const [id, { before, charged, amount }] of drawn.channels) {
    const there = await read(rpc, id);
    if (larger(charged, there.claimed) > before + amount) unexplained.set(id, there);
    // What was charged first is paid first.
    const lost = charged - larger(there.balance, before);
    if (lost <= 0n) continue;
    differences.push(
      `${await name(id, lost)} of its calls can be claimed by nobody: they cost ${charged} in all, and it holds ` +
        `${there.balance}, for its payer had its deposit back before the claim, or its chain took a deposit back; what is ` +
        'deposited in it again pays for them, and is claimed while a gateway runs',
    );
  }
  if (unexplained.size === 0) return differences;

  // Calls may have been drawn, and claimed, since.
  const { inPeriod, later } = await drawnSince();
  for (const [id, { claimed }] of unexplained) {
    const { before, charged, amount } = inPeriod.channels.get(id) ?? { before: claimed, charged: claimed, amount: 0n };
    const missing = (later.channels.get(id)?.before ?? larger(charged, claimed)) - before - amount;
    if (missing <= 0n) continue;
    differences.push(
      `${await name(id, missing)} were claimed of it that no call explains, as where a database was put back that is older ` +
        'than the calls: what else was charged by then is lost, unless a file of npm run export -- --vouchers has it',
    );
  }
  return differences;
}
