/**
 * What the coin that pays a network's fees is worth at most, in dollars, by CAIP-2 id: rather too much than too little,
 * for what settling costs is weighed with it. `TURNPIKE_COIN_USD_<NETWORK>` goes over it. Settling on a network that
 * stands in neither is bounded in gas alone.
 */
export const COIN_DOLLARS: Readonly<Record<string, string>> = {
  // SOL
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': '300',
  // ETH
  'eip155:8453': '5000',
  'eip155:4663': '5000',
};
