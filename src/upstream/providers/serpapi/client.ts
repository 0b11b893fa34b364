/**
 * SerpApi: searches at shops and Google Lens. The key is a query parameter.
 * Source: github serpapi/serpapi-mcp (engines/*.json), serpapi.com/search-errors, serpapi.com/google-lens-api.
 */
import { asJsonObject, isJsonObject, type JsonObject } from '../../../json.ts';
import type { Binding, CallContext } from '../../adapter.ts';
import { cutProviderText, UpstreamProblem } from '../../problem.ts';

export const engines = ['google_shopping', 'amazon', 'ebay', 'google_lens'] as const;
export type Engine = (typeof engines)[number];

export type SerpQuery = Readonly<Record<string, string | number | undefined>>;

export type SerpBinding = Pick<Binding, 'upstream' | 'http'>;

/** A search's answer; which lists it has depends on the engine. */
export type SerpAnswer = JsonObject;

/** A search that finds nothing is a success as well: its `error` only says so. */
const successes: ReadonlySet<unknown> = new Set(['Success', 'Cached']);

/**
 * One search, with the engine's own parameters. Nothing found is an answer without rows. Throws UpstreamProblem:
 * `invalid-input` where the provider does not take a parameter.
 */
export async function serpSearch(
  { upstream, http }: SerpBinding,
  engine: Engine,
  query: SerpQuery,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<SerpAnswer> {
  const response = await http.request({
    method: 'GET',
    path: '/search.json',
    query: { engine, ...query },
    signal,
    accept: [400],
  });
  const answer = response.json();
  if (!isJsonObject(answer)) {
    throw new UpstreamProblem('malformed', upstream, `${engine} answered no search`);
  }
  const { error, search_metadata: metadata } = answer;
  const providerMessage = cutProviderText(error);
  if (response.status === 400) {
    const publicMessage = 'The search provider does not take these values';
    throw new UpstreamProblem('invalid-input', upstream, `${engine} answered 400`, {
      status: 400,
      publicMessage,
      providerMessage,
    });
  }
  if (providerMessage !== '' && !successes.has(asJsonObject(metadata).status)) {
    throw new UpstreamProblem('failed', upstream, `${engine} answered an error`, { providerMessage });
  }
  return answer;
}

/** A list of the answer, empty where the search found none of the kind. */
export function rowsOf(answer: SerpAnswer, list: string): SerpAnswer[] {
  const rows = answer[list];
  return Array.isArray(rows) ? rows.filter(isJsonObject) : [];
}
