import type { Request, Result } from '../../../generated/endpoints/prediction-market/alpha-feed.ts';
import { defineRecipe } from '../adapter.ts';
import { limitless } from '../providers/limitless/adapter.ts';
import { activeMarkets, LARGEST_PAGE } from '../providers/limitless/client.ts';
import type { Market } from '../providers/limitless/market.ts';
import { search } from '../providers/openai/search.ts';
import { responsesSearch } from '../providers/openai/search-adapter.ts';
import { shorten } from './news-draft.ts';
import { bestEdge, type EdgeOptions, edgeOptions, LEAST_EDGE_BPS } from './prediction/edge.ts';
import { rulesOf } from './prediction/rules.ts';

export interface Estimate {
  market_id: string;
  /** Of YES, 0 to 1. */
  probability: number;
  confidence: number;
  thesis_short: string;
}

type Opportunity = Result['opportunities'][number];

const MOST_MARKETS = 25;
const LONGEST_THESIS = 140;
/** Nearly decided: what is left to gain is less than what a price moves by. */
const [LEAST_PRICE, HIGHEST_PRICE] = [0.03, 0.97];

/** Open markets whose price is furthest from what a model that searched the web thinks. The edges are computed. */
export const alphaFeed = defineRecipe({
  name: 'alpha-feed',
  options: edgeOptions,
  reads: { category_id: 'number?', limit: 'number', min_confidence: 'number' },
  roles: { markets: [limitless], search: [responsesSearch] },
  async call(
    input: Request,
    { markets, search: searcher },
    context,
    { leastEdgeBps = LEAST_EDGE_BPS }: EdgeOptions,
  ): Promise<Result> {
    // A search finds most on the markets that are worth most.
    const query = { page: 1, limit: LARGEST_PAGE, categoryId: input.category_id, sortBy: 'high_value' } as const;
    const page = await activeMarkets(markets, query, context);
    const candidates = page.markets.filter(isUndecided).slice(0, MOST_MARKETS);
    if (candidates.length === 0) return { opportunities: [] };
    const { value } = await search<{ estimates: Estimate[] }>(
      searcher,
      {
        name: 'market_estimates',
        schema: estimatesSchema(candidates),
        messages: [
          {
            role: 'system',
            content:
              'Search the web for the latest facts on these prediction markets. Estimate the probability of YES for each ' +
              'that you found something on, without looking at its price; thesis_short says why in one sentence. Leave ' +
              'the others out.',
          },
          { role: 'user', content: candidates.map(describe).join('\n') },
        ],
        tools: [{ type: 'web_search' }],
      },
      context,
    );
    const wanted = { leastEdgeBps, minConfidence: input.min_confidence };
    return { opportunities: opportunities(value.estimates, candidates, wanted).slice(0, input.limit) };
  },
});

/** Largest edge first; of several estimates for a market the first counts. */
export function opportunities(
  estimates: readonly Estimate[],
  markets: readonly Market[],
  { leastEdgeBps, minConfidence }: { leastEdgeBps: number; minConfidence: number },
): Opportunity[] {
  const found = markets.flatMap((market): Opportunity[] => {
    const estimate = estimates.find(({ market_id }) => market_id === market.slug);
    const edge = estimate && bestEdge(estimate.probability, market);
    if (!edge || edge.bps < leastEdgeBps || estimate.confidence < minConfidence) return [];
    return [
      {
        market_id: market.slug,
        title: market.title,
        recommendation: edge.side,
        confidence: estimate.confidence,
        edge_bps: edge.bps,
        thesis_short: shorten(estimate.thesis_short, LONGEST_THESIS),
      },
    ];
  });
  return found.sort((one, other) => other.edge_bps - one.edge_bps);
}

const isUndecided = ({ yes_price: yes, no_price: no }: Market): boolean =>
  yes !== null && no !== null && yes >= LEAST_PRICE && yes <= HIGHEST_PRICE;

const describe = ({ slug, title, deadline, category, ...market }: Market): string =>
  `${slug} | ${title} | ${category ?? ''} | ends ${deadline ?? 'unknown'} | ` +
  (rulesOf(market) ?? '').replaceAll(/\s+/g, ' ').slice(0, 300);

function estimatesSchema(markets: readonly Market[]) {
  const share = { type: 'number', minimum: 0, maximum: 1 };
  const estimate = {
    market_id: { type: 'string', enum: markets.map(({ slug }) => slug) },
    probability: share,
    confidence: share,
    thesis_short: { type: 'string' },
  };
  const items = { type: 'object', additionalProperties: false, required: Object.keys(estimate), properties: estimate };
  return {
    type: 'object',
    additionalProperties: false,
    required: ['estimates'],
    properties: { estimates: { type: 'array', maxItems: MOST_MARKETS, items } },
  };
}
