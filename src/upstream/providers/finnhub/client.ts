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

/** One operation as Finnhub answers it. What it does not know is empty: `{}`, `[]`, zeros. Throws UpstreamProblem. */
export async function askFinnhub(
  operation: FinnhubOperation,
  query: Readonly<Record<string, string>>,
  { upstream, http }: FinnhubBinding,
  { signal }: FinnhubContext,
): Promise<unknown> {
  const answer = (await http.request({ method: 'GET', path: operations[operation], query, signal })).json();
  if (typeof answer === 'object' && answer !== null) return answer;
  throw new UpstreamProblem('malformed', upstream, `${operation} answered neither a list nor a record`);
}
