/** A network in `GET /storefront/networks`. */
export interface ShownNetwork {
  readonly id: string;
  /** For people: `Chain A`. */
  readonly name: string;
  readonly family: 'evm' | 'solana';
  readonly caip2: string;
  /** In the sandbox: what is signed for it would be good on the live network, too, which has the same number. */
  readonly isAlsoLive: boolean;
  readonly asset: {
    readonly symbol: string;
    readonly address: string;
    readonly decimals: number;
    /** Of its EIP-712 domain; EVM networks only. */
    readonly domain?: { readonly name: string; readonly version: string };
  };
}
