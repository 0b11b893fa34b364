// Made from the catalogue by `npm run codegen`. Changes here are lost: change the catalogue.

/**
 * Tokens, signals or traders that were found
 */
export interface TokenDiscoveryResult {
  /**
   * The chain that was searched
   */
  chain: string;
  /**
   * What was looked for
   */
  action: string;
  /**
   * The best first. Tokens have tokenSymbol, tokenContractAddress, price, change, marketCap, liquidity, volume and holders; signals timestamp, walletType, triggerWalletCount, amountUsd and token; traders walletAddress and their profit. Amounts in US dollars, changes in percent, times in milliseconds since 1970; null where nothing is known.
   */
  data: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
