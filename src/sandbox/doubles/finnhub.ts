/**
 * Finnhub for some US stocks. What it does not know it answers with zeros and empty records.
 * Read on 2026-11-22 in the provider's OpenAPI document, github Finnhub-Stock-API/finnhub-go at 8071bcd (api/openapi.yaml),
 * which leaves open what `metric` holds, what an unknown symbol gets and what errors look like: these are as consumers
 * read them. What plans for the US get of other countries' stocks: the provider's own word in github
 * finnhubio/Finnhub-API (#405), read on 2026-11-29.
 */
import { seeded } from '../../examples/seed.ts';
import { type Double, type DoubleKind, hasHeaderKey, jsonAnswer } from './double.ts';

export const finnhubDouble: DoubleKind = { adapter: 'finnhub', open };

interface Company {
  name: string;
  industry: string;
  price: number;
  /** Millions of dollars; funds have none. */
  marketCap?: number;
  peRatio?: number;
  peers: readonly string[];
}

const companies: Readonly<Record<string, Company>> = {
  AAPL: {
    name: 'Apple Inc',
    industry: 'Technology',
    price: 233.35,
    marketCap: 3_480_000,
    peRatio: 35.4,
    peers: ['MSFT', 'GOOGL', 'DELL'],
  },
  TSLA: {
    name: 'Tesla Inc',
    industry: 'Automobiles',
    price: 349.6,
    marketCap: 1_120_000,
    peRatio: 191.2,
    peers: ['F', 'GM', 'RIVN'],
  },
  NVDA: {
    name: 'NVIDIA Corp',
    industry: 'Semiconductors',
    price: 181.94,
    marketCap: 4_430_000,
    peRatio: 52.1,
    peers: ['AMD', 'INTC', 'AVGO'],
  },
  META: {
    name: 'Meta Platforms Inc',
    industry: 'Media',
    price: 688.2,
    marketCap: 1_740_000,
    peRatio: 27.3,
    peers: ['GOOGL', 'SNAP', 'PINS'],
  },
  GOOGL: {
    name: 'Alphabet Inc',
    industry: 'Media',
    price: 201.4,
    marketCap: 2_440_000,
    peRatio: 21.6,
    peers: ['META', 'MSFT'],
  },
  MSFT: {
    name: 'Microsoft Corp',
    industry: 'Technology',
    price: 508.5,
    marketCap: 3_780_000,
    peRatio: 37.2,
    peers: ['AAPL', 'ORCL'],
  },
  AMZN: {
    name: 'Amazon.com Inc',
    industry: 'Retail',
    price: 228.8,
    marketCap: 2_430_000,
    peRatio: 34.8,
    peers: ['WMT', 'COST'],
  },
  CRCL: {
    name: 'Circle Internet Group Inc',
    industry: 'Financial Services',
    price: 141.2,
    marketCap: 32_600,
    peers: ['COIN'],
  },
  NFLX: {
    name: 'Netflix Inc',
    industry: 'Media',
    price: 1208.1,
    marketCap: 513_000,
    peRatio: 51.4,
    peers: ['DIS', 'WBD'],
  },
  COIN: {
    name: 'Coinbase Global Inc',
    industry: 'Financial Services',
    price: 268.7,
    marketCap: 72_400,
    peRatio: 27.9,
    peers: ['HOOD', 'CRCL'],
  },
  IBM: {
    name: 'International Business Machines Corp',
    industry: 'Technology',
    price: 289.5,
    marketCap: 270_600,
    peRatio: 34.3,
    peers: ['ORCL', 'ACN'],
  },
  DIS: {
    name: 'Walt Disney Co',
    industry: 'Media',
    price: 113.1,
    marketCap: 203_300,
    peRatio: 17.8,
    peers: ['NFLX', 'WBD'],
  },
  JPM: {
    name: 'JPMorgan Chase & Co',
    industry: 'Banking',
    price: 307.6,
    marketCap: 837_900,
    peRatio: 15.2,
    peers: ['BAC', 'WFC'],
  },
  KO: {
    name: 'Coca-Cola Co',
    industry: 'Beverages',
    price: 71.4,
    marketCap: 307_300,
    peRatio: 23.6,
    peers: ['PEP', 'KDP'],
  },
  SPY: { name: 'SPDR S&P 500 ETF Trust', industry: '', price: 643.4, peers: [] },
  QQQ: { name: 'Invesco QQQ Trust', industry: '', price: 577.1, peers: [] },
};

const DAY_MS = 24 * 60 * 60_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);
/** The first day of this month, or of one before it. */
const monthOf = (ago: number): string => {
  const now = new Date();
  return dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
};
/** The sandbox keeps its own quarter: results 40 days ago, the next in 50. */
const quarter = [-40, 50] as const;

type View = (symbol: string, company: Company, query: URLSearchParams) => unknown;

const views: Readonly<Record<string, { known: View; unknown: unknown }>> = {
  '/quote': {
    known(symbol, { price }) {
      const change = Math.round((seeded(`quote ${symbol}`).number() * 4 - 2) * 100) / 100;
      const previous = Math.round((price / (1 + change / 100)) * 100) / 100;
      const [high, low] = [Math.max(price, previous) + 1, Math.min(price, previous) - 1];
      return {
        c: price,
        d: Math.round((price - previous) * 100) / 100,
        dp: change,
        h: high,
        l: low,
        o: previous,
        pc: previous,
        t: Math.floor(Date.now() / 1000),
      };
    },
    unknown: { c: 0, d: null, dp: null, h: 0, l: 0, o: 0, pc: 0, t: 0 },
  },
  '/stock/profile2': {
    known: (symbol, { name, industry, marketCap, price }) =>
      marketCap === undefined
        ? {}
        : {
            ticker: symbol,
            name,
            exchange: 'NASDAQ NMS - GLOBAL MARKET',
            finnhubIndustry: industry,
            currency: 'USD',
            country: 'US',
            ipo: '1990-01-02',
            logo: '',
            phone: '',
            marketCapitalization: marketCap,
            shareOutstanding: Math.round(marketCap / price),
            weburl: `https://www.${symbol.toLowerCase()}.example`,
          },
    unknown: {},
  },
  '/stock/metric': {
    known: (symbol, { price, peRatio = null, marketCap = null }) => ({
      symbol,
      metricType: 'all',
      metric: {
        peTTM: peRatio,
        forwardPE: peRatio === null ? null : Math.round(peRatio * 0.85 * 10) / 10,
        dividendYieldIndicatedAnnual: symbol === 'TSLA' ? null : 0.44,
        '52WeekLow': Math.round(price * 70) / 100,
        '52WeekHigh': Math.round(price * 112) / 100,
        marketCapitalization: marketCap,
      },
      series: {},
    }),
    unknown: { metric: {}, metricType: 'all', series: {}, symbol: '' },
  },
  '/stock/recommendation': {
    known(symbol) {
      const random = seeded(`recommendation ${symbol}`);
      const month = (period: string) => ({
        period,
        symbol,
        strongBuy: random.integer(4, 20),
        buy: random.integer(4, 24),
        hold: random.integer(2, 16),
        sell: random.integer(0, 5),
        strongSell: random.integer(0, 2),
      });
      return [month(monthOf(0)), month(monthOf(1))];
    },
    unknown: [],
  },
  '/stock/price-target': {
    known: (symbol, { price }) => ({
      symbol,
      lastUpdated: `${dayOf(Date.now())} 00:00:00`,
      targetLow: Math.round(price * 0.8),
      targetMean: Math.round(price * 1.08),
      targetMedian: Math.round(price * 1.07),
      targetHigh: Math.round(price * 1.3),
      numberAnalysts: 31,
    }),
    unknown: {
      symbol: '',
      lastUpdated: '',
      targetLow: 0,
      targetMean: 0,
      targetMedian: 0,
      targetHigh: 0,
      numberAnalysts: 0,
    },
  },
  '/stock/peers': { known: (symbol, { peers }) => [symbol, ...peers], unknown: [] },
  '/company-news': {
    known(symbol, { name }, query) {
      const latest = Math.min(Date.now(), Date.parse(query.get('to') ?? '') + DAY_MS - 1);
      const heads = ['reports steady demand', 'names a new chief of operations', 'faces questions on margins'];
      return heads.map((head, place) => ({
        category: 'company',
        datetime: Math.floor((latest - place * DAY_MS) / 1000),
        headline: `${name} ${head}`,
        id: place + 1,
        image: '',
        related: symbol,
        source: 'Sandbox Wire',
        summary: `${name} ${head}, people who know the sandbox say.`,
        url: `https://news.example/${symbol.toLowerCase()}/${place + 1}`,
      }));
    },
    unknown: [],
  },
  '/calendar/earnings': {
    known(symbol, { marketCap }, query) {
      const dates = marketCap === undefined ? [] : quarter.map((days) => dayOf(Date.now() + days * DAY_MS));
      const asked = dates.filter((date) => date >= (query.get('from') ?? '') && date <= (query.get('to') ?? '9'));
      return {
        earningsCalendar: asked.map((date) => ({
          date,
          symbol,
          epsActual: date < dayOf(Date.now()) ? 1.64 : null,
          epsEstimate: 1.58,
          revenueActual: date < dayOf(Date.now()) ? 94_100_000_000 : null,
          revenueEstimate: 93_000_000_000,
          hour: 'amc',
          quarter: 4,
          year: 2025,
        })),
      };
    },
    unknown: { earningsCalendar: [] },
  },
  '/stock/social-sentiment': {
    known(symbol) {
      const random = seeded(`mentions ${symbol}`);
      const hour = (place: number) => {
        const [positiveMention, negativeMention] = [random.integer(5, 40), random.integer(2, 30)];
        return {
          atTime: new Date(Date.now() - place * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
          mention: positiveMention + negativeMention + 4,
          positiveMention,
          negativeMention,
          positiveScore: 0.9,
          negativeScore: 0.7,
          score: 0.2,
        };
      };
      return { symbol, data: [hour(1), hour(2), hour(3)] };
    },
    unknown: { symbol: '', data: [] },
  },
};

/** As they are written there: with their exchange behind a dot, where the US write a class of shares. */
const FOREIGN = /\.(?:[A-Z]{2}|L)$/;

const noAccess = () => jsonAnswer(403, { error: "You don't have access to this resource." });

function open(): Double {
  return {
    unauthorized: (request) =>
      hasHeaderKey(request, 'x-finnhub-token') ? undefined : jsonAnswer(401, { error: 'Invalid API key' }),
    isBilled: ({ method }) => method === 'GET',
    answer({ method, path, query }) {
      if (method !== 'GET') return jsonAnswer(405, { error: 'Method not allowed' });
      if (path === '/stock/market-status') return jsonAnswer(200, marketStatus());
      const view = views[path];
      if (view === undefined) return jsonAnswer(404, { error: 'Not found' });
      const symbol = query.get('symbol');
      if (!symbol) return jsonAnswer(422, { error: 'Missing parameters' });
      if (FOREIGN.test(symbol)) return noAccess();
      const company = companies[symbol];
      return jsonAnswer(200, company === undefined ? view.unknown : view.known(symbol, company, query));
    },
    errorBody: (status) => ({
      error: status === 429 ? 'API limit reached. Please try again later. Remaining Limit: 0' : 'Internal server error',
    }),
    // What plans without an operation get.
    refuse: noAccess,
  };
}

/** The sandbox's exchange never shuts. */
const marketStatus = () => ({
  exchange: 'US',
  holiday: null,
  isOpen: true,
  session: 'regular',
  t: Math.floor(Date.now() / 1000),
  timezone: 'America/New_York',
});
