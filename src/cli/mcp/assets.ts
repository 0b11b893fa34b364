/** Dollar stablecoins that a payment may be made in. What a gateway says of an asset is never believed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Asset } from '../../client/asset.ts';
import type { SandboxState } from '../../rails/paying-client.ts';
import { shippedCatalogue } from '../shipped-catalogue.ts';

interface ShippedNetwork {
  readonly family: 'evm' | 'solana';
  readonly live: {
    readonly caip2: string;
    readonly rpcUrl: string;
    readonly asset: { address: string; decimals: number; name?: string; version?: string };
  };
}

/** Those of the catalogue that comes with the package, not of one that lies about where the command is run. */
export function shippedAssets(environment: NodeJS.ProcessEnv): Asset[] {
  const networks: Record<string, ShippedNetwork> = parse(
    readFileSync(join(shippedCatalogue(), 'networks.yaml'), 'utf8'),
  );
  return Object.entries(networks).map(([id, { family, live }]) => {
    const { address, decimals, name, version } = live.asset;
    const rpcUrl = environment[`TURNPIKE_RPC_URL_${id.toUpperCase().replaceAll('-', '_')}`] ?? live.rpcUrl;
    const domain = name !== undefined && version !== undefined ? { name, version } : undefined;
    return { id, network: live.caip2, family, address, decimals, domain, rpcUrl };
  });
}

export function sandboxAssets({ evm, solana }: SandboxState): Asset[] {
  const assets = Object.entries(evm).map(
    ([id, { caip2, asset, decimals, name, version, rpcUrl }]): Asset => ({
      id,
      network: caip2,
      family: 'evm',
      address: asset,
      decimals,
      domain: { name, version },
      rpcUrl,
    }),
  );
  if (!solana) return assets;
  const { id, caip2, mint, decimals, rpcUrl } = solana;
  const onSolana: Asset = {
    id,
    network: caip2,
    family: 'solana',
    address: mint,
    decimals,
    domain: undefined,
    rpcUrl,
  };
  return [...assets, onSolana];
}
