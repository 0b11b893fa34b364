/** The list of prediction markets, page by page. */
import type { Input } from '../../../catalogue/types.ts';
import type { Adapter, CallContext } from '../../adapter.ts';
import { optionally } from '../../optionally.ts';
import { activeMarkets, type Category, categoriesOf, type LimitlessBinding } from './client.ts';
import type { Market } from './market.ts';

type LimitlessOptions = { readonly operation: 'market-list' };

export const limitless: Adapter<LimitlessOptions> = {
  name: 'limitless',
  secrets: [],
  options: {
    type: 'object',
    required: ['operation'],
    properties: { operation: { enum: ['market-list'], description: 'What the provider is asked for' } },
  },
  reads: () => ({ fields: { page: 'number', limit: 'number', category_id: 'number?' } }),
  answers: () => ['markets', 'page', 'limit', 'next_page', 'categories'],
  async call(input, binding, context) {
    switch (binding.options.operation) {
      case 'market-list':
        return await marketList(input, binding, context);
    }
  },
};

async function marketList(input: Input, binding: LimitlessBinding, context: CallContext) {
  const [page, limit] = [Number(input.page), Number(input.limit)];
  const categoryId = typeof input.category_id === 'number' ? input.category_id : undefined;
  const [{ listings, total }, categories = []] = await Promise.all([
    activeMarkets(binding, { page, limit, categoryId }, context),
    optionally(context, categoriesOf(binding, context)),
  ]);
  const asked = categories.find(({ id }) => id === categoryId);
  const markets = listings.slice(0, limit).flatMap((outcomes) => listed(outcomes, categories, asked));
  return { markets, page, limit, next_page: page * limit < total ? page + 1 : null, categories };
}

/** One row for a listing: the outcome that is likeliest where there are several, and all of them beside it. */
function listed(outcomes: readonly Market[], categories: readonly Category[], asked: Category | undefined) {
  const [likeliest] = outcomes.toSorted((one, other) => (other.yes_price ?? 0) - (one.yes_price ?? 0));
  if (likeliest === undefined) return [];
  const named = (market: Market) => {
    const own = categories.find(({ name }) => name === market.category) ?? asked;
    return { ...market, category: market.category ?? own?.name ?? null, category_id: own?.id ?? null };
  };
  return [{ ...named(likeliest), ...(outcomes.length > 1 && { outcomes: outcomes.map(named) }) }];
}
