import { type DoubleKind, jsonAnswer } from './double.ts';
import { type TokenFixture, tokenFixtures } from './market-fixtures.ts';

/** When the fixtures' multipliers took effect: long ago. */
const MULTIPLIER_SINCE = '2025-09-01T04:00:00Z';
const MOST_MINTS = 50;

/**
 * Jupiter's price v3 and tokens v2. Needs no key, as `api.jup.ag` (dev.jup.ag/docs/portal/rate-limits).
 * Read on 2026-11-29 in github jup-ag/docs at 1dda348d, openapi-spec/price/v3 and tokens/v2, where a search has to have
 * words; `stockData` and `scaledUiConfig` are as consumers read them.
 */
export const jupiterDataDouble: DoubleKind = {
  adapter: 'jupiter-data',
  open: () => ({
    isBilled: ({ method }) => method === 'GET',
    answer({ path, query }) {
      if (path === '/price/v3') {
        const mints = (query.get('ids') ?? '').split(',').filter(Boolean);
        if (mints.length === 0 || mints.length > MOST_MINTS) return jsonAnswer(400, { error: 'Invalid ids' });
        const found = tokenFixtures.filter(({ mint }) => mints.includes(mint));
        return jsonAnswer(200, Object.fromEntries(found.map((token) => [token.mint, priceOf(token)])));
      }
      const asked = (query.get('query') ?? '').toLowerCase();
      if (path === '/tokens/v2/search') {
        if (asked === '') return jsonAnswer(400, { error: 'query is required' });
        const found = tokenFixtures.filter(({ mint, symbol, name }) => {
          return mint.toLowerCase() === asked || symbol.toLowerCase() === asked || name.toLowerCase().includes(asked);
        });
        return jsonAnswer(200, found.map(tokenOf));
      }
      if (path === '/tokens/v2/tag') {
        return jsonAnswer(200, tokenFixtures.filter(({ tags }) => tags.includes(asked)).map(tokenOf));
      }
      const ranked = /^\/tokens\/v2\/(?:toporganicscore|toptraded|toptrending)\/(?:5m|1h|6h|24h)$/.exec(path);
      if (ranked === null) return jsonAnswer(404, { error: 'Not found' });
      const byVolume = tokenFixtures.toSorted((one, other) => other.volume - one.volume);
      return jsonAnswer(200, byVolume.slice(0, Number(query.get('limit') ?? 50)).map(tokenOf));
    },
    errorBody: (status) => ({ error: status === 429 ? 'Too many requests' : 'Internal server error' }),
    refuse: () => jsonAnswer(404, { error: 'Not found' }),
  }),
};

function priceOf({ price, liquidity, decimals, changes, stock }: TokenFixture) {
  return {
    createdAt: '2024-06-05T08:55:25.527Z',
    usdPrice: price,
    liquidity,
    decimals,
    blockId: 350_000_000,
    priceChange24h: changes[3],
    ...(stock && {
      stockData: { id: 'xstocks', price: stock.price, mcap: stock.price * 1e9, updatedAt: new Date().toISOString() },
      scaledUiConfig: {
        multiplier: 1,
        newMultiplier: stock.multiplier,
        newMultiplierEffectiveAt: MULTIPLIER_SINCE,
        usdPricePrescaled: price * stock.multiplier,
      },
    }),
  };
}

function tokenOf(token: TokenFixture) {
  const { mint, marketCap, price, changes, holders, symbol } = token;
  const [change5m, change1h, change6h, change24h] = changes;
  return {
    id: mint,
    name: token.name,
    symbol,
    icon: `https://static.jup.ag/${symbol.toLowerCase()}/icon.png`,
    decimals: token.decimals,
    ...(token.twitter && { twitter: token.twitter }),
    ...(token.website && { website: token.website }),
    ...(token.launchpad && { launchpad: token.launchpad }),
    holderCount: holders,
    fdv: marketCap,
    mcap: marketCap,
    usdPrice: price,
    liquidity: token.liquidity,
    stats5m: { priceChange: change5m },
    stats1h: { priceChange: change1h },
    stats6h: { priceChange: change6h },
    stats24h: { priceChange: change24h },
    organicScore: token.tier === 'tier1' ? 98.2 : 61.5,
    isVerified: token.tags.includes('verified'),
    tags: token.tags,
  };
}
