import { asJsonObject, isJsonObject, type JsonObject } from '../../json.ts';
import type { Rpc } from './rpc.ts';

/** An account of Solana as its node has it, its data in base64; empty where there is none. Throws what the node's caller does. */
export async function solanaAccount(rpc: Rpc, address: string): Promise<JsonObject> {
  const told = await rpc('getAccountInfo', [address, { encoding: 'base64', commitment: 'confirmed' }]);
  if (!isJsonObject(told)) throw new Error('the node told of no account');
  return asJsonObject(told.value);
}
