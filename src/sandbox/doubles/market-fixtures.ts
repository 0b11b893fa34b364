/** A handful of real tokens with made-up, unchanging figures. Addresses are those of Solana's mainnet. */

export interface TokenFixture {
  mint: string;
  symbol: string;
  name: string;
  decimals: number;
  /** tokens.xyz's asset that the token is a variant of. */
  assetId: string;
  kind: 'native' | 'stablecoin' | 'lst' | 'tokenized_equity';
  tier: 'tier1' | 'tier2' | 'tier3';
  tags: readonly string[];
  /** Dollars. */
  price: number;
  liquidity: number;
  volume: number;
  marketCap: number;
  /** Percent over 5 minutes, 1, 6 and 24 hours. */
  changes: readonly [number, number, number, number];
  holders: number;
  launchpad?: string;
  website?: string;
  twitter?: string;
  /** Price of the share that it stands for, and the multiplier of its scaled amounts. */
  stock?: { price: number; multiplier: number };
}

export interface AssetFixture {
  assetId: string;
  name: string;
  symbol: string;
  category: string;
  lists: readonly string[];
  aliases: readonly string[];
}

export const assetFixtures: readonly AssetFixture[] = [
  { assetId: 'solana', name: 'Solana', symbol: 'SOL', category: 'crypto', lists: ['majors', 'lsts'], aliases: ['sol'] },
  {
    assetId: 'usd',
    name: 'US Dollar',
    symbol: 'USD',
    category: 'stablecoin',
    lists: ['majors', 'currencies'],
    aliases: ['dollar', 'usdc'],
  },
  { assetId: 'jupiter', name: 'Jupiter', symbol: 'JUP', category: 'crypto', lists: ['majors'], aliases: ['jup'] },
  { assetId: 'bonk', name: 'Bonk', symbol: 'BONK', category: 'crypto', lists: ['majors'], aliases: [] },
  { assetId: 'dogwifhat', name: 'dogwifhat', symbol: 'WIF', category: 'crypto', lists: ['majors'], aliases: ['wif'] },
  { assetId: 'fartcoin', name: 'Fartcoin', symbol: 'FARTCOIN', category: 'crypto', lists: [], aliases: [] },
  { assetId: 'pnut', name: 'Peanut the Squirrel', symbol: 'PNUT', category: 'crypto', lists: [], aliases: ['peanut'] },
  { assetId: 'goat', name: 'Goatseus Maximus', symbol: 'GOAT', category: 'crypto', lists: [], aliases: [] },
  { assetId: 'tesla', name: 'Tesla', symbol: 'TSLA', category: 'equity', lists: ['stocks', 'rwas'], aliases: ['tsla'] },
  { assetId: 'apple', name: 'Apple', symbol: 'AAPL', category: 'equity', lists: ['stocks', 'rwas'], aliases: ['aapl'] },
  {
    assetId: 'nvidia',
    name: 'NVIDIA',
    symbol: 'NVDA',
    category: 'equity',
    lists: ['stocks', 'rwas'],
    aliases: ['nvda'],
  },
  {
    assetId: 'meta',
    name: 'Meta Platforms',
    symbol: 'META',
    category: 'equity',
    lists: ['stocks', 'rwas'],
    aliases: [],
  },
  {
    assetId: 'microsoft',
    name: 'Microsoft',
    symbol: 'MSFT',
    category: 'equity',
    lists: ['stocks', 'rwas'],
    aliases: ['msft'],
  },
  {
    assetId: 'pre-anduril',
    name: 'Anduril',
    symbol: 'ANDURIL',
    category: 'equity',
    lists: ['rwas'],
    aliases: ['anduril'],
  },
];

const crypto = { kind: 'native', tier: 'tier1' } as const;
const meme = { kind: 'native', tier: 'tier3', decimals: 6, launchpad: 'pump.fun', tags: ['community'] } as const;
const stock = { kind: 'tokenized_equity', tier: 'tier2', decimals: 8, tags: ['verified', 'xstocks'] } as const;

export const tokenFixtures: readonly TokenFixture[] = [
  {
    ...crypto,
    mint: 'So11111111111111111111111111111111111111112',
    symbol: 'SOL',
    name: 'Wrapped SOL',
    decimals: 9,
    assetId: 'solana',
    tags: ['verified'],
    price: 168.42,
    liquidity: 640_000_000,
    volume: 2_900_000_000,
    marketCap: 91_000_000_000,
    changes: [0.1, -0.4, 1.2, 2.6],
    holders: 3_400_000,
    website: 'https://solana.com',
  },
  {
    mint: 'J1toso1uCk3RLmjorhTtrVwY9HJ7X8V9yYac6Y7kGCPn',
    symbol: 'JitoSOL',
    name: 'Jito Staked SOL',
    decimals: 9,
    assetId: 'solana',
    kind: 'lst',
    tier: 'tier1',
    tags: ['verified', 'lst'],
    price: 205.9,
    liquidity: 88_000_000,
    volume: 61_000_000,
    marketCap: 2_600_000_000,
    changes: [0.1, -0.4, 1.2, 2.7],
    holders: 410_000,
  },
  {
    mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    assetId: 'usd',
    kind: 'stablecoin',
    tier: 'tier1',
    tags: ['verified'],
    price: 0.9999,
    liquidity: 510_000_000,
    volume: 3_800_000_000,
    marketCap: 9_400_000_000,
    changes: [0, 0, 0.01, -0.01],
    holders: 4_900_000,
  },
  {
    mint: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
    symbol: 'USDT',
    name: 'USDT',
    decimals: 6,
    assetId: 'usd',
    kind: 'stablecoin',
    tier: 'tier1',
    tags: ['verified'],
    price: 1.0001,
    liquidity: 140_000_000,
    volume: 720_000_000,
    marketCap: 2_300_000_000,
    changes: [0, 0.01, 0, 0.01],
    holders: 2_100_000,
  },
  {
    ...crypto,
    mint: 'JUPyiwrYJFskUPiHa7hkeR8VUtAeFoSYbKedZNsDvCN',
    symbol: 'JUP',
    name: 'Jupiter',
    decimals: 6,
    assetId: 'jupiter',
    tags: ['verified'],
    price: 0.4812,
    liquidity: 31_000_000,
    volume: 42_000_000,
    marketCap: 1_500_000_000,
    changes: [0.2, 0.9, -1.4, 3.8],
    holders: 690_000,
    twitter: 'https://x.com/JupiterExchange',
  },
  {
    ...crypto,
    mint: 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263',
    symbol: 'BONK',
    name: 'Bonk',
    decimals: 5,
    assetId: 'bonk',
    tags: ['verified'],
    price: 0.00002154,
    liquidity: 9_800_000,
    volume: 64_000_000,
    marketCap: 1_720_000_000,
    changes: [-0.3, 1.9, 4.1, -2.2],
    holders: 980_000,
    website: 'https://bonkcoin.com',
  },
  {
    ...crypto,
    mint: 'EKpQGSJtjMFqKZ9KQanSqYXRcF8fBopzLHYxdM65zcjm',
    symbol: 'WIF',
    name: 'dogwifhat',
    decimals: 6,
    assetId: 'dogwifhat',
    tags: ['verified'],
    price: 0.8134,
    liquidity: 12_400_000,
    volume: 38_000_000,
    marketCap: 812_000_000,
    changes: [0.4, -1.1, 2.2, 5.3],
    holders: 240_000,
  },
  {
    ...meme,
    mint: '9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump',
    symbol: 'FARTCOIN',
    name: 'Fartcoin',
    assetId: 'fartcoin',
    price: 0.7421,
    liquidity: 14_100_000,
    volume: 71_000_000,
    marketCap: 742_000_000,
    changes: [1.2, 4.8, -3.1, 11.4],
    holders: 160_000,
    website: 'https://www.infinitebackrooms.com',
  },
  {
    ...meme,
    mint: '2qEHjDLDLbuBgRYvsxhc5D6uDWAivNFZGan56P1tpump',
    symbol: 'PNUT',
    name: 'Peanut the Squirrel',
    assetId: 'pnut',
    price: 0.1893,
    liquidity: 6_300_000,
    volume: 22_000_000,
    marketCap: 189_000_000,
    changes: [-0.7, -2.4, 6.9, 8.2],
    holders: 84_000,
    twitter: 'https://x.com/pnutsolana',
  },
  {
    ...meme,
    mint: 'CzLSujWBLFsSjncfkh59rUFqvafWcY5tzedWJSuypump',
    symbol: 'GOAT',
    name: 'Goatseus Maximus',
    assetId: 'goat',
    price: 0.0934,
    liquidity: 4_900_000,
    volume: 13_000_000,
    marketCap: 93_400_000,
    changes: [0.3, 1.4, 2.5, -6.6],
    holders: 71_000,
  },
  {
    ...stock,
    mint: 'XsDoVfqeBukxuZHWhdvWHBhgEHjGNst4MLodqsJHzoB',
    symbol: 'TSLAx',
    name: 'Tesla xStock',
    assetId: 'tesla',
    price: 352.4,
    liquidity: 4_300_000,
    volume: 9_100_000,
    marketCap: 61_000_000,
    changes: [0.1, 0.3, -0.8, 1.9],
    holders: 21_000,
    stock: { price: 349.6, multiplier: 1 },
  },
  {
    ...stock,
    mint: 'XsbEhLAtcf6HdfpFZ5xEMdqW8nfAvcsP5bdudRLJzJp',
    symbol: 'AAPLx',
    name: 'Apple xStock',
    assetId: 'apple',
    price: 231.1,
    liquidity: 1_900_000,
    volume: 2_700_000,
    marketCap: 22_000_000,
    changes: [0, 0.1, 0.4, -0.6],
    holders: 11_000,
    stock: { price: 233.35, multiplier: 1.0021 },
  },
  {
    ...stock,
    mint: 'Xsc9qvGR1efVDFGLrVsmkzv3qi45LTBjeUKSPmx9qEh',
    symbol: 'NVDAx',
    name: 'NVIDIA xStock',
    assetId: 'nvidia',
    price: 182.05,
    liquidity: 3_600_000,
    volume: 7_800_000,
    marketCap: 48_000_000,
    changes: [0.2, -0.2, 1.1, 2.4],
    holders: 18_000,
    stock: { price: 181.94, multiplier: 1.0017 },
  },
  {
    ...stock,
    mint: 'Xsa62P5mvPszXL1krVUnU5ar38bBSVcWAB6fmPCo5Zu',
    symbol: 'METAx',
    name: 'Meta xStock',
    assetId: 'meta',
    price: 702.7,
    liquidity: 8_400,
    volume: 310_000,
    marketCap: 5_100_000,
    changes: [0, 0, 0.2, 0.9],
    holders: 4_200,
    stock: { price: 688.2, multiplier: 1.0009 },
  },
  {
    ...stock,
    mint: 'PresTj4Yc2bAR197Er7wz4UUKSfqt6FryBEdAriBoQB',
    symbol: 'ANDURIL',
    name: 'Anduril PreStocks',
    assetId: 'pre-anduril',
    price: 71.3,
    liquidity: 620_000,
    volume: 140_000,
    marketCap: 3_900_000,
    changes: [0, 0.6, 1.2, 4.4],
    holders: 2_300,
  },
];

/** Listed by the registry of xStocks, but not traded anywhere. */
export const unpricedStock = {
  symbol: 'MSFTx',
  name: 'Microsoft xStock',
  mint: 'XspzcW1PRtgf6Wj92HCiZdjzKCyFekVD8P5Ueh3dRMX',
};
