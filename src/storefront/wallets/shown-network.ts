/** A network in `GET /storefront/networks`. */
export interface ShownNetwork {
  readonly id: string;
  /** For people: `Chain A`. */
  readonly name: string;
  readonly family: 'evm' | 'solana';
  readonly caip2: string;
  readonly asset: { readonly symbol: string; readonly address: string; readonly decimals: number };
}
