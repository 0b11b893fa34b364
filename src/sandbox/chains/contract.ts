import { readFileSync } from 'node:fs';
import type { Abi, Hex } from 'viem';
import { isJsonObject } from '../../json.ts';
import type { Rpc } from '../../payment/chains/rpc.ts';

/** A compiled contract, as Hardhat and `compile.ts` write it. */
export interface Artifact {
  readonly abi: Abi;
  readonly deployedBytecode: Hex;
  readonly deployedLinkReferences?: {
    readonly [file: string]: { readonly [library: string]: readonly { start: number; length: number }[] };
  };
}

export const readArtifact = (path: string | URL): Artifact => JSON.parse(readFileSync(path, 'utf8'));

const GAS = '0x4c4b40';

/** Sends calls one after the other from an address, without its key. Throws when one fails. */
export async function actAs(rpc: Rpc, from: string, calls: readonly { to: string; data: Hex }[]): Promise<void> {
  await rpc('anvil_impersonateAccount', [from]);
  for (const call of calls) {
    const receipt = await rpc('eth_sendTransactionSync', [{ ...call, from, gas: GAS }]);
    if (!isJsonObject(receipt) || receipt.status !== '0x1')
      throw new Error(`setting up the contract at ${call.to} failed`);
  }
  await rpc('anvil_stopImpersonatingAccount', [from]);
}
