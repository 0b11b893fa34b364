import { type DoubleKind, jsonAnswer } from './double.ts';
import { tokenFixtures, unpricedStock } from './market-fixtures.ts';

const PAGE_SIZE = 2;

/**
 * The registry of xStocks: pages of assets, counted from 0. Small pages, so that readers have to turn them.
 * On 2026-11-22 the provider's own page (docs.xstocks.fi/apis/openapi/assets) was not to be had: fields are those of a
 * schema that a public consumer checks its answers by. How many assets a page has, and what errors look like, is not known.
 */
export const xstocksRegistryDouble: DoubleKind = {
  adapter: 'xstocks-registry',
  open() {
    const listed = tokenFixtures.filter(({ tags }) => tags.includes('xstocks'));
    const stocks = [...listed.filter(({ symbol }) => symbol.endsWith('x')), unpricedStock];
    return {
      isBilled: ({ method, path }) => method === 'GET' && path === '/assets',
      answer({ method, path, query }) {
        if (method !== 'GET' || path !== '/assets') return jsonAnswer(404, { message: 'Not Found', statusCode: 404 });
        const current = Number(query.get('page') ?? 0);
        const nodes = stocks.slice(current * PAGE_SIZE, (current + 1) * PAGE_SIZE).map(({ symbol, name, mint }) => ({
          symbol,
          name,
          isin: 'CH0000000000',
          underlyingSymbol: symbol.slice(0, -1),
          underlyingIsin: 'US0000000000',
          underlying: { symbol: symbol.slice(0, -1), isin: 'US0000000000' },
          logo: `https://xstocks-metadata.backed.fi/logos/tokens/${symbol}.png`,
          isTradingHalted: false,
          trading: { isTradingHalted: false },
          deployments: [
            { network: 'Ethereum', address: '0x0000000000000000000000000000000000000001' },
            { network: 'Solana', address: mint },
          ],
        }));
        const hasNextPage = (current + 1) * PAGE_SIZE < stocks.length;
        return jsonAnswer(200, { nodes, page: { currentPage: current, hasNextPage, pageSize: PAGE_SIZE } });
      },
      errorBody: (status) => ({
        message: status === 429 ? 'Too Many Requests' : 'Internal server error',
        statusCode: status,
      }),
      refuse: () => jsonAnswer(404, { message: 'Not Found', statusCode: 404 }),
    };
  },
};
