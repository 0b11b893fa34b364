/** What Finnhub knows of one company, in this service's shapes. Each throws UpstreamProblem. */
import { UpstreamProblem } from '../../problem.ts';
import { askFinnhub, type FinnhubBinding, type FinnhubContext } from './adapter.ts';

export interface Quote {
  /** Dollars. */
  price: number;
  previousClose: number | null;
  /** Percent since the previous close. */
  changePercent: number | null;
}

/** The latest price, or undefined for a ticker that Finnhub does not know, whose price it gives as zero. */
export async function quoteOf(
  symbol: string,
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Quote | undefined> {
  const { c: price, pc, dp } = record(await askFinnhub('quote', { symbol }, binding, context));
  if (typeof price !== 'number')
    throw new UpstreamProblem('malformed', binding.upstream, 'answered a quote without a price');
  if (price <= 0) return undefined;
  return { price, previousClose: number(pc), changePercent: number(dp) };
}

export interface Profile {
  name: string | null;
  exchange: string | null;
  industry: string | null;
  currency: string | null;
  /** In units of `currency`. */
  marketCap: number | null;
  website: string | null;
}

/** Undefined: not a company that Finnhub knows; funds have no profile. */
export async function profileOf(
  symbol: string,
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Profile | undefined> {
  const profile = record(await askFinnhub('profile', { symbol }, binding, context));
  if (Object.keys(profile).length === 0) return undefined;
  const millions = number(profile.marketCapitalization);
  return {
    name: text(profile.name),
    exchange: text(profile.exchange),
    industry: text(profile.finnhubIndustry),
    currency: text(profile.currency),
    marketCap: millions === null ? null : Math.round(millions * 1e6),
    website: text(profile.weburl),
  };
}

export interface Metrics {
  peRatio: number | null;
  forwardPe: number | null;
  /** Percent. */
  dividendYield: number | null;
  yearLow: number | null;
  yearHigh: number | null;
}

export async function metricsOf(
  symbol: string,
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Metrics | undefined> {
  const metric = record(record(await askFinnhub('metrics', { symbol, metric: 'all' }, binding, context)).metric);
  if (Object.keys(metric).length === 0) return undefined;
  return {
    peRatio: number(metric.peTTM) ?? number(metric.peBasicExclExtraTTM),
    forwardPe: number(metric.forwardPE) ?? number(metric.peForward),
    dividendYield: number(metric.dividendYieldIndicatedAnnual),
    yearLow: number(metric['52WeekLow']),
    yearHigh: number(metric['52WeekHigh']),
  };
}

export interface Article {
  headline: string;
  summary: string;
  source: string | null;
  url: string | null;
  /** Milliseconds since the epoch. */
  time: number;
}

/** News on a company, the latest first. `from` and `to` are dates such as 2026-01-31. */
export async function newsOf(
  query: { symbol: string; from: string; to: string },
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Article[]> {
  const articles = list(await askFinnhub('news', query, binding, context)).flatMap((article) => {
    const [headline, seconds] = [text(article.headline), number(article.datetime)];
    if (headline === null || seconds === null) return [];
    return [
      {
        headline,
        summary: text(article.summary) ?? '',
        source: text(article.source),
        url: text(article.url),
        time: seconds * 1000,
      },
    ];
  });
  return articles.sort((one, other) => other.time - one.time);
}

export interface EarningsDate {
  /** 2026-01-31 */
  date: string;
  /** Dollars a share. */
  epsEstimate: number | null;
  epsActual: number | null;
}

/** Earnings dates between two dates, in order. */
export async function earningsOf(
  query: { symbol: string; from: string; to: string },
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<EarningsDate[]> {
  const { earningsCalendar } = record(await askFinnhub('earnings', query, binding, context));
  const dates = list(earningsCalendar).flatMap((row) => {
    const date = text(row.date);
    return date === null ? [] : [{ date, epsEstimate: number(row.epsEstimate), epsActual: number(row.epsActual) }];
  });
  return dates.sort((one, other) => (one.date < other.date ? -1 : 1));
}

export interface Recommendations {
  /** The month that the counts are of: 2026-01-01. */
  period: string | null;
  strongBuy: number;
  buy: number;
  hold: number;
  sell: number;
  strongSell: number;
}

/** How many analysts say what, of the latest month. */
export async function recommendationsOf(
  symbol: string,
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Recommendations | undefined> {
  const months = list(await askFinnhub('recommendations', { symbol }, binding, context));
  const [latest] = months.sort((one, other) => (String(one.period) < String(other.period) ? 1 : -1));
  if (latest === undefined) return undefined;
  const count = (field: string): number => number(latest[field]) ?? 0;
  return {
    period: text(latest.period),
    strongBuy: count('strongBuy'),
    buy: count('buy'),
    hold: count('hold'),
    sell: count('sell'),
    strongSell: count('strongSell'),
  };
}

export type PriceTarget = {
  low: number | null;
  mean: number | null;
  median: number | null;
  high: number | null;
};

export async function priceTargetOf(
  symbol: string,
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<PriceTarget | undefined> {
  const target = record(await askFinnhub('price-target', { symbol }, binding, context));
  const found = {
    low: number(target.targetLow),
    mean: number(target.targetMean),
    median: number(target.targetMedian),
    high: number(target.targetHigh),
  };
  // Without analysts every target is zero.
  return found.mean !== null && found.mean > 0 ? found : undefined;
}

/** Tickers of companies in the same line of business, without the one that was asked for. */
export async function peersOf(symbol: string, binding: FinnhubBinding, context: FinnhubContext): Promise<string[]> {
  const peers = await askFinnhub('peers', { symbol }, binding, context);
  return (Array.isArray(peers) ? peers : []).filter((peer) => typeof peer === 'string' && peer !== symbol);
}

/** What US exchanges are doing: `pre-market`, `regular`, `post-market` or `closed`. */
export async function marketStatus(binding: FinnhubBinding, context: FinnhubContext): Promise<string> {
  const { isOpen, session } = record(await askFinnhub('market-status', { exchange: 'US' }, binding, context));
  if (typeof isOpen !== 'boolean')
    throw new UpstreamProblem('malformed', binding.upstream, 'did not say whether markets are open');
  return text(session) ?? (isOpen ? 'regular' : 'closed');
}

export interface Mentions {
  positive: number;
  negative: number;
  total: number;
}

/** Mentions on Reddit and X since a date; undefined where there are none. */
export async function mentionsOf(
  query: { symbol: string; from: string },
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Mentions | undefined> {
  const answer = record(await askFinnhub('social-sentiment', query, binding, context));
  const rows = [...list(answer.data), ...list(answer.reddit), ...list(answer.twitter)];
  const sum = (field: string): number => rows.reduce((total, row) => total + (number(row[field]) ?? 0), 0);
  const total = sum('mention');
  return total === 0 ? undefined : { positive: sum('positiveMention'), negative: sum('negativeMention'), total };
}

type Fields = Readonly<Record<string, unknown>>;

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(record) : []);

const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
