import type { Log } from '../../log.ts';
import type { Facilitator } from './facilitator.ts';
import { remoteFacilitator } from './remote.ts';

/** Coinbase's facilitator, with a key of its developer platform. Its client is heavy, so it is loaded only here. */
export async function coinbaseFacilitator(keyId: string, keySecret: string, log?: Log): Promise<Facilitator> {
  const { createFacilitatorConfig } = await import('@coinbase/x402');
  const { url, createAuthHeaders } = createFacilitatorConfig(keyId, keySecret);
  if (!url) throw new Error('@coinbase/x402 names no address for its facilitator');
  return remoteFacilitator({ url, ...(log ? { log } : {}), ...(createAuthHeaders ? { createAuthHeaders } : {}) });
}

/** Whether Coinbase's client can sign with it, which asks nobody: else each call would fail as if nobody answered. */
export async function isCoinbaseKey(keyId: string, keySecret: string): Promise<boolean> {
  const { createFacilitatorConfig } = await import('@coinbase/x402');
  try {
    await createFacilitatorConfig(keyId, keySecret).createAuthHeaders?.();
    return true;
  } catch {
    return false;
  }
}
