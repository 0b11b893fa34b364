/** The result records of the specification, section 2.2. */
import {
  between,
  boolean,
  both,
  exactly,
  filled,
  integer,
  list,
  matching,
  maybe,
  named,
  number,
  object,
  oneOf,
  orNull,
  record,
  type Shape,
  someKey,
  string,
  url,
} from './shape.ts';

const imageWith = (metadata: Shape): Shape => record({ image_url: url, image_description: filled, metadata });

export const image = imageWith(record({ model: filled, parameters: object }));
export const imageOfResolution = imageWith(
  record({ model: filled, parameters: object, resolution: oneOf('1k', '2k', '4k') }),
);
export const imageOfFamilyB = imageWith(
  both(record({ model: filled, quality: exactly('medium') }), someKey(/^aspect_?ratio$/i, string)),
);
export const imageOfMirroredModel = imageWith(
  record({ model: filled, aspectRatio: string, reference_images: list(string) }),
);
export const imageOfMirroredFamilyA = imageWith(
  record({ model: filled, resolution: string, aspect_ratio: string, output_format: string, replicate_url: url }),
);

export const creativeDirection = record({
  intent: object,
  research: list(object, { some: true }),
  direction: list(object, { some: true }),
});

const videoFields = { video_url: url, duration: number, model: filled, metadata: object };
export const video = (duration: number): Shape => record({ ...videoFields, duration: exactly(duration) });
export const videoWithThumbnail = (duration: number): Shape =>
  record({ ...videoFields, duration: exactly(duration), thumbnail_url: url });

export const music = record({ music_url: url, duration_seconds: number, metadata: object });
export const speech = record({ audio_url: url, duration_seconds: maybe(number), metadata: object });
export const transcript = record({ text: filled, metadata: record({ model: filled, language: filled }) });

export const tieredText = record({
  text: string,
  model: filled,
  tier: oneOf('small', 'medium', 'large'),
  usage: both(someKey(/input/, integer), someKey(/output/, integer)),
  metadata: object,
});

const usage = record({ prompt_tokens: integer, completion_tokens: integer, total_tokens: integer });
export const usageText = record({ text: string, model: filled, usage });

export const verifiedText = record({
  text: string,
  model: filled,
  verified: exactly(true),
  usage: object,
  proof: both(
    record({ receipt_id: filled, attested: boolean, tee_key: filled, verify_url: url }),
    someKey(/request.*hash/, filled),
    someKey(/response.*hash/, filled),
    someKey(/explorer/, orNull(url)),
  ),
  metadata: object,
});

const percent = orNull(number);
export const launchpad = record({
  summary: filled,
  suggestions: list(record({ idea: filled, reference_ca: filled, reason: filled }), { length: 3 }),
  trending_tokens: list(
    record({
      icon: named,
      name: filled,
      ticker: filled,
      mc: orNull(matching(/^\$[0-9.]+[KMBT]?$/)),
      ca: filled,
      social: record({ twitter: named, website: named }),
      '5mpricechange': percent,
      '1hpricechange': percent,
      '6hpricechange': percent,
      '24hpricechange': percent,
      icon_description: string,
    }),
    { some: true },
  ),
  count: integer,
});

const trendingNews = record({
  title: matching(/^\S+( \S+){0,3}$/),
  tweet_draft: filled,
  banner_url: url,
});
export const socialNews = record({ success: exactly(true), x_username: filled, trending_news: trendingNews });
export const tokenNews = record({
  success: exactly(true),
  mint: filled,
  token: filled,
  ticker: filled,
  trending_news: trendingNews,
});

export const persona = record({
  persona: record({ summary: filled, tone: named, core_topics: named, beliefs: named }),
  style_profile: record({ writing_style: named, voice: named }),
  content_patterns: record({ formats: named, topics: named, posting_behavior: named }),
  avatar: record({ image_type: named, prompt: filled, reference_images: list(string) }),
});

export const starterKit = record({
  token_name: filled,
  token_ticker: matching(/^[A-Z0-9]+$/),
  token_description: filled,
  logo_url: url,
  banner_url: url,
});

const view = both(
  record({
    sentiment: filled,
    sentiment_score: between(-1, 1),
    current_price: number,
    risk_level: filled,
    signals: list(filled, { length: 3 }),
    summary: filled,
    catalyst: filled,
  }),
  someKey(/target/, number),
);
export const tokenSignal = view;

export const onChain = (chain: 'chain-a' | 'chain-b', action: string): Shape =>
  record({ chain: exactly(chain), action: exactly(action), data: named });

export const scanner = record({
  opportunities: list(
    record({
      ticker: filled,
      xstock_symbol: filled,
      solana_mint: filled,
      onchain_price: number,
      underlying_price: number,
      premium_discount_pct: number,
      direction: filled,
      onchain_liquidity_usd: named,
      price_change_24h_pct: named,
      ui_multiplier: number,
      actionable: boolean,
    }),
    { some: true },
  ),
  unpriced: list(named),
  stats: record({ tracked: integer, average_premium_discount_pct: number, actionable_count: integer }),
  fetched_at: filled,
});

const venueA = record({
  xstock_symbol: filled,
  solana_mint: filled,
  onchain_price: number,
  premium_discount_pct: number,
  liquidity: number,
  robinhood_available: boolean,
});
const venueD = record({
  robinhood_symbol: filled,
  chain: exactly('eip155:4663'),
  trading_hours: exactly('24/5'),
  xstock_reference: record({
    xstock_symbol: filled,
    solana_mint: filled,
    onchain_price: number,
    premium_discount_pct: number,
    liquidity: number,
  }),
});

const research = (tokenized: Shape): Shape =>
  record({
    overview: filled,
    current_price: number,
    fundamentals: both(
      record({ market_cap: named, pe_ratio: named, forward_pe: named, next_earnings: named, last_earnings: named }),
      someKey(/dividend_yield/, named),
      someKey(/week_52|52_week/, named),
    ),
    recent_news: list(record({ date: filled, headline: filled, impact: filled })),
    analyst_consensus: named,
    bull_case: filled,
    bear_case: filled,
    key_risks: list(filled),
    competitors: named,
    social_sentiment: both(
      record({ label: filled, summary: filled }),
      someKey(/posts/, list(record({ text: filled, url }), { some: true })),
    ),
    tokenized_notes: filled,
    tokenized,
    verdict: filled,
    sources: list(named),
  });
const signal = (tokenized: Shape): Shape =>
  both(view, record({ market_status: named, next_earnings: named, tokenized }));

export const stockResearch = { venueA: research(venueA), venueD: research(venueD) };
export const stockSignal = { venueA: signal(venueA), venueD: signal(venueD) };

const product = record({
  marketplace: filled,
  title: filled,
  url: named,
  image: named,
  price: named,
  discount: named,
  rating: named,
  reviews_count: named,
  seller: named,
  condition: named,
  shipping: named,
  also_available_at: named,
});
const priceSummary = record({ min: orNull(number), max: orNull(number), median: orNull(number) });
export const commerceSearch = record({
  results: list(product, { some: true }),
  price_summary: priceSummary,
  intent: object,
  sources: list(record({ marketplace: filled, count: integer, took_ms: number }), { some: true }),
});
export const imageSearch = record({
  results: list(product, { some: true }),
  exact_match: named,
  identified: string,
  is_product_image: boolean,
  related_queries: list(string),
  price_summary: priceSummary,
});
export const imageSearchInShops = both(imageSearch, record({ marketplace_comparison: list(object, { some: true }) }));

const storefrontFields = {
  marketplace: filled,
  product_id: filled,
  title: filled,
  url: named,
  image: named,
  price: record({ amount: number, currency: filled }),
  original_price: named,
  discount_pct: named,
  rating: named,
  reviews_count: named,
  sold_count: named,
  seller: named,
  shop_id: named,
  ship_from: named,
  badges: list(string),
};
export const storefrontSearch = record({
  results: list(record(storefrontFields), { some: true }),
  total_results: integer,
  total_available: named,
  price_summary: priceSummary,
  cached: boolean,
});
export const storefrontProduct = record({
  product: record({
    ...storefrontFields,
    description: named,
    category: named,
    images: list(string),
    specifications: named,
    skus: list(record({ price: named, stock: named }), { some: true }),
    seller_detail: record({ rating: named, location: named }),
    reviews: list(record({ text: filled, author: named })),
    in_stock: boolean,
  }),
  found: exactly(true),
  cached: boolean,
});

const chance = between(0, 1);
export const predictionList = (page: number, limit: number): Shape =>
  record({
    markets: list(
      record({
        id: named,
        slug: filled,
        title: filled,
        category: named,
        category_id: named,
        deadline: named,
        yes_price: orNull(chance),
        no_price: orNull(chance),
        volume: named,
        volume_raw: named,
        liquidity: named,
        collateral_token: named,
      }),
      { some: true },
    ),
    page: exactly(page),
    limit: exactly(limit),
    next_page: orNull(number),
  });
export const predictionIntel = record({
  market: record({ title: filled, yes_price: named, no_price: named, volume: named, deadline: named }),
  recommendation: oneOf('YES', 'NO', 'PASS'),
  confidence: chance,
  thesis: filled,
  key_signals: list(record({ source: filled, signal: filled, weight: number }), { most: 5, some: true }),
});
export const alphaFeed = record({
  opportunities: list(
    record({
      market_id: filled,
      title: filled,
      recommendation: oneOf('YES', 'NO', 'PASS'),
      confidence: chance,
      edge_bps: number,
      thesis_short: filled,
    }),
  ),
});
