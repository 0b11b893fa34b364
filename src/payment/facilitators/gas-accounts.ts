import type { NamedFacilitator } from '../networks.ts';
import type { GasAccount } from './facilitator.ts';

/** A chain that does not answer keeps nobody waiting for long: a worker's primary waits two seconds for all that it counts. */
const PATIENCE_MS = 1_500;

/** What we settle from, by CAIP-2 id, as far as the chains answer in time. */
export async function gasAccounts(facilitators: readonly NamedFacilitator[]): Promise<ReadonlyMap<string, GasAccount>> {
  const found = new Map<string, GasAccount>();
  const asked = facilitators.map(async ({ facilitator }) => {
    for (const [caip2, account] of (await facilitator.accounts?.(PATIENCE_MS).catch(() => undefined)) ?? []) {
      if (!found.has(caip2)) found.set(caip2, account);
    }
  });
  await Promise.all(asked);
  return found;
}
