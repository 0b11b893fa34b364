/** Dollar stablecoins that a payment may be made in. What a gateway says of an asset is never believed. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { SandboxState } from '../../rails/paying-client.ts';

export interface KnownAsset {
  /** Neutral id of its network. */
  readonly id: string;
  /** CAIP-2 id of its network. */
  readonly network: string;
  readonly family: 'evm' | 'solana';
  readonly address: string;
  readonly decimals: number;
  /** Of its EIP-712 domain; EVM networks only. */
  readonly domain: { readonly name: string; readonly version: string } | undefined;
  readonly rpcUrl: string;
}

interface ShippedNetwork {
  readonly family: 'evm' | 'solana';
  readonly live: {
    readonly caip2: string;
    readonly rpcUrl: string;
    readonly asset: { address: string; decimals: number; name?: string; version?: string };
  };
}

/** From the sources, or from what was built of them. */
const PLACES = ['../../../catalogue/networks.yaml', '../../../../catalogue/networks.yaml'];

/** Those of the catalogue that comes with the package, not of one that lies about where the command is run. */
export function shippedAssets(environment: NodeJS.ProcessEnv): KnownAsset[] {
  const places = PLACES.map((place) => join(import.meta.dirname, place));
  const networks: Record<string, ShippedNetwork> = parse(readFileSync(places.find(existsSync) ?? '', 'utf8'));
  return Object.entries(networks).map(([id, { family, live }]) => {
    const { address, decimals, name, version } = live.asset;
    const rpcUrl = environment[`TURNPIKE_RPC_URL_${id.toUpperCase().replaceAll('-', '_')}`] ?? live.rpcUrl;
    const domain = name !== undefined && version !== undefined ? { name, version } : undefined;
    return { id, network: live.caip2, family, address, decimals, domain, rpcUrl };
  });
}

/** In the sandbox every asset has six decimals. */
const SANDBOX_DECIMALS = 6;

export function sandboxAssets({ evm, solana }: SandboxState): KnownAsset[] {
  const assets = Object.entries(evm).map(
    ([id, { caip2, asset, decimals, name, version, rpcUrl }]): KnownAsset => ({
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
  const { id, caip2, mint, rpcUrl } = solana;
  const onSolana: KnownAsset = {
    id,
    network: caip2,
    family: 'solana',
    address: mint,
    decimals: SANDBOX_DECIMALS,
    domain: undefined,
    rpcUrl,
  };
  return [...assets, onSolana];
}
