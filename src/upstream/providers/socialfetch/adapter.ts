/** Products of TikTok Shop: a search, and one product in detail. */
import type { RequestReads } from '../../../catalogue/contracts.ts';
import type { Input } from '../../../catalogue/types.ts';
import { asJsonObject, type JsonObject } from '../../../json.ts';
import type { Adapter, CallContext } from '../../adapter.ts';
import { type OptionalParts, openOptionalParts } from '../../optionally.ts';
import { summarizePrices } from '../../price-summary.ts';
import { UpstreamProblem } from '../../problem.ts';
import { lookUpWhole, type SocialBinding } from './client.ts';
import {
  type StorefrontDetail,
  type StorefrontProduct,
  storefrontDetail,
  storefrontProduct,
  storefrontReviews,
} from './products.ts';

type SocialfetchOptions = { readonly operation: 'tiktok-search' | 'tiktok-product' };

const fieldsRead: Readonly<Record<SocialfetchOptions['operation'], RequestReads['fields']>> = {
  'tiktok-search': { query: 'string', region: 'string', page: 'number', raw: 'boolean?' },
  'tiktok-product': { url: 'string', region: 'string', raw: 'boolean?' },
};

const answers: Readonly<Record<SocialfetchOptions['operation'], readonly string[]>> = {
  'tiktok-search': ['results', 'total_results', 'total_available', 'has_more', 'price_summary', 'cached'],
  'tiktok-product': ['product', 'found', 'cached'],
};

const STOREFRONT_AGE_MS = 5 * 60_000;
/** How long a product waits for its reviews. */
const REVIEWS_WAIT_MS = 15_000;

export const socialfetch: Adapter<SocialfetchOptions> = {
  name: 'socialfetch',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['operation'],
    properties: {
      operation: { enum: ['tiktok-search', 'tiktok-product'], description: 'What the provider is asked for' },
    },
  },
  answers: ({ operation }) => answers[operation as SocialfetchOptions['operation']],
  reads: ({ operation }) => ({ fields: fieldsRead[operation as SocialfetchOptions['operation']] }),
  authorize: (_request, { key }) => ({ headers: { 'x-api-key': `${key}` } }),
  async call(input, binding, context) {
    switch (binding.options.operation) {
      case 'tiktok-search':
        return await searchStorefront(input, binding, context);
      case 'tiktok-product':
        return await findProduct(input, binding, context);
    }
  },
};

async function searchStorefront(input: Input, binding: SocialBinding, context: CallContext) {
  const { query, region, page, raw } = input;
  const asked = { query: String(query), region: String(region), page: Number(page) };
  const { value: answer, cached } = await context.cache.through(
    `tiktok-search whole ${binding.upstream} ${JSON.stringify(asked)}`,
    STOREFRONT_AGE_MS,
    () => lookUpWhole(binding, '/v1/tiktok/shop/products/search', asked, context),
    context.signal,
  );
  const { data } = answer;
  if (!Array.isArray(data.products)) {
    throw new UpstreamProblem('malformed', binding.upstream, 'answered no list of products');
  }
  const results = data.products.flatMap((product): StorefrontProduct | [] => storefrontProduct(product) ?? []);
  if (results.length > 0 && results.every(({ price }) => price.amount === null)) {
    throw new UpstreamProblem('malformed', binding.upstream, 'listed products without a single price');
  }
  const { hasMore } = asJsonObject(data.page);
  const { total, totalCount } = data;
  return {
    results,
    total_results: results.length,
    total_available: [total, totalCount].find((count) => typeof count === 'number') ?? null,
    has_more: hasMore === true,
    price_summary: summarizePrices(results.map(({ price }) => ({ price: price.amount, currency: price.currency }))),
    cached,
    ...(raw === true && { raw: answer.payload }),
  };
}

async function findProduct(input: Input, binding: SocialBinding, context: CallContext) {
  const asked = { url: String(input.url), region: String(input.region) };
  const parts = openOptionalParts(context);
  const { value: answer, cached } = await context.cache.through(
    `tiktok-product whole ${binding.upstream} ${JSON.stringify(asked)}`,
    STOREFRONT_AGE_MS,
    () => lookUpProduct(asked, binding, context, parts),
    context.signal,
    () => !parts.mayComeBack(),
  );
  const { data, reviews } = answer;
  const product = productIn(data, asked.url);
  if (isFound(data) && product === undefined) {
    throw new UpstreamProblem('malformed', binding.upstream, 'found a product without a title');
  }
  return {
    product: product ? { ...product, ...(reviews !== undefined && { reviews: storefrontReviews(reviews) }) } : null,
    found: isFound(data),
    cached,
    ...(input.raw === true && { raw: answer.payload }),
  };
}

/** Whatever keeps the provider from the listing (gone, private, not for this region) is said here. */
const isFound = ({ lookupStatus }: JsonObject): boolean => lookupStatus === undefined || lookupStatus === 'found';

const productIn = (data: JsonObject, url: string): StorefrontDetail | undefined =>
  isFound(data) ? storefrontDetail(data, url) : undefined;

/** A product's answer, and where it holds no reviews the first page of them, which the provider tells by another route. */
async function lookUpProduct(
  asked: { readonly url: string; readonly region: string },
  binding: SocialBinding,
  context: CallContext,
  parts: OptionalParts,
): Promise<{ data: JsonObject; payload: JsonObject; reviews?: unknown }> {
  const answer = await lookUpWhole(binding, '/v1/tiktok/products', asked, context);
  if (productIn(answer.data, asked.url)?.reviews.length !== 0) return answer;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(REVIEWS_WAIT_MS)]);
  const listed = lookUpWhole(binding, '/v1/tiktok/products/reviews', asked, { signal });
  return { ...answer, reviews: (await parts.take('reviews', listed))?.data.reviews };
}
