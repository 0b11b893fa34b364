import type { Rpc } from '../src/payment/chains/rpc.ts';

/** What even a slow machine makes within the limit of one call. */
const AT_ONCE = 100;

/** Has a chain of the sandbox make so many blocks, so many seconds apart. */
export async function mine(rpc: Rpc, blocks: number, seconds?: number): Promise<void> {
  const apart = seconds === undefined ? [] : [`0x${seconds.toString(16)}`];
  for (let left = blocks; left > 0; left -= AT_ONCE) {
    await rpc('anvil_mine', [`0x${Math.min(left, AT_ONCE).toString(16)}`, ...apart]);
  }
}
