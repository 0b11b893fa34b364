/** Clients whose types say nothing, for what happens while they run. */
import type { Asset } from '../../src/client/asset.ts';
import { type Client, type ClientOptions, createClient } from '../../src/client/index.ts';
import type { Gateway } from '../gateway.ts';

// biome-ignore lint/suspicious/noExplicitAny: whatever is sold.
export type Anything = Record<string, { readonly request: object; readonly result: any }>;

export const assetsOf = ({ state }: Gateway): Asset[] => {
  const evm = Object.entries(state.evm).map(([id, { caip2, asset, decimals, name, version }]) => ({
    id,
    network: caip2,
    family: 'evm' as const,
    address: asset,
    decimals,
    domain: { name, version },
  }));
  if (!state.solana) return evm;
  const { id, caip2, mint } = state.solana;
  return [...evm, { id, network: caip2, family: 'solana' as const, address: mint, decimals: 6 }];
};

/** Pays on chain-c and on chain-a with the sandbox's wallets. */
export function openClient(gateway: Gateway, options: Partial<ClientOptions> = {}): Client<Anything> {
  const { evm, solana } = gateway.state;
  return createClient<Anything>({
    url: gateway.url,
    assets: assetsOf(gateway),
    ...options,
    pay: {
      evm: evm['chain-c']?.privateKey ?? '',
      ...(solana && { solana: solana.secretKey, solanaRpcUrl: solana.rpcUrl }),
      ...options.pay,
    },
  });
}
