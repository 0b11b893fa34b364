/** Calls that were drawn from channels beside what their chain holds for them. Changes nothing. */
import { BATCH_SETTLEMENT } from '../../on-chain/escrow-contracts.ts';
import { keccak256 } from '../../on-chain/keccak.ts';
import { word } from '../../payment/chains/evm-logs.ts';
import type { Rpc } from '../../payment/chains/rpc.ts';
import type { ChannelStore } from '../../store/channels/channel-store.ts';
import type { Receipt } from '../../store/store.ts';

/** What the calls of one channel had cost in all, before those of the period and with them. Atomic units. */
interface Drawn {
  readonly before: bigint;
  readonly charged: bigint;
}

/** Amounts in atomic units. */
export interface DrawnCalls {
  calls: number;
  amount: bigint;
  /** By id. */
  readonly channels: Map<string, Drawn>;
}

export const nothingDrawn = (): DrawnCalls => ({ calls: 0, amount: 0n, channels: new Map() });

const larger = (one: bigint, other: bigint): bigint => (one < other ? other : one);

const BALANCE = `0x${keccak256(Buffer.from('channels(bytes32)')).subarray(0, 4).toString('hex')}`;

/** Adds one call, of so many atomic units. */
export function addDrawn(drawn: DrawnCalls, amount: bigint, { id, charged }: NonNullable<Receipt['channel']>): void {
  const call: Drawn = { before: BigInt(charged) - amount, charged: BigInt(charged) };
  const known = drawn.channels.get(id) ?? call;
  drawn.calls += 1;
  drawn.amount += amount;
  drawn.channels.set(id, {
    before: call.before < known.before ? call.before : known.before,
    charged: larger(call.charged, known.charged),
  });
}

/** What was deposited in the channel and not taken back, in atomic units. Throws where the chain does not say. */
async function balanceOf(rpc: Rpc, channel: string): Promise<bigint> {
  const told = await rpc('eth_call', [{ to: BATCH_SETTLEMENT, data: BALANCE + word(channel) }, 'latest']);
  if (typeof told === 'string' && /^0x[0-9a-f]{128}$/i.test(told)) return BigInt(told.slice(0, 66));
  throw new Error(`the chain's node does not know the contract of channels, ${BATCH_SETTLEMENT}`);
}

/**
 * One sentence for each channel that holds less than it was charged. `shown` writes an amount for people. Throws where the
 * chain cannot be asked.
 */
export async function findLost(
  rpc: Rpc,
  { channels }: DrawnCalls,
  store: Pick<ChannelStore, 'find'>,
  shown: (amount: bigint) => string,
): Promise<string[]> {
  const found: string[] = [];
  for (const [id, { before, charged }] of channels) {
    const channel = await store.find(id);
    if (!channel || charged <= BigInt(channel.totalClaimed)) continue;
    const balance = await balanceOf(rpc, id);
    // What was charged first is paid first.
    const lost = charged - larger(balance, before);
    if (lost <= 0n) continue;
    found.push(
      `channel ${id} of ${channel.payer}: ${lost} atomic units (${shown(lost)}) of its calls can be claimed by nobody: they ` +
        `cost ${channel.charged} in all, and it holds ${balance}, for its payer had its deposit back before the claim, or its ` +
        'chain took a deposit back; what is deposited in it again pays for them, and is claimed while a gateway runs',
    );
  }
  return found;
}
