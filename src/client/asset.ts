/** A dollar stablecoin that a payment may be made in. What a gateway says of an asset while it sells is never believed. */
export interface Asset {
  /** Neutral id of its network, such as `chain-c`. */
  readonly id: string;
  /** CAIP-2 id of its network. */
  readonly network: string;
  readonly family: 'evm' | 'solana';
  /** Of its contract, or of its mint. */
  readonly address: string;
  readonly decimals: number;
  /** Of its EIP-712 domain; EVM networks only. */
  readonly domain?: { readonly name: string; readonly version: string } | undefined;
  /** Where a Solana payment is prepared; left out: the network's public address. */
  readonly rpcUrl?: string | undefined;
}

/** Those on the network of that id, which may be a live one and its sandbox's, or of that CAIP-2 id; all where none is named. */
export const assetsOn = (network: string | undefined, assets: readonly Asset[]): readonly Asset[] =>
  network === undefined ? assets : assets.filter((asset) => asset.id === network || asset.network === network);

/** Of EVM addresses: whoever writes one may give it capitals, or none. */
export const isSameAddress = (one: unknown, other: string): boolean =>
  String(one).toLowerCase() === other.toLowerCase();
