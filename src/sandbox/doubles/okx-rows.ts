/** How OKX shows tokens: every number is a string, what it does not know is empty. Sources: okx-dex-market.ts. */

import { digest, type Seeded, seeded } from '../../examples/seed.ts';
import { encodeBase58 } from '../../on-chain/base58.ts';
import { find, type ListedToken, listed, SOLANA } from './okx-tokens.ts';

/** An address as the chain writes them. */
const wallet = (seed: string, chainIndex: unknown): string =>
  chainIndex === SOLANA ? encodeBase58(Buffer.from(digest(seed, 64), 'hex')) : `0x${digest(seed, 40)}`;
const logo = (symbol: string): string =>
  `https://static.oklink.com/cdn/web3/currency/token/${symbol.toLowerCase()}.png`;
const around = (value: number, random: Seeded): string => String(value * (0.9 + random.number() * 0.2));

export function hotTokens(query: URLSearchParams) {
  const rankBy = query.get('rankBy');
  const frame = Number(query.get('rankingTimeFrame') ?? 4) - 1;
  const change = (token: ListedToken): number => token.changes[frame] ?? token.changes[3];
  const value: (token: ListedToken) => number =
    rankBy === '1'
      ? ({ price }) => price
      : rankBy === '2'
        ? change
        : rankBy === '6'
          ? ({ marketCap }) => marketCap
          : ({ volume }) => volume;
  return listed
    .filter(({ chainIndex }) => chainIndex === query.get('chainIndex'))
    .toSorted((one, other) => value(other) - value(one))
    .slice(0, Number(query.get('limit') ?? 100))
    .map((token) => ({
      chainIndex: token.chainIndex,
      tokenSymbol: token.symbol,
      tokenLogoUrl: logo(token.symbol),
      tokenContractAddress: token.address,
      marketCap: String(token.marketCap),
      volume: String(token.volume),
      firstTradeTime: '1731456000000',
      change: String(change(token)),
      liquidity: String(token.liquidity),
      price: String(token.price),
      holders: String(token.holders),
      uniqueTraders: String(Math.round(token.holders / 40)),
      txsBuy: String(Math.round(token.holders / 20)),
      txsSell: String(Math.round(token.holders / 25)),
      txs: String(Math.round(token.holders / 20) + Math.round(token.holders / 25)),
      inflowUsd: String(token.volume * 0.04),
      riskLevelControl: token.isKnown ? '1' : '3',
      devHoldPercent: '0.6',
      top10HoldPercent: '22.4',
      insiderHoldPercent: '',
      bundleHoldPercent: '1.9',
      vibeScore: '',
      mentionsCount: '',
      cursor: token.address,
    }));
}

export function searched(query: URLSearchParams) {
  const asked = (query.get('search') ?? '').toLowerCase();
  const chains = (query.get('chains') ?? '').split(',');
  return listed
    .filter(({ chainIndex, symbol, name, address }) => {
      return (
        chains.includes(chainIndex) &&
        (address === query.get('search') || `${symbol} ${name}`.toLowerCase().includes(asked))
      );
    })
    .map((token) => ({
      ...basicInfo(token),
      price: String(token.price),
      change: String(token.changes[3]),
      marketCap: String(token.marketCap),
      liquidity: String(token.liquidity),
      holders: String(token.holders),
      explorerUrl: `https://web3.okx.com/explorer/token/${token.address}`,
      cursor: token.address,
    }));
}

export const basicInfo = ({ chainIndex, address, symbol, name, decimals, isKnown }: ListedToken) => ({
  chainIndex,
  tokenName: name,
  tokenSymbol: symbol,
  tokenLogoUrl: logo(symbol),
  decimal: String(decimals),
  tokenContractAddress: address,
  tagList: { communityRecognized: isKnown },
});

export function priceInfo({ chainIndex, address, price, marketCap, liquidity, holders, changes, volume }: ListedToken) {
  const [change5M, change1H, change4H, change24H] = changes.map(String);
  return {
    chainIndex,
    tokenContractAddress: address,
    time: String(Date.now()),
    price: String(price),
    marketCap: String(marketCap),
    liquidity: String(liquidity),
    circSupply: String(marketCap / price),
    holders: String(holders),
    tradeNum: String(Math.round(holders / 10)),
    priceChange5M: change5M,
    priceChange1H: change1H,
    priceChange4H: change4H,
    priceChange24H: change24H,
    volume5M: String(volume / 288),
    volume1H: String(volume / 24),
    volume4H: String(volume / 6),
    volume24H: String(volume),
    txs5M: String(Math.round(holders / 2880)),
    txs1H: String(Math.round(holders / 240)),
    txs4H: String(Math.round(holders / 60)),
    txs24H: String(Math.round(holders / 10)),
    maxPrice: String(price * 1.04),
    minPrice: String(price * 0.97),
  };
}

export const advancedInfo = ({ chainIndex, address, isKnown }: ListedToken) => ({
  riskControlLevel: isKnown ? '1' : '3',
  totalFee: '1204.5',
  lpBurnedPercent: isKnown ? '' : '100',
  isInternal: false,
  protocolId: isKnown ? '' : '120596',
  progress: '100',
  tokenTags: isKnown ? ['communityRecognized'] : ['smartMoneyBuy', 'dexScreenerPaid'],
  createTime: '1731456000000',
  creatorAddress: wallet(`creator ${address}`, chainIndex),
  devRugPullTokenCount: '0',
  devCreateTokenCount: '3',
  devLaunchedTokenCount: '1',
  top10HoldPercent: '22.4',
  devHoldingPercent: '0.6',
  bundleHoldingPercent: '1.9',
  suspiciousHoldingPercent: '0.3',
  sniperHoldingPercent: '0.8',
  snipersClearAddressCount: '4',
  snipersTotal: '11',
});

const HOLDERS = 100;

/** With a filter only some of the wallets remain. */
export function holders({ chainIndex, address, price, marketCap }: ListedToken, query: URLSearchParams) {
  const tag = query.get('tagFilter');
  return Array.from({ length: HOLDERS }, (_, place) => place)
    .filter((place) => !tag || place % 9 === Number(tag) - 1)
    .map((place) => {
      const percent = Math.round((6 / (place + 1)) * 10_000) / 10_000;
      const amount = ((marketCap / price) * percent) / 100;
      return {
        holderWalletAddress: wallet(`holder ${place} ${address}`, chainIndex),
        holdAmount: String(amount),
        holdPercent: String(percent),
        nativeTokenBalance: '1.5',
        boughtAmount: String(amount * 1.2),
        avgBuyPrice: String(price * 0.8),
        totalSellAmount: String(amount * 0.2),
        avgSellPrice: '',
        totalPnlUsd: String(amount * price * 0.2),
        realizedPnlUsd: String(amount * price * 0.05),
        unrealizedPnlUsd: String(amount * price * 0.15),
        fundingSource: place === 0 ? 'Binance' : '',
      };
    });
}

export function trades({ chainIndex, address, price, symbol }: ListedToken, query: URLSearchParams) {
  const random = seeded(`trades ${address} ${query.get('tagFilter')}`);
  return Array.from({ length: 500 }, (_, place) => ({
    id: digest(`trade ${place} ${address}`, 16),
    type: random.number() < 0.5 ? 'buy' : 'sell',
    price: around(price, random),
    volume: String(1000 + random.integer(0, 90_000)),
    time: String(Date.now() - place * 60_000),
    dexName: random.pick(['Raydium', 'Orca', 'Meteora']),
    txHashUrl: `https://web3.okx.com/explorer/tx/${digest(`hash ${place} ${address}`)}`,
    userAddress: wallet(`trader ${random.integer(0, 20)}`, chainIndex),
    isFiltered: '1',
    poolLogoUrl: '',
    changedTokenInfo: [
      { tokenSymbol: symbol, tokenAddress: address, tokenLogoUrl: logo(symbol), amount: around(500 / price, random) },
    ],
  }));
}

const barSeconds: Readonly<Record<string, number>> = {
  ...{ '1s': 1, '1m': 60, '3m': 180, '5m': 300, '15m': 900, '30m': 1800, '1H': 3600, '2H': 7200, '4H': 14_400 },
  ...{ '6H': 21_600, '12H': 43_200, '1D': 86_400, '1W': 604_800 },
};
const MOST_CANDLES = 299;

/** The latest first; the first is still being drawn. */
export function candles({ address, price, volume }: ListedToken, query: URLSearchParams) {
  const step = (barSeconds[query.get('bar') ?? '1m'] ?? 60) * 1000;
  const latest = Math.floor(Date.now() / step) * step;
  return Array.from({ length: MOST_CANDLES }, (_, place) => {
    const time = latest - place * step;
    const random = seeded(`candle ${address} ${time}`);
    const [open, close] = [price * (0.97 + random.number() * 0.06), price * (0.97 + random.number() * 0.06)];
    const amount = (volume / 86_400_000) * step;
    const values = [
      time,
      open,
      Math.max(open, close) * 1.01,
      Math.min(open, close) * 0.99,
      close,
      amount / price,
      amount,
    ];
    return [...values.map(String), place === 0 ? '0' : '1'];
  });
}

export const clusterOverview = ({ isKnown }: ListedToken) => ({
  clusterConcentration: isKnown ? 'Low' : 'Medium',
  top100HoldingsPercent: '61.2',
  rugPullPercent: isKnown ? '0.4' : '7.1',
  holderNewAddressPercent: '3.2',
  holderSameFundSourcePercent: '1.8',
  holderSameCreationTimePercent: '',
});

export const clusterTopHolders = ({ price, marketCap }: ListedToken) => ({
  holdingAmount: String((marketCap / price) * 0.6),
  holdingPercent: '60.4',
  clusterTrendType: ['buy'],
  averageHoldingPeriod: '1893600',
  averagePnlUsd: '20412.7',
  averageBuyPriceUsd: String(price * 0.8),
  averageBuyPricePercent: '-20',
  averageSellPriceUsd: '',
  averageSellPricePercent: '',
});

/** What `sortBy` orders traders by, from 1 on. */
const leaderOrders = ['realizedPnlUsd', 'winRatePercent', 'txs', 'txVolume', 'realizedPnlPercent'] as const;

export function leaderboard(query: URLSearchParams) {
  const chainIndex = query.get('chainIndex');
  const leaders = Array.from({ length: 20 }, (_, place) => {
    const random = seeded(`leader ${place} ${chainIndex} ${query.get('timeFrame')}`);
    return {
      walletAddress: wallet(`leader ${place} ${chainIndex}`, chainIndex),
      realizedPnlUsd: String(400_000 - place * 15_000),
      realizedPnlPercent: around(140, random),
      winRatePercent: around(62, random),
      avgBuyValueUsd: around(900, random),
      topPnlTokenList: [],
      txs: String(random.integer(40, 900)),
      txVolume: around(2_000_000, random),
      lastActiveTimestamp: String(Date.now() - place * 60_000),
    };
  });
  const order = leaderOrders[Number(query.get('sortBy')) - 1] ?? 'realizedPnlUsd';
  return leaders.sort((one, other) => Number(other[order]) - Number(one[order]));
}

export function signals(body: Readonly<Record<string, unknown>>) {
  const { chainIndex, tokenAddress, walletType = '1', limit } = body;
  const asked = String(walletType).split(',');
  return listed
    .filter(
      (token) => token.chainIndex === chainIndex && (tokenAddress === undefined || token.address === tokenAddress),
    )
    .slice(0, Number(limit ?? 100))
    .map((token, place) => ({
      timestamp: String(Date.now() - place * 60_000),
      chainIndex,
      price: String(token.price),
      walletType: asked[place % asked.length],
      triggerWalletCount: '3',
      triggerWalletAddress: [0, 1, 2].map((index) => wallet(`signal ${index} ${token.address}`, chainIndex)).join(','),
      amountUsd: String(token.liquidity * 0.001),
      soldRatioPercent: '12.5',
      token: {
        tokenAddress: token.address,
        symbol: token.symbol,
        name: token.name,
        logo: logo(token.symbol),
        marketCapUsd: String(token.marketCap),
        holders: String(token.holders),
        top10HolderPercent: '22.4',
      },
      cursor: String(place),
    }));
}

export function scans(body: { tokenList?: readonly { chainId?: unknown; contractAddress?: unknown }[] }) {
  return (body.tokenList ?? []).flatMap(({ chainId, contractAddress }) => {
    const token = find(chainId, contractAddress);
    if (token === undefined) return [];
    const { isKnown } = token;
    return [
      {
        chainId,
        tokenAddress: contractAddress,
        isChainSupported: true,
        riskLevel: isKnown ? 'LOW' : 'MEDIUM',
        isHoneypot: false,
        isMintable: !isKnown,
        buyTaxes: '0',
        sellTaxes: null,
      },
    ];
  });
}

export function news(query: URLSearchParams) {
  const symbol = query.get('tokenSymbols') ?? '';
  if (!listed.some((token) => token.symbol === symbol)) return [];
  const heads = ['trading picks up as volume returns', 'sees a new listing', 'community votes on a treasury plan'];
  return heads.slice(0, Number(query.get('limit') ?? 10)).map((head, place) => ({
    id: digest(`${symbol} ${place}`, 12),
    title: `${symbol} ${head}`,
    summary: `${symbol} ${head}, sandbox wire reports.`,
    sourceUrl: `https://news.example/${symbol.toLowerCase()}/${place + 1}`,
    content: '',
    source: 'sandboxwire',
    timestamp: Date.now() - (place + 1) * 3_600_000,
    tokenSymbols: [symbol],
    importance: 'medium',
    tokenSymbolSentiments: [{ tokenSymbol: symbol, sentiment: 'bullish' }],
  }));
}

export function sentiment(query: URLSearchParams) {
  const symbol = query.get('tokenSymbols') ?? '';
  if (!listed.some((token) => token.symbol === symbol)) return [];
  return [
    {
      tokenSymbol: symbol,
      mentionCount: '418',
      xMentionCount: '395',
      newsMentionCount: '23',
      sentiment: {
        bullishCnt: '242',
        bearishCnt: '88',
        neutralCnt: '88',
        bullishRatio: '0.58',
        bearishRatio: '0.21',
        label: 'bullish',
      },
    },
  ];
}
