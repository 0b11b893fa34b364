/** The list of prediction markets, page by page. */
import type { Input } from '../../../catalogue/types.ts';
import type { Adapter } from '../../adapter.ts';
import { activeMarkets, type LimitlessBinding, type LimitlessContext } from './client.ts';

type LimitlessOptions = { readonly operation: 'market-list' };

export const limitless: Adapter<LimitlessOptions> = {
  name: 'limitless',
  secrets: [],
  options: {
    type: 'object',
    required: ['operation'],
    properties: { operation: { enum: ['market-list'] } },
  },
  async call(input, binding, context) {
    switch (binding.options.operation) {
      case 'market-list':
        return await marketList(input, binding, context);
    }
  },
};

async function marketList(input: Input, binding: LimitlessBinding, context: LimitlessContext) {
  const [page, limit] = [Number(input.page), Number(input.limit)];
  const categoryId = typeof input.category_id === 'number' ? input.category_id : undefined;
  const { markets, total } = await activeMarkets(binding, { page, limit, categoryId }, context);
  return { markets, page, limit, next_page: page * limit < total ? page + 1 : null };
}
