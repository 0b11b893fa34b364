/** Settlements that were sent and are not confirmed yet, by what their chain remembers of the authorization. */

import type { InMemoryPendingSettlementStore } from '@x402/core/facilitator';
import { asJsonObject } from '../../json.ts';
import { asText } from './json.ts';

type Store = Pick<InMemoryPendingSettlementStore, 'get' | 'set' | 'delete'>;

/**
 * The payer and its nonce: a contract wallet may take any bytes for a signature, the same ones for many authorizations.
 * Undefined for what is none.
 */
function identityOf(payload: object): string | undefined {
  const { authorization, permit2Authorization } = asJsonObject(asJsonObject(payload).payload);
  const kind = authorization === undefined ? 'permit2' : 'eip3009';
  const { from, nonce } = asJsonObject(authorization ?? permit2Authorization);
  const [payer, number] = [asText(from), asText(nonce)];
  return payer && number ? `${kind}:${payer}:${number}`.toLowerCase() : undefined;
}

/** The store as one payment's scheme sees it: the key that @x402/evm would look under, the signature, does not count. */
export function pendingFor(payload: object, asset: unknown, store: Store): Store {
  const identity = identityOf(payload);
  if (identity === undefined)
    return { get: async () => undefined, set: async () => undefined, delete: async () => undefined };
  const key = `${String(asset).toLowerCase()}:${identity}`;
  return {
    get: () => store.get(key),
    set: (_, transaction) => store.set(key, transaction),
    delete: () => store.delete(key),
  };
}
