/**
 * Social Fetch, API version 1: profiles and posts on X, products of TikTok Shop.
 * Source: socialfetch.dev/docs/api/v1 and the routes of github social-freak-ltd/n8n-nodes-socialfetch.
 */
import type { Input } from '../../../catalogue/types.ts';
import type { Adapter, Binding, CallContext } from '../../adapter.ts';
import { summarizePrices } from '../../price-summary.ts';
import { UpstreamProblem } from '../../problem.ts';
import { type StorefrontDetail, type StorefrontProduct, storefrontDetail, storefrontProduct } from './products.ts';

export type SocialfetchOptions = { readonly operation: 'tiktok-search' | 'tiktok-product' };

export interface XProfile {
  /** Without `@`, spelt as its owner spells it. */
  readonly handle: string;
  readonly displayName: string | null;
  readonly bio: string | null;
  readonly avatarUrl: string | null;
}

export interface XPost {
  readonly text: string;
  readonly url: string | null;
  /** Seconds since the epoch. */
  readonly createdAt: number | null;
}

type SocialBinding = Pick<Binding, 'upstream' | 'http'>;
type Fields = Readonly<Record<string, unknown>>;

const STOREFRONT_AGE_MS = 5 * 60_000;

export const socialfetch: Adapter<SocialfetchOptions> = {
  name: 'socialfetch',
  secrets: ['key'],
  options: {
    type: 'object',
    required: ['operation'],
    properties: { operation: { enum: ['tiktok-search', 'tiktok-product'] } },
  },
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

/** An account and its posts, the newest first; the provider gives about 100 popular ones. Throws UpstreamProblem: `not-found`. */
export async function xAccount(
  binding: SocialBinding,
  handle: string,
  context: Pick<CallContext, 'signal'>,
): Promise<{ profile: XProfile; posts: XPost[] }> {
  const path = `/v1/twitter/profiles/${encodeURIComponent(handle)}`;
  const [{ profile, lookupStatus }, { tweets }] = await Promise.all([
    lookUp(binding, path, {}, context),
    lookUp(binding, `${path}/tweets`, { trim: true }, context),
  ]);
  const missing = (why: string) => {
    const forCaller = `@${handle} ${why}`;
    return new UpstreamProblem('not-found', binding.upstream, forCaller, { forCaller });
  };
  if (lookupStatus === 'private') throw missing('is a private account');
  if (lookupStatus === 'not_found') throw missing('is not an account on X');
  const { handle: spelt, displayName, bio, avatarUrl, privateAccount } = fields(profile);
  if (privateAccount === true) throw missing('is a private account');
  if (typeof spelt !== 'string') {
    throw new UpstreamProblem('malformed', binding.upstream, `${path} answered no profile`);
  }
  const posts = (Array.isArray(tweets) ? tweets : []).flatMap(readPost);
  if (posts.length === 0) throw missing('has no public posts');
  posts.sort((one, other) => (other.createdAt ?? 0) - (one.createdAt ?? 0));
  return {
    profile: { handle: spelt, displayName: text(displayName), bio: text(bio), avatarUrl: text(avatarUrl) },
    posts,
  };
}

function readPost(tweet: unknown): XPost[] {
  const { text: short, fullText, url, createdAt } = fields(tweet);
  const said = text(fullText) ?? text(short);
  if (said === null) return [];
  return [{ text: said, url: text(url), createdAt: typeof createdAt === 'number' ? createdAt : null }];
}

async function searchStorefront(input: Input, binding: SocialBinding, context: CallContext) {
  const { query, region, page, raw } = input;
  const asked = { query: String(query), region: String(region), page: Number(page) };
  const { value: data, cached } = await context.cache.through(
    `tiktok-search ${binding.upstream} ${JSON.stringify(asked)}`,
    STOREFRONT_AGE_MS,
    () => lookUp(binding, '/v1/tiktok/shop/products/search', asked, context),
    context.signal,
  );
  if (!Array.isArray(data.products)) {
    throw new UpstreamProblem('malformed', binding.upstream, 'answered no list of products');
  }
  const results = data.products.flatMap((product): StorefrontProduct | [] => storefrontProduct(product) ?? []);
  if (results.length > 0 && results.every(({ price }) => price.amount === null)) {
    throw new UpstreamProblem('malformed', binding.upstream, 'listed products without a single price');
  }
  const { hasMore } = fields(data.page);
  const { total, totalCount } = data;
  return {
    results,
    total_results: results.length,
    total_available: [total, totalCount].find((count) => typeof count === 'number') ?? null,
    has_more: hasMore === true,
    price_summary: summarizePrices(results.map(({ price }) => ({ price: price.amount, currency: price.currency }))),
    cached,
    ...(raw === true && { raw: data }),
  };
}

async function findProduct(input: Input, binding: SocialBinding, context: CallContext) {
  const asked = { url: String(input.url), region: String(input.region) };
  const { value: data, cached } = await context.cache.through(
    `tiktok-product ${binding.upstream} ${JSON.stringify(asked)}`,
    STOREFRONT_AGE_MS,
    () => lookUp(binding, '/v1/tiktok/products', asked, context),
    context.signal,
  );
  const found = data.lookupStatus !== 'not_found';
  const product: StorefrontDetail | undefined = found ? storefrontDetail(data, asked.url) : undefined;
  if (found && product === undefined) {
    throw new UpstreamProblem('malformed', binding.upstream, 'found a product without a title');
  }
  return { product: product ?? null, found, cached, ...(input.raw === true && { raw: data }) };
}

/** The envelope's data. A thing that does not exist is an answer: its `lookupStatus` is `not_found`. */
async function lookUp(
  { upstream, http }: SocialBinding,
  path: string,
  query: Readonly<Record<string, string | number | boolean>>,
  { signal }: Pick<CallContext, 'signal'>,
): Promise<Fields> {
  const response = await http.request({ method: 'GET', path, query, signal, accept: [400, 404, 422] });
  const { data, error, code } = fields(response.json());
  if (response.status < 400 && typeof data === 'object' && data !== null) return data as Fields;
  const said = text(fields(error).code) ?? text(code) ?? text(error) ?? '';
  // A route that the provider no longer has answers 404 as well, and must not pass for a product that is gone.
  if (response.status === 404 && /not_?found/i.test(said) && !/route|endpoint|path/i.test(said)) {
    return { lookupStatus: 'not_found' };
  }
  if (response.status < 400) throw new UpstreamProblem('malformed', upstream, `${path} answered no data`);
  const message = `${path} answered ${response.status}`;
  if (response.status === 404) throw new UpstreamProblem('failed', upstream, message, { status: 404, said });
  const forCaller = 'The provider does not take these values';
  throw new UpstreamProblem('invalid-input', upstream, message, { status: response.status, forCaller, said });
}

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
