/** Section 4.6: token intelligence and stocks. */
import {
  launchpad,
  onChain,
  scanner,
  starterKit,
  stockResearch,
  stockSignal,
  tokenNews,
  tokenSignal,
} from '../results.ts';
import { choice, type MirrorOf, number, type PaidChoice, type Row, required, text, textBut } from '../row.ts';
import { flagged, type Shape, wrapped } from '../shape.ts';

const onChainC = (result?: Shape): MirrorOf => ({
  network: 'chain-c',
  prefix: 'chain-c-main',
  ...(result ? { result } : {}),
});

const MINT = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263';
const OTHER_MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const CHAIN_B_TOKEN = '0xe538905cf8410324e03a5a23c1c177a474d59b2b';

const ticker = textBut(
  ['AAPL', 'AAPLx', 'TSLA', 'NVDA', 'SPY', 'META', 'GOOGL', 'MSFT', 'AMZN', 'QQQ', 'CRCL'],
  ['not a ticker'],
);
const tickerOnChainD = { ...ticker, accepts: ['AAPL', 'TSLA', 'AAPLx'], refuses: [...ticker.refuses, 'SPY', 'QQQ'] };

const stock = (path: string, price: string, result: { venueA: Shape; venueD: Shape }): Row => ({
  path,
  price,
  fields: { ticker: required(ticker) },
  result: result.venueA,
  more: [{ request: { ticker: 'TSLA' }, result: result.venueD, on: 'chain-d' }],
  mirrors: [
    onChainC(),
    {
      network: 'chain-d',
      prefix: 'chain-d',
      fields: { ticker: required(tickerOnChainD) },
      result: result.venueD,
    },
  ],
});

const movers = (path: string): Row => ({
  path,
  method: 'GET',
  price: '0.1',
  fields: {},
  result: launchpad,
  mirrors: [onChainC()],
});

const actions = (chain: 'chain-a' | 'chain-b', names: readonly string[]): PaidChoice[] =>
  names.map((action) => ({ request: { action }, result: onChain(chain, action) }));

const discovery = onChain('chain-a', 'hot_tokens');
const market = onChain('chain-a', 'token_overview');
const discoveryOfB = onChain('chain-b', 'hot_tokens');
const marketOfB = onChain('chain-b', 'token_overview');

export const tokenRows: readonly Row[] = [
  movers('/token/launchpad-movers'),
  movers('/token/launchpad-trending'),
  {
    path: '/token/chain-a-discovery',
    price: '0.01',
    fields: {
      action: choice(['hot_tokens', 'top_movers', 'smart_money', 'top_traders'], 'hot_tokens'),
      keyword: text('bonk'),
      limit: number({ min: 1, example: 5, default: 20 }),
      timeFrame: text('4', '4'),
      sortBy: text('2'),
      tokenAddress: text(MINT),
      walletType: text('1', '1'),
    },
    rules: { accepts: [{ action: 'search', keyword: 'bonk' }], refuses: [{ action: 'search' }] },
    result: discovery,
    more: [
      ...actions('chain-a', ['top_movers', 'smart_money', 'top_traders']),
      { request: { action: 'search', keyword: 'b' }, result: onChain('chain-a', 'search') },
    ],
    mirrors: [onChainC(flagged(discovery))],
  },
  {
    path: '/token/chain-a-market',
    price: '0.01',
    fields: {
      action: required(
        choice(['token_overview', 'holder_analysis', 'candlesticks', 'whale_trades', 'token_risk', 'cluster_check']),
      ),
      tokenAddress: required(text(MINT)),
      bar: text('4H', '1H'),
      limit: number({ min: 1, example: 10, default: 50 }),
      tagFilter: text('4'),
    },
    rules: {
      accepts: [{ tokenAddress: undefined, tokenAddresses: [MINT, OTHER_MINT] }],
      refuses: [
        { tokenAddress: undefined, tokenAddresses: [] },
        { tokenAddress: undefined, action: 'candlesticks' },
      ],
    },
    result: market,
    more: [
      ...actions('chain-a', ['holder_analysis', 'candlesticks', 'whale_trades', 'token_risk', 'cluster_check']),
      { request: { tokenAddress: undefined, tokenAddresses: [MINT, OTHER_MINT] }, result: market },
    ],
    mirrors: [onChainC(flagged(market))],
  },
  {
    path: '/token/chain-b-discovery',
    price: '0.01',
    fields: {
      action: required(choice(['hot_tokens', 'top_movers'])),
      keyword: text('okb'),
      limit: number({ min: 1, example: 5, default: 20 }),
    },
    rules: { accepts: [{ action: 'search', keyword: 'okb' }], refuses: [{ action: 'smart_money' }] },
    result: discoveryOfB,
    more: [
      ...actions('chain-b', ['top_movers']),
      { request: { action: 'search', keyword: 'b' }, result: onChain('chain-b', 'search') },
    ],
    mirrors: [onChainC(flagged(discoveryOfB))],
  },
  {
    path: '/token/chain-b-market',
    price: '0.01',
    fields: {
      action: required(choice(['token_overview', 'holder_analysis', 'candlesticks', 'whale_trades'])),
      tokenAddress: required(text(CHAIN_B_TOKEN)),
      bar: text('4H'),
    },
    rules: { refuses: [{ action: 'token_risk' }] },
    result: marketOfB,
    more: actions('chain-b', ['holder_analysis', 'candlesticks', 'whale_trades']),
    mirrors: [onChainC(flagged(marketOfB))],
  },
  {
    path: '/stock/arb',
    method: 'GET',
    price: '0.01',
    fields: {
      sort: choice(['abs', 'premium', 'discount']),
      min_liquidity_usd: { required: false, accepts: ['100000'], refuses: ['much'] },
    },
    result: scanner,
    more: [{ request: { sort: 'discount', min_liquidity_usd: '1000' }, result: scanner }],
    mirrors: [onChainC()],
  },
  stock('/stock/research', '0.05', stockResearch),
  stock('/stock/signal', '0.02', stockSignal),
  {
    path: '/token/news',
    price: '0.5',
    fields: { token: required(textBut(['BONK', MINT, 'Bonk'], [])) },
    result: tokenNews,
    mirrors: [onChainC()],
  },
  {
    path: '/token/signal',
    price: '0.02',
    fields: { ticker: required(text('BONK')) },
    result: tokenSignal,
    mirrors: [onChainC(wrapped(tokenSignal))],
  },
  {
    path: '/token/starter-kit',
    price: '0.2',
    fields: { prompt: required(text('a token for lighthouse keepers')), ca_reference: text(MINT) },
    result: starterKit,
    mirrors: [onChainC()],
  },
];
