import type { Request, Result } from '../../../generated/endpoints/shop/search.ts';
import { defineRecipe } from '../adapter.ts';
import { summarizePrices } from '../price-summary.ts';
import { openaiChat } from '../providers/openai/chat-adapter.ts';
import { serpapi } from '../providers/serpapi/adapter.ts';
import { leftOut, searchAll, searchable } from './shop/fan-out.ts';
import { readIntent } from './shop/intent.ts';
import { marketplaceNames } from './shop/marketplaces.ts';

export interface ShopOptions {
  /** Longest wait for one marketplace. */
  readonly marketplaceSeconds?: number;
}

export const shopOptions = {
  type: 'object',
  properties: {
    marketplaceSeconds: {
      type: 'integer',
      minimum: 1,
      default: 15,
      description: 'Longest wait for one marketplace, in seconds',
    },
  },
} as const;

/** One search at up to three marketplaces. A model reads what the query asks for; all numbers are the marketplaces'. */
export const shopSearch = defineRecipe({
  name: 'shop-search',
  options: shopOptions,
  leavesOut: { marketplaces: { condition: leftOut } },
  reads: {
    query: 'string',
    marketplaces: 'string[]?',
    price_min: 'number?',
    price_max: 'number?',
    condition: 'string?',
    sort: 'string?',
    country: 'string',
    limit: 'number',
  },
  roles: { shops: [serpapi], words: [openaiChat] },
  async call(input: Request, { shops, words }, context, { marketplaceSeconds = 15 }: ShopOptions): Promise<Result> {
    // Both are part of the request, and of its price: what the model reads out of the query changes neither.
    const asked = marketplaceNames.filter((name) => input.marketplaces?.includes(name) ?? true);
    const names = searchable(asked, input.condition, shops.upstream);
    const intent = await readIntent(words, input, context);
    const query = {
      keywords: intent.keywords,
      priceMin: intent.price_min ?? undefined,
      priceMax: intent.price_max ?? undefined,
      condition: intent.condition ?? undefined,
      sort: intent.sort,
      country: input.country.toLowerCase(),
    };
    const { products, sources } = await searchAll(shops, names, query, context, marketplaceSeconds * 1000);
    const results = products.slice(0, input.limit);
    return { results, price_summary: summarizePrices(results), intent: { ...intent, marketplaces: names }, sources };
  },
});
