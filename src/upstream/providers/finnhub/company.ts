/** What Finnhub knows of one company, in this service's shapes. Each throws UpstreamProblem. */
import { asJsonObject, asJsonObjects, numberOrNull, secondsOrNull, textOrNull } from '../../../json.ts';
import { UpstreamProblem } from '../../problem.ts';
import { askFinnhub, type FinnhubBinding, type FinnhubContext } from './client.ts';

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
  const { c: price, pc, dp } = asJsonObject(await askFinnhub('quote', { symbol }, binding, context));
  if (typeof price !== 'number')
    throw new UpstreamProblem('malformed', binding.upstream, 'answered a quote without a price');
  if (price <= 0) return undefined;
  return { price, previousClose: numberOrNull(pc), changePercent: numberOrNull(dp) };
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
  const profile = asJsonObject(await askFinnhub('profile', { symbol }, binding, context));
  if (Object.keys(profile).length === 0) return undefined;
  const millions = numberOrNull(profile.marketCapitalization);
  return {
    name: textOrNull(profile.name),
    exchange: textOrNull(profile.exchange),
    industry: textOrNull(profile.finnhubIndustry),
    currency: textOrNull(profile.currency),
    marketCap: millions === null ? null : Math.round(millions * 1e6),
    website: textOrNull(profile.weburl),
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
  const metric = asJsonObject(
    asJsonObject(await askFinnhub('metrics', { symbol, metric: 'all' }, binding, context)).metric,
  );
  if (Object.keys(metric).length === 0) return undefined;
  return {
    peRatio: numberOrNull(metric.peTTM) ?? numberOrNull(metric.peBasicExclExtraTTM),
    forwardPe: numberOrNull(metric.forwardPE) ?? numberOrNull(metric.peForward),
    dividendYield: numberOrNull(metric.dividendYieldIndicatedAnnual),
    yearLow: numberOrNull(metric['52WeekLow']),
    yearHigh: numberOrNull(metric['52WeekHigh']),
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
  const articles = asJsonObjects(await askFinnhub('news', query, binding, context)).flatMap((article) => {
    const [headline, seconds] = [textOrNull(article.headline), secondsOrNull(article.datetime)];
    if (headline === null || seconds === null) return [];
    return [
      {
        headline,
        summary: textOrNull(article.summary) ?? '',
        source: textOrNull(article.source),
        url: textOrNull(article.url),
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
  const { earningsCalendar } = asJsonObject(await askFinnhub('earnings', query, binding, context));
  const dates = asJsonObjects(earningsCalendar).flatMap((row) => {
    const date = textOrNull(row.date);
    return date === null
      ? []
      : [{ date, epsEstimate: numberOrNull(row.epsEstimate), epsActual: numberOrNull(row.epsActual) }];
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
  const months = asJsonObjects(await askFinnhub('recommendations', { symbol }, binding, context));
  const [latest] = months.sort((one, other) => (String(one.period) < String(other.period) ? 1 : -1));
  if (latest === undefined) return undefined;
  const count = (field: string): number => numberOrNull(latest[field]) ?? 0;
  return {
    period: textOrNull(latest.period),
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
  const target = asJsonObject(await askFinnhub('price-target', { symbol }, binding, context));
  const found = {
    low: numberOrNull(target.targetLow),
    mean: numberOrNull(target.targetMean),
    median: numberOrNull(target.targetMedian),
    high: numberOrNull(target.targetHigh),
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
  const { isOpen, session } = asJsonObject(await askFinnhub('market-status', { exchange: 'US' }, binding, context));
  if (typeof isOpen !== 'boolean')
    throw new UpstreamProblem('malformed', binding.upstream, 'did not say whether markets are open');
  return textOrNull(session) ?? (isOpen ? 'regular' : 'closed');
}

interface Mentions {
  positive: number;
  negative: number;
  total: number;
}

/** Mentions on social media since a date; undefined where there are none. */
export async function mentionsOf(
  query: { symbol: string; from: string },
  binding: FinnhubBinding,
  context: FinnhubContext,
): Promise<Mentions | undefined> {
  const rows = asJsonObjects(asJsonObject(await askFinnhub('social-sentiment', query, binding, context)).data);
  const sum = (field: string): number => rows.reduce((total, row) => total + (numberOrNull(row[field]) ?? 0), 0);
  const total = sum('mention');
  return total === 0 ? undefined : { positive: sum('positiveMention'), negative: sum('negativeMention'), total };
}
