/** The sandbox's funded wallet, as an unmodified x402 client. */

import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { privateKeyToAccount } from 'viem/accounts';

/** What `GET /sandbox` answers. */
export interface SandboxState {
  mode: 'sandbox';
  evm: Record<string, { rpcUrl: string; caip2: string; asset: string; privateKey: `0x${string}` }>;
  solana?: { rpcUrl: string; caip2: string; mint: string; secretKey: string };
  tempo?: { rpcUrl: string; chainId: number; currency: string; privateKey: `0x${string}` };
  payTo: Record<string, string>;
}

/** Pays on the network that `wanted` names; the amount is for the caller to judge, so the client's own limits are off. */
export async function openWallet(sandbox: SandboxState, wanted: string | undefined): Promise<x402HTTPClient> {
  const client = new x402Client((_version, accepts) => {
    const exact = accepts.filter((offer) => offer.scheme === 'exact');
    const chosen = wanted === undefined ? exact[0] : exact.find((offer) => offer.network === wanted);
    if (!chosen)
      throw new Error(`the path is not paid on ${wanted}, but on ${exact.map(({ network }) => network).join(', ')}`);
    return chosen;
  });
  client.setSpendControls(false);
  for (const { caip2, rpcUrl, privateKey } of Object.values(sandbox.evm)) {
    const scheme = new ExactEvmScheme(privateKeyToAccount(privateKey), { rpcUrl });
    client.register(caip2 as `${string}:${string}`, scheme);
  }
  if (sandbox.solana) {
    const { caip2, rpcUrl, secretKey } = sandbox.solana;
    const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(secretKey));
    client.register(caip2 as `${string}:${string}`, new ExactSvmScheme(signer, { rpcUrl }));
  }
  return new x402HTTPClient(client);
}
