/** What a stock's answer is made of before a model puts it into words: every number comes from here. */
import type { CallContext } from '../adapter.ts';
import type { OptionalParts } from '../optionally.ts';
import { UpstreamProblem } from '../problem.ts';
import type { FinnhubBinding } from '../providers/finnhub/client.ts';
import {
  type Article,
  type EarningsDate,
  earningsOf,
  type Metrics,
  metricsOf,
  newsOf,
  type PriceTarget,
  type Profile,
  peersOf,
  priceTargetOf,
  profileOf,
  type Quote,
  quoteOf,
  type Recommendations,
  recommendationsOf,
} from '../providers/finnhub/company.ts';

const DAY_MS = 24 * 60 * 60_000;
const NEWS_DAYS = 14;
const MOST_NEWS = 8;
const EARNINGS_DAYS = 120;

/** The latest price. Throws UpstreamProblem `not-found` for an unknown ticker. */
export async function priceOf(ticker: string, figures: FinnhubBinding, context: CallContext): Promise<Quote> {
  const quote = await quoteOf(ticker, figures, context);
  if (quote) return quote;
  throw new UpstreamProblem('not-found', figures.upstream, `knows no ticker ${ticker}`, {
    publicMessage: `There is no US stock ${ticker}`,
  });
}

/** Undefined: the source failed or, below it, knows nothing of it. */
export interface StockFigures {
  quote: Quote;
  profile: Profile | undefined;
  metrics: Metrics | undefined;
  earnings: { next: EarningsDate | null; last: EarningsDate | null } | undefined;
  news: Article[] | undefined;
  recommendations: Recommendations | undefined;
  priceTarget: PriceTarget | undefined;
  peers: string[] | undefined;
}

/** `parts` learns by the report's sections which of them lack something. Throws UpstreamProblem where there is no price. */
export async function stockFigures(
  ticker: string,
  figures: FinnhubBinding,
  context: CallContext,
  parts: OptionalParts,
): Promise<StockFigures> {
  const quote = await priceOf(ticker, figures, context);
  const [profile, metrics, earnings, news, recommendations, priceTarget, peers] = await Promise.all([
    parts.take('fundamentals', profileOf(ticker, figures, context)),
    parts.take('fundamentals', metricsOf(ticker, figures, context)),
    parts.take('fundamentals', earningsAround(ticker, figures, context)),
    parts.take('recent_news', recentNews(ticker, figures, context)),
    parts.take('analyst_consensus', recommendationsOf(ticker, figures, context)),
    parts.take('analyst_consensus', priceTargetOf(ticker, figures, context)),
    parts.take('competitors', peersOf(ticker, figures, context)),
  ]);
  return { quote, profile, metrics, earnings, news, recommendations, priceTarget, peers };
}

/** As 2026-01-31. */
export const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10);

/** The last two weeks' news, the latest first, at most eight. */
export async function recentNews(symbol: string, figures: FinnhubBinding, context: CallContext): Promise<Article[]> {
  const now = context.now();
  const query = { symbol, from: dayOf(now - NEWS_DAYS * DAY_MS), to: dayOf(now) };
  return (await newsOf(query, figures, context)).slice(0, MOST_NEWS);
}

/** The earnings dates before and after today; today's are the next as long as their figures are not out. */
export async function earningsAround(symbol: string, figures: FinnhubBinding, context: CallContext) {
  const now = context.now();
  const query = { symbol, from: dayOf(now - EARNINGS_DAYS * DAY_MS), to: dayOf(now + EARNINGS_DAYS * DAY_MS) };
  const dates = await earningsOf(query, figures, context);
  const today = dayOf(now);
  const isAhead = ({ date, epsActual }: EarningsDate): boolean =>
    date > today || (date === today && epsActual === null);
  return { next: dates.find(isAhead) ?? null, last: dates.findLast((date) => !isAhead(date)) ?? null };
}

type ConsensusLabel = 'strong buy' | 'buy' | 'hold' | 'sell' | 'strong sell';

/** The mean of all opinions, from 2 (strong buy) to -2 (strong sell), as a word; null without opinions. */
export function consensusLabel({ strongBuy, buy, hold, sell, strongSell }: Recommendations): ConsensusLabel | null {
  const count = strongBuy + buy + hold + sell + strongSell;
  if (count === 0) return null;
  const mean = (2 * strongBuy + buy - sell - 2 * strongSell) / count;
  if (mean >= 1) return 'strong buy';
  if (mean >= 0.3) return 'buy';
  if (mean > -0.3) return 'hold';
  return mean > -1 ? 'sell' : 'strong sell';
}
