/** The tokens that OKX lists in the sandbox: those of the other doubles, and a few on a second chain. */
import { tokenFixtures } from './market-fixtures.ts';

export interface ListedToken {
  chainIndex: string;
  address: string;
  symbol: string;
  name: string;
  decimals: number;
  price: number;
  liquidity: number;
  volume: number;
  marketCap: number;
  holders: number;
  /** Percent over 5 minutes, 1, 4 and 24 hours. */
  changes: readonly [number, number, number, number];
  isKnown: boolean;
}

export const SOLANA = '501';
const X_LAYER = '196';

const evm = { chainIndex: X_LAYER, isKnown: true } as const;

export const listed: readonly ListedToken[] = [
  ...tokenFixtures.map(({ mint, tags, ...token }) => {
    return { ...token, chainIndex: SOLANA, address: mint, isKnown: tags.includes('verified') };
  }),
  {
    ...evm,
    address: '0xe538905cf8410324e03a5a23c1c177a474d59b2b',
    symbol: 'WOKB',
    name: 'Wrapped OKB',
    decimals: 18,
    price: 178.4,
    liquidity: 12_400_000,
    volume: 8_900_000,
    marketCap: 3_700_000_000,
    holders: 98_000,
    changes: [0.1, 0.6, -1.2, 3.4],
  },
  {
    ...evm,
    address: '0x1e4a5963abfd975d8c9021ce480b42188849d41d',
    symbol: 'USDT',
    name: 'Tether USD',
    decimals: 6,
    price: 1.0002,
    liquidity: 21_000_000,
    volume: 14_200_000,
    marketCap: 96_000_000,
    holders: 310_000,
    changes: [0, 0, 0.01, -0.01],
  },
  {
    ...evm,
    address: '0x4d5a1e9f2c8b37606f1b3ad2e7c95b8841f0aa11',
    symbol: 'XDOG',
    name: 'X Dog',
    decimals: 18,
    price: 0.0421,
    liquidity: 930_000,
    volume: 2_100_000,
    marketCap: 42_100_000,
    holders: 12_600,
    changes: [1.4, -6.2, 9.8, 21.7],
    isKnown: false,
  },
];

/** As OKX wants them: EVM addresses in lower case. */
export const find = (chainIndex: unknown, address: unknown): ListedToken | undefined =>
  listed.find((token) => token.chainIndex === chainIndex && token.address === address);
