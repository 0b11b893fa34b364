import type { AssetFile, Network } from '../../../src/catalogue/types.ts';

/** A few networks as `networks.yaml` has them, for tests of the payment side. */
const network = (id: string, family: Network['family'], caip2: string, asset: AssetFile, v1Name?: string): Network => {
  const binding = { caip2, asset, ...(v1Name ? { v1Name } : {}) };
  return { id, family, listedAs: id, live: binding, sandbox: binding, authorizationLastsMs: undefined };
};

export const solanaDevnet = network(
  'chain-a',
  'solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  { symbol: 'USDC', address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', decimals: 6 },
  'solana-devnet',
);

export const baseSepolia = network(
  'chain-c',
  'evm',
  'eip155:84532',
  { symbol: 'USDC', address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', decimals: 6, name: 'USDC', version: '2' },
  'base-sepolia',
);

/** Not a USDC: its EIP-712 version is "1". */
export const stable = network('chain-e', 'evm', 'eip155:988', {
  symbol: 'USDT0',
  address: '0x779Ded0c9e1022225f8E0630b35a9b54bE713736',
  decimals: 6,
  name: 'USDT0',
  version: '1',
});

export const polygon = network(
  'polygon',
  'evm',
  'eip155:137',
  {
    symbol: 'USDC',
    address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    decimals: 6,
    name: 'USD Coin',
    version: '2',
  },
  'polygon',
);

export const networks = [solanaDevnet, baseSepolia, stable, polygon];
