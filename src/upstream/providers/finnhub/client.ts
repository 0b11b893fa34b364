/**
 * Figures of US stocks from Finnhub. Price targets and social sentiment need a paid plan there.
 * Source: github Finnhub-Stock-API/finnhub-go, api/openapi.yaml, and finnhub.io/docs/api.
 */
import type { Binding, CallContext } from '../../adapter.ts';
import { UpstreamProblem } from '../../problem.ts';

/** Operation -> path. */
export const operations = {
  quote: '/quote',
  profile: '/stock/profile2',
  metrics: '/stock/metric',
  recommendations: '/stock/recommendation',
  'price-target': '/stock/price-target',
  peers: '/stock/peers',
  news: '/company-news',
  earnings: '/calendar/earnings',
  'market-status': '/stock/market-status',
  'social-sentiment': '/stock/social-sentiment',
} as const;

export type FinnhubOperation = keyof typeof operations;

export type FinnhubBinding = Pick<Binding, 'upstream' | 'http'>;
export type FinnhubContext = Pick<CallContext, 'signal'>;

/**
 * One operation as Finnhub answers it. What it does not know is empty: `{}`, `[]`, zeros. Throws UpstreamProblem:
 * `not-found` for the quote of a stock that is not of the US.
 */
export async function askFinnhub(
  operation: FinnhubOperation,
  query: Readonly<Record<string, string>>,
  { upstream, http }: FinnhubBinding,
  { signal }: FinnhubContext,
): Promise<unknown> {
  const { symbol = '' } = query;
  // Every plan has the quotes of US stocks: a refusal speaks of the symbol, where that may name an exchange.
  const accept = operation === 'quote' && /\.[A-Z]+$/i.test(symbol) ? [403] : [];
  const response = await http.request({ method: 'GET', path: operations[operation], query, signal, accept });
  if (response.status === 403) throw foreign(symbol, upstream, response.body.toString('utf8', 0, 300));
  const answer = response.json();
  if (typeof answer === 'object' && answer !== null) return answer;
  throw new UpstreamProblem('malformed', upstream, `${operation} answered neither a list nor a record`);
}

/**
 * Plans for the US refuse stocks of other countries as if the key were at fault: github finnhubio/Finnhub-API (#405), the
 * provider's own word.
 */
function foreign(symbol: string, upstream: string, providerMessage: string): UpstreamProblem {
  const isOfPlan = /access to this resource/i.test(providerMessage);
  return new UpstreamProblem(isOfPlan ? 'not-found' : 'unavailable', upstream, 'quote answered 403', {
    status: 403,
    ...(isOfPlan && { publicMessage: `There is no US stock ${symbol}` }),
    providerMessage,
  });
}
